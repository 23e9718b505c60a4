"""Writes extreme.json: cases far from the ordinary, in the format of the
reference vectors, worked out by brute force in 40 digits.

    python3 extreme.py > extreme.json      (mpmath 1.3; about two minutes)
"""
import json
import random
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 40
rng = random.Random(20261120)
inf = mp.inf


def incomplete_beta(a, b, x, y):
    """I_x(a, b) and its complement, y = 1-x, by the continued fraction."""
    if x * (a + b + 2) > a + 1:
        return incomplete_beta(b, a, y, x)[::-1]
    with mp.workdps(70):
        f, c, d, m = mp.mpf(1), mp.mpf(1), 1 - (a + b) * x / (a + 1), 0
        d = 1 / d
        f = d
        while True:
            m += 1
            for t in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                      -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
                d, c = 1 / (1 + t * d), 1 + t / c
                f *= c * d
            if abs(c * d - 1) < mp.mpf(10) ** -65:
                break
        v = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.log(mp.beta(a, b))) * f / a
        return v, 1 - v


def num(x):
    return None if x is None else float(x)


class Exponential:
    def __init__(s, mu, beta):
        s.mu, s.beta = mp.mpf(mu), mp.mpf(beta)
        s.json = dict(kind="shifted_exponential", mu=mu, beta=beta)
        s.lo, s.hi, s.scale, s.mean = s.mu, inf, 1 / s.beta, s.mu + 1 / s.beta

    def tails(s, x):
        if x <= s.mu:
            return mp.mpf(1), mp.mpf(0)
        return mp.exp(-s.beta * (x - s.mu)), -mp.expm1(-s.beta * (x - s.mu))

    def gain(s, x):
        if x < s.mu:
            return s.mean - x
        return mp.exp(-s.beta * (x - s.mu)) / s.beta


class Gaussian:
    def __init__(s, mean, sd):
        s.mean, s.sd = mp.mpf(mean), mp.mpf(sd)
        s.json = dict(kind="gaussian", mean=mean, sd=sd)
        s.lo, s.hi, s.scale = -inf, inf, s.sd

    def tails(s, x):
        z = (x - s.mean) / s.sd
        return mp.ncdf(-z) if z < 0 else mp.erfc(z / mp.sqrt(2)) / 2, mp.erfc(-z / mp.sqrt(2)) / 2

    def gain(s, x):
        z = (x - s.mean) / s.sd
        with mp.workdps(80):
            return +(s.sd * (mp.npdf(z) - z * mp.erfc(z / mp.sqrt(2)) / 2))


class Beta:
    def __init__(s, a, b):
        s.a, s.b = mp.mpf(a), mp.mpf(b)
        s.json = dict(kind="beta", a=a, b=b)
        s.lo, s.hi = mp.mpf(0), mp.mpf(1)
        s.mean = s.a / (s.a + s.b)
        s.scale = mp.sqrt(s.mean * (1 - s.mean) / (s.a + s.b + 1))
        s.cache = {}

    def tails(s, x):
        if x <= 0:
            return mp.mpf(1), mp.mpf(0)
        if x >= 1:
            return mp.mpf(0), mp.mpf(1)
        if x not in s.cache:
            s.cache[x] = incomplete_beta(s.a, s.b, x, 1 - x)[::-1]
        return s.cache[x]

    def gain(s, x):
        if x <= 0:
            return s.mean - x
        if x >= 1:
            return mp.mpf(0)
        with mp.workdps(70):
            return +(s.mean * incomplete_beta(s.a + 1, s.b, x, 1 - x)[1] - x * incomplete_beta(s.a, s.b, x, 1 - x)[1])


class Uniform:
    def __init__(s, lo, hi):
        s.lo, s.hi = mp.mpf(lo), mp.mpf(hi)
        s.json = dict(kind="uniform", lo=lo, hi=hi)
        s.scale, s.mean = s.hi - s.lo, (s.lo + s.hi) / 2

    def tails(s, x):
        clip = min(max(x, s.lo), s.hi)
        return (s.hi - clip) / s.scale, (clip - s.lo) / s.scale

    def gain(s, x):
        if x >= s.hi:
            return mp.mpf(0)
        if x <= s.lo:
            return s.mean - x
        return (s.hi - x) ** 2 / (2 * s.scale)


