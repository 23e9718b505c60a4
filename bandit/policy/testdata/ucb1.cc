// UCB1 by a look at all arms: nanoseconds of processor time of a step, for runs of 10,000 steps of
// Bernoulli arms whose means are uniform.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static uint64_t a = 1, b = 2;

static double uniform() { // xorshift128+
  uint64_t x = a, y = b;
  a = y;
  x ^= x << 23;
  b = x ^ y ^ (x >> 17) ^ (y >> 26);
  return ((b + y) >> 11) * 0x1p-53;
}

int main(int, char **argv) {
  const int n = std::atoi(argv[1]), steps = 10000, runs = 100;
  std::vector<double> p(n), mean(n), spread(n), pulls(n);
  clock_t spent = 0;
  long selected = 0;
  for (int r = 0; r < runs; r++) {
    for (int i = 0; i < n; i++) p[i] = uniform(), mean[i] = pulls[i] = 0;
    clock_t start = clock();
    for (int t = 0; t < steps; t++) {
      int k = t;
      if (t >= n) {
        double level = std::sqrt(2 * std::log(double(t))), best = -1;
        for (int i = 0; i < n; i++) {
          double x = mean[i] + level * spread[i];
          if (x > best) best = x, k = i;
        }
      }
      double reward = uniform() < p[k] ? 1 : 0;
      pulls[k]++;
      mean[k] += (reward - mean[k]) / pulls[k];
      spread[k] = 1 / std::sqrt(pulls[k]);
      selected += k;
    }
    spent += clock() - start;
  }
  std::printf("%g %ld\n", 1e9 * double(spent) / CLOCKS_PER_SEC / runs / steps, selected);
}
