package policy

import "math/rand/v2"

// BESA, best empirical sampled average, lets arms meet in pairs, the winners again, in an order that is drawn (Baransi,
// Maillard & Mannor 2014). Two arms of which the one with fewer rewards has n compare the means of n rewards each, drawn
// without replacement. Of equal means that of fewer rewards wins, and of as many a drawn one. It
// keeps all rewards, and allocates. It needs no range of rewards.
type BESA struct{}

func (p BESA) build(t *setting) (maker, error) {
	return func(beliefs) Policy { return &besa{tally: newTally(t.Arms, 0), rewards: make([][]float64, t.Arms)} }, nil
}

type besa struct {
	tally
	rewards [][]float64 // by arm, in any order
	left    []int       // scratch: arms that have not lost
}

func (b *besa) SelectArm(rng *rand.Rand) int {
	if b.lap.lap == 0 {
		if arm, lap := b.lap.next(b.pulls); lap == 0 {
			return arm
		}
	}
	b.left = b.left[:0]
	for i := range b.rewards {
		b.left = append(b.left, i)
	}
	rng.Shuffle(len(b.left), func(i, j int) { b.left[i], b.left[j] = b.left[j], b.left[i] })
	for len(b.left) > 1 {
		n := len(b.left) / 2
		for k := range n { // the last of an odd number wins without a duel
			b.left[k] = b.duel(b.left[k], b.left[len(b.left)-1-k], rng)
		}
		b.left = b.left[:len(b.left)-n]
	}
	return b.left[0]
}

// duel returns the arm that wins.
func (b *besa) duel(i, j int, rng *rand.Rand) int {
	n := min(b.pulls[i], b.pulls[j])
	x, y := b.sample(i, n, rng), b.sample(j, n, rng)
	if y > x || y == x && b.pulls[j] < b.pulls[i] {
		return j
	}
	return i
}

// sample returns the sum of n rewards of an arm that are drawn.
func (b *besa) sample(arm, n int, rng *rand.Rand) (sum float64) {
	all := b.rewards[arm]
	for k := range n {
		if n < len(all) {
			at := k + rng.IntN(len(all)-k)
			all[k], all[at] = all[at], all[k]
		}
		sum += all[k]
	}
	return sum
}

func (b *besa) Update(arm int, reward float64, _ *rand.Rand) {
	b.rewards[arm] = append(b.rewards[arm], reward)
	b.add(arm, reward)
}