def maximise(f, belief, base, start=mp.mpf(0)):
    """Largest f(y) for y > start with base+y in the support: scan finely in
    log y and around the bulk of the belief, then golden section."""
    top = belief.hi - base if belief.hi != inf else max(belief.mean - base, 0) + 60 * belief.scale + 60 * start
    if top <= start:
        return None, mp.mpf(0)
    grid = {start + (top - start) * mp.mpf(10) ** (-mp.mpf(k) / 12) for k in range(1, 200)}
    grid |= {start + (top - start) * mp.mpf(k) / 150 for k in range(1, 150)}
    grid |= {belief.mean - base + belief.scale * mp.mpf(k) / 8 for k in range(-60, 61)}
    grid = sorted(y for y in grid if start < y < top)
    values = [f(y) for y in grid]
    k = max(range(len(grid)), key=values.__getitem__)
    if values[k] == 0:
        return None, mp.mpf(0)
    lo = grid[k - 1] if k else start
    hi = grid[k + 1] if k + 1 < len(grid) else top
    golden = (mp.sqrt(5) - 1) / 2
    a, b = hi - golden * (hi - lo), lo + golden * (hi - lo)
    fa, fb = f(a), f(b)
    for _ in range(85):
        if fa < fb:
            lo, a, fa = a, b, fb
            b = lo + golden * (hi - lo)
            fb = f(b)
        else:
            hi, b, fb = b, a, fa
            a = hi - golden * (hi - lo)
            fa = f(a)
    y = (a + b) / 2
    return y, f(y)


def threshold(belief, qj, b, T):
    q, c = mp.mpf(qj), mp.mpf(qj) - mp.mpf(b)
    e = dict(mean_i=num(belief.mean), lower_valued=bool(belief.mean <= q), vpi=num(belief.gain(q)),
             phi_infinite=False, attained=True, N_star_overflow=False)
    if belief.lo > q:
        e.update(delta_star=None, p_star=None, phi_star=None, phi_infinite=True, attained=False)
        phi = inf
    elif belief.hi <= q:
        e.update(delta_star=None, p_star=0.0, phi_star=0.0, attained=False)
        phi = mp.mpf(0)
    else:
        def f(y):
            above, below = belief.tails(q + y)
            return y * above / below if below else mp.mpf(0)
        d, phi = maximise(f, belief, q)
        e.update(delta_star=num(d), p_star=num(belief.tails(q + d)[0]), phi_star=num(phi))
    e["gamma_star"] = num(max(mp.mpf(0), 1 - phi / c) ** (mp.mpf(1) / T)) if phi != inf else 0.0
    if phi == 0:
        e["N_star"] = None
    elif phi > c:
        e["N_star"] = 0
    else:
        n = int(mp.floor(T * c / phi))
        e["N_star_overflow"] = n >= 2 ** 63
        e["N_star"] = None if n >= 2 ** 63 else n
    e["decisions_gamma"] = [dict(gamma=g, explore=bool(phi > (1 - mp.mpf(g) ** T) * c))
                            for g in (0.0, 0.5, 0.9, 0.99, 0.9999, 0.999999)]
    e["decisions_N"] = [dict(N=n, explore=bool(phi > mp.mpf(min(T, n + 1)) / (n + 1) * c))
                        for n in (0, 1, 7, 50, 1000, 10 ** 6, 10 ** 9)]
    if belief.hi > q:
        rho = rng.choice([0.0, 1e-6, 0.01, 0.2, 0.7])
        r = mp.mpf(rho) * c
        # δ → 0 included, as is the jump of P(q ≥ x) from one at the lower end.
        candidates = [(mp.mpf(0), belief.tails(q)[0] * r - r)]
        if belief.lo > q:
            candidates.append((belief.lo - q, belief.lo - q + r - r))
        d, v = maximise(lambda y: belief.tails(q + y)[0] * (y + r), belief, q)
        if d is not None:
            candidates.append((d, v - r))
        d, v = max(candidates, key=lambda x: x[1])
        if v + r > 1e-290:
            e["sup_adv"] = dict(rho=rho, value=num(v), delta=num(d))
            if abs(v) < mp.mpf(10) ** -9 * r or rho == 0 and v < 1e-200:
                del e["sup_adv"]  # a difference of nearly equal numbers
    return dict(belief=belief.json, qj=qj, b=b, T=T), e


