package seed

import (
	"math"
	"testing"
)

// The known answers of Random123's kat_vectors for philox4x64 with 10 rounds.
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = math.MaxUint64
	for _, tt := range []struct {
		name    string
		counter [4]uint64
		key     [2]uint64
		want    [4]uint64
	}{
		{"zeros", [4]uint64{}, [2]uint64{},
			[4]uint64{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
		{"ones", [4]uint64{ones, ones, ones, ones}, [2]uint64{ones, ones},
			[4]uint64{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
		{"digits of pi",
			[4]uint64{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
			[2]uint64{0x452821e638d01377, 0xbe5466cf34e90c6c},
			[4]uint64{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := philox(tt.counter, tt.key); got != tt.want {
				t.Errorf("got %x, want %x", got, tt.want)
			}
		})
	}
}

// Every part of the key must matter: 2·2·50·3·20 seeds that differ in at least
// one part, all distinct. Chance alone would repeat one with probability
// below 1e-11.
func TestSeedsAreDistinct(t *testing.T) {
	seen := map[uint64]string{}
	for _, root := range []uint64{0, 1} {
		for _, id := range []string{"rlrun/a@1", "rlrun/b@1"} {
			s := NewSource(root, id)
			for run := range 50 {
				for _, p := range []Purpose{Environment, Agent, Bootstrap} {
					for c := range uint64(20) {
						x := s.Seed(run, p, c)
						if other, dup := seen[x]; dup {
							t.Fatalf("seed %x of root %d %s run %d purpose %d counter %d is also %s", x, root, id, run, p, c, other)
						}
						seen[x] = id
					}
				}
			}
		}
	}
}

// The scheme is documented, so its values must never change: records of old
// experiments would no longer be reproducible. The numbers come from a separate
// implementation in Python (hashlib.sha256, struct, integer arithmetic).
func TestSeedIsStable(t *testing.T) {
	const id = "rlrun/bernoulli-bandit@1"
	if got, want := NewSource(1, id).Seed(0, Environment, 0), uint64(0xd521131abcc01044); got != want {
		t.Errorf("root 1, run 0, environment, episode 0: got %x, want %x", got, want)
	}
	if got, want := NewSource(42, id).Seed(7, Agent, 3), uint64(0xe5539078dbdf90d); got != want {
		t.Errorf("root 42, run 7, agent, counter 3: got %x, want %x", got, want)
	}
}

// The numbers are those of SplitMix64, from a separate implementation in Python.
func TestDraw(t *testing.T) {
	for k, want := range []float64{0.3898297483912715, 0.01678829452815611, 1000: 0.8090141612020363} {
		if want > 0 && Draw(7, k) != want {
			t.Errorf("number %d: got %v, want %v", k, Draw(7, k), want)
		}
	}
}