def index(belief, b, rho):
    b_, r = mp.mpf(b), mp.mpf(rho)

    def ratio(base):
        def f(y):
            p = belief.tails(base + y)[0]
            return y * p / (r + (1 - r) * p)
        best = maximise(f, belief, base)[1]
        if belief.lo != -inf and belief.lo > base:
            best = max(best, belief.lo - base)
        return best
    u = b_ + ratio(b_)
    plus = belief.mean + (1 - r) * ratio(belief.mean)
    g = lambda x: (1 - r) * belief.gain(x) - r * (x - belief.mean)
    lo, hi = belief.mean, belief.mean + belief.scale
    while g(hi) > 0:
        hi += belief.scale
        if hi > belief.hi:
            hi = belief.hi
            break
    for _ in range(130):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if g(mid) > 0 else (lo, mid)
    return dict(belief=belief.json, b=b, rho=rho), dict(U=num(u), Uplus=num(plus), VPI=num(lo), mean=num(belief.mean))


def exponential(mu, beta, qj):
    m = mp.mpf(qj - mu)  # in doubles, as given
    x = mp.mpf(beta * (qj - mu))
    e = dict(m=num(m), x=num(x))
    if x < 0:
        return e | dict(status="always", phi_infinite=True)
    if x == 0:
        return e | dict(status="boundary", delta_star=0.0, phi_star=num(1 / mp.mpf(beta)))
    with mp.workdps(60):
        # u - ln u = 1 + x on either side of u = 1, without the Lambert function.
        def root(lo, hi, up):
            for _ in range(260):
                mid = (lo + hi) / 2
                low = mid - mp.log(mid) < 1 + x
                lo, hi = (mid, hi) if low == up else (lo, mid)
            return mid
        lo, hi = -x - 2, mp.mpf(0)  # ln u
        for _ in range(260):
            mid = (lo + hi) / 2
            lo, hi = (lo, mid) if mp.exp(mid) - mid < 1 + x else (mid, hi)
        log_u = mid
        u = mp.exp(log_u)
        w = root(mp.mpf(1), 2 * x + 20, True)
        beta_ = mp.mpf(beta)
        phi = u / beta_
        e |= dict(arg=num(-mp.exp(-1 - x)), W0=num(-u), Wm1=num(-w), delta_star=num(-mp.expm1(log_u) / beta_),
                  delta_other_branch=num((1 - w) / beta_), phi_star=num(phi), log_phi_star=num(log_u - mp.log(beta_)),
                  p_star=num(u), gamma_star_b0=num(max(mp.mpf(0), 1 - phi / mp.mpf(qj))), status="interior")
    return e


def exponential_pair(mi, bi, mj, bj):
    mi_, bi_, mj_, bj_ = map(mp.mpf, (mi, bi, mj, bj))

    def p(d):
        gap = mj_ + d - mi_
        if gap >= 0:
            return bj_ / (bi_ + bj_) * mp.exp(-bi_ * gap)
        return 1 - bi_ / (bi_ + bj_) * mp.exp(bj_ * gap)
    f = lambda d: d * p(d) / (1 - p(d))

    class around:
        lo, hi, mean, scale = -inf, inf, max(mi_ - mj_, mp.mpf(0)), 1 / bi_ + 1 / bj_
    d, phi = maximise(f, around, mp.mpf(0))
    return dict(kappa=num(bj_ / (bi_ + bj_)), delta_star=num(d), phi_star=num(phi), p_at_delta_star=num(p(d)),
                qbar_j=num(mj_ + 1 / bj_))


def beta_pair(ai, bi, aj, bj, delta):
    with mp.workdps(30):
        a, b, c, d, t = map(mp.mpf, (ai, bi, aj, bj, delta))
        i, j = Beta(a, b), Beta(c, d)
        f = lambda y: mp.exp((c - 1) * mp.log(y) + (d - 1) * mp.log1p(-y) - lb)
        lb = mp.log(mp.beta(c, d))
        lo, hi = max(mp.mpf(0), -t), min(mp.mpf(1), 1 - t)
        if lo >= hi:
            return mp.mpf(t < 0)
        cuts = {lo, hi}
        for x, s in ((j.mean, j.scale), (i.mean - t, i.scale)):
            cuts |= {y for k in (-20, -6, -2, 0, 2, 6, 20) if lo < (y := x + k * s) < hi}
        # Powers of y and 1-y take the singularities at both ends away.
        cuts = sorted(cuts)
        total = j.tails(lo)[1]
        for l, r in zip(cuts, cuts[1:]):
            if c + d > 1000 and abs((l + r) / 2 - j.mean) > 20 * j.scale:
                continue  # below e^-100
            if l == 0 and c < 1:
                total += mp.quad(lambda v: f(v ** (1 / c)) * v ** (1 / c - 1) / c * i.tails(v ** (1 / c) + t)[0]
                                 if v else mp.mpf(0), [0, r ** c / 1024, r ** c])
            elif r == 1 and d < 1:
                g = lambda y, z: mp.exp((c - 1) * mp.log(y) + (d - 1) * mp.log(z) - lb)
                total += mp.quad(lambda v: g(1 - v ** (1 / d), v ** (1 / d)) * v ** (1 / d - 1) / d
                                 * incomplete_beta(b, a, -t + v ** (1 / d), 1 + t - v ** (1 / d))[0]
                                 if v else mp.mpf(0), [0, (1 - l) ** d / 1024, (1 - l) ** d])
            elif r == hi and t > 0 and b < 1:
                total += mp.quad(lambda v: f(hi - v ** (1 / b)) * v ** (1 / b - 1) / b
                                 * incomplete_beta(b, a, v ** (1 / b), 1 - v ** (1 / b))[0]
                                 if v else mp.mpf(0), [0, (r - l) ** b / 1024, (r - l) ** b])
            elif l == lo and t < 0 and a < 1:
                total += mp.quad(lambda v: f(lo + v ** (1 / a)) * v ** (1 / a - 1) / a
                                 * incomplete_beta(a, b, v ** (1 / a), 1 - v ** (1 / a))[1]
                                 if v else mp.mpf(0), [0, (r - l) ** a / 1024, (r - l) ** a])
            else:
                total += mp.quad(lambda y: f(y) * i.tails(y + t)[0], [l, r])
        return total


def population(samples, qj, b, T):
    x = sorted((Fraction(s) for s in samples), reverse=True)
    K, q, c = len(x), Fraction(qj), Fraction(qj) - Fraction(b)
    best, at, infinite = Fraction(0), None, False
    for m in range(1, K + 1):
        d = x[m - 1] - q
        if d <= 0:
            break
        if m < K and x[m] == x[m - 1]:
            continue
        if m == K:
            infinite = True
        elif d * m / (K - m) > best:
            best, at = d * m / (K - m), m
    gain = sum(max(s - q, 0) for s in x) / K
    mean = sum(x) / K
    e = dict(mean_i=float(mean), lower_valued=mean <= q, vpi=float(gain), phi_infinite=infinite,
             attained=at is not None and not infinite, N_star_overflow=False)
    explore = lambda rho: infinite or best > rho * c
    e["gamma_star"] = 0.0 if infinite or best >= c else float((1 - mp.mpf(best.numerator) / best.denominator / (mp.mpf(c.numerator) / c.denominator)) ** (mp.mpf(1) / T))
    if infinite:
        e.update(delta_star=None, p_star=None, phi_star=None, N_star=0)
    elif at is None:
        e.update(delta_star=None, p_star=0.0, phi_star=0.0, N_star=None)
    else:
        e.update(delta_star=float(x[at - 1] - q), p_star=at / K, phi_star=float(best),
                 N_star=0 if best > c else int(T * c / best))
    e["decisions_gamma"] = [dict(gamma=g, explore=explore(1 - Fraction(g) ** T)) for g in (0.0, 0.5, 0.9, 0.99)]
    e["decisions_N"] = [dict(N=n, explore=explore(Fraction(min(T, n + 1), n + 1))) for n in (0, 1, 6, 50, 10 ** 6)]
    e["index"] = []
    for rho in (0.0, 1e-4, 0.03, 0.4, 1.0):
        r = Fraction(rho)
        w = lambda m: Fraction(m, 1) / (K * r + (1 - r) * m)
        bb = Fraction(b)
        u = bb + max([Fraction(0)] + [(x[m - 1] - bb) * w(m) for m in range(1, K + 1)])
        plus = mean + (1 - r) * max((x[m - 1] - mean) * w(m) for m in range(1, K + 1))
        v = mean + (1 - r) * max((sum(x[:m]) / m - mean) * w(m) for m in range(1, K + 1))
        e["index"].append(dict(rho=rho, U=float(u), Uplus=float(max(plus, mean)), VPI=float(max(v, mean))))
    return e


def main():
    cases = {k: [] for k in ("threshold", "population", "exponential", "exponential_pair", "beta_pair", "belief_index")}

    def add(kind, given, expect):
        cases[kind].append(dict(name=f"{kind}{len(cases[kind])}", input=given, expect=expect))

    beliefs = [Beta(0.1, 0.1), Beta(0.1, 3.0), Beta(3.0, 0.2), Beta(200.0, 300.0), Beta(5000.0, 100.0), Beta(1.0, 40.0),
               Beta(0.5, 0.5), Beta(40.0, 0.7), Gaussian(0.3, 0.001), Gaussian(-5.0, 30.0), Gaussian(0.5, 0.1),
               Exponential(-3.0, 0.01), Exponential(0.2, 500.0), Uniform(0.0, 1e-3), Uniform(-4.0, 7.0)]
    for belief in beliefs:
        for shift in (-1.5, 0.2, 2.5):
            qj = float(belief.mean + shift * belief.scale)
            if belief.json["kind"] == "beta" and not 0.001 < qj < 0.9999:
                continue
            if not qj > belief.lo and shift > 0:
                continue
            b = min(qj, 0.0) - rng.choice([1e-3, 0.1, 5.0])
            add("threshold", *threshold(belief, qj, b, rng.choice([1, 2, 9, 500])))
        for rho in (1e-7, 0.004, 0.3, 0.95):
            low = float(belief.lo) if belief.lo != -inf else float(belief.mean - 4 * belief.scale)
            add("belief_index", *index(belief, rng.choice([low, low - 1.0, float(belief.mean)]), rho))
    for m in (3.0, 8.0, -8.0):
        add("threshold", *threshold(Gaussian(1.0, 0.5), 1.0 + m / 2, -9.0, 3))

    for qj in (1e-15, 1e-12, 1e-9, 3e-7, 1e-4, 0.01, 0.05, 0.3, 0.97, 1.02, 3.0, 20.0, 100.0, 500.0, 743.0, 746.0, 2e3, 1e4):
        add("exponential", dict(mu=0.0, beta=1.0, qj=qj), exponential(0.0, 1.0, qj))
        add("exponential", dict(mu=-0.5, beta=37.0, qj=qj), exponential(-0.5, 37.0, qj))
    for mi, bi, mj, bj in ((0, 1, 0, 1), (0, 1e-2, 5, 40), (3, 2, 0, 5), (3, 0.1, 0, 0.2), (0.4, 1, 0, 1), (0.6, 1, 0, 1),
                           (0, 100, 1, 0.3), (1, 7, 0, 0.05)):
        add("exponential_pair", dict(mu_i=mi, beta_i=bi, mu_j=mj, beta_j=bj), exponential_pair(mi, bi, mj, bj))
    for given in ((0.1, 0.1, 0.1, 0.1, 0.0), (0.1, 0.1, 0.1, 0.1, 0.3), (0.1, 0.1, 0.1, 0.1, -0.3), (0.05, 0.2, 0.1, 0.3, 0.0),
                  (0.1, 5.0, 0.2, 2.0, 0.0), (2.0, 0.1, 3.0, 0.05, 0.0), (2.0, 0.1, 3.0, 0.05, -0.01), (0.3, 0.1, 7.0, 0.1, 0.001),
                  (1e4, 2e4, 1e4, 2e4, 0.0), (1e4, 2e4, 10.0, 20.0, 0.1), (5.0, 3.0, 1e4, 2e4, -0.2), (1.0, 1.0, 1e4, 1.0, 0.0),
                  (1.0, 500.0, 1.0, 700.0, 1e-3), (2.0, 3.0, 4.0, 5.0, 0.999), (2.0, 3.0, 4.0, 5.0, -0.999),
                  (2.0, 3.0, 4.0, 5.0, 1.0), (2.0, 3.0, 4.0, 5.0, -1.0), (30.0, 1.0, 1.0, 30.0, 0.9), (0.5, 0.5, 80.0, 80.0, 0.0)):
        add("beta_pair", dict(zip(("a_i", "b_i", "a_j", "b_j", "delta"), given)), dict(p=num(beta_pair(*given))))

    for K in (1, 1, 2, 3, 5, 8, 33, 200):
        for ties in (False, True):
            scale = rng.choice([1e-6, 1.0, 1e5])
            samples = [round(rng.gauss(0, 1), 1 if ties else 6) * scale for _ in range(K)]
            qj = float(sorted(samples)[K // 2]) + rng.choice([-0.37, 0.013, 0.61]) * scale
            b = min(samples) - rng.choice([0.01, 3.0]) * scale
            if qj <= b:
                continue
            T = rng.choice([1, 4])
            add("population", dict(belief=dict(kind="population", samples=samples), qj=qj, b=b, T=T),
                population(samples, qj, b, T))
    lines = [f'"{kind}": [\n' + ",\n".join(map(json.dumps, of)) + "\n]" for kind, of in cases.items()]
    print('{"which": "extreme", "cases": {\n' + ",\n".join(lines) + "\n}}")


main()
