package policy

import (
	"math"
	"math/rand/v2"
)

// UCB1 selects argmax_i q̄_i + w·√(c·ln t/n_i) (Auer, Cesa-Bianchi & Fischer 2002, Fig. 1). There are t
// rewards so far, n_i of them of arm i, q̄_i is their mean, and w is the width of the range of rewards.
type UCB1 struct {
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,default=2" jsonschema_description:"c of the bound sqrt(c ln t/n); default of Auer, Cesa-Bianchi & Fischer (2002)."`
}

func (p UCB1) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy {
		u := newUCB1(t.Arms, width, *p.Confidence)
		if t.Arms <= fewArms {
			return u
		}
		return &shortlist{tally: u.tally, level: u.level, until: -1, list: make([]int32, t.Arms), depth: width / 64}
	}, err
}

// fewArms is up to how many arms an order of all is quicker than a list of some.
const fewArms = 32

func newUCB1(n int, width, c float64) *upperConfidence {
	u := &upperConfidence{tally: newTally(n, 0)}
	level := func(rewards float64) float64 { return width * math.Sqrt(c*math.Log(rewards)) }
	u.rising = newRising(n, 0, level, func(arm int, level float64) float64 {
		return u.means[arm] + float64(level*u.spread[arm])
	})
	return u
}

// shortlist is UCB1 that looks at a short list of arms in most steps. Indices of arms that are not pulled rise
// slowly. So no other arm can be selected before the end of a block, as long as an arm of the list
// is above the floor: that is not below the bounds of the others at the end of the block.
type shortlist struct {
	tally
	level func(rewards float64) float64
	now   int // rewards so far

	list     []int32 // ascending
	floor    int64   // ordered
	until    int     // the end of the block
	depth    float64 // of the floor below the largest index
	selected int     // the last time
}

func (u *shortlist) SelectArm(*rand.Rand) int {
	if u.lap.lap == 0 {
		if arm, lap := u.lap.next(u.pulls); lap == 0 {
			return arm
		}
	}
	level := u.level(float64(u.now))
	if u.now > u.until || !u.look(level) {
		u.choose(level)
	}
	return u.selected
}

// look selects the best arm of the list, and tells whether it is the best of all. Comparisons of
// integers take no branches, which would be mispredicted.
func (u *shortlist) look(level float64) bool {
	best, selected := int64(math.MinInt64), int64(0)
	for _, arm := range u.list {
		x := ordered(u.means[arm] + float64(level*u.spread[arm]))
		if x > best {
			selected = int64(arm)
		}
		best = max(best, x)
	}
	u.selected = int(selected)
	return best >= u.floor
}

// ordered are integers in the order of numbers, of which 0 has no sign.
func ordered(x float64) int64 {
	bits := int64(math.Float64bits(x))
	return bits ^ bits>>63&math.MaxInt64
}

// choose selects an arm from all, and makes the list of the next block. About as much time is to go
// into lists as into looking at them, at some √(3n) arms. The depth of the floor follows this number.
func (u *shortlist) choose(level float64) {
	u.list = u.list[:len(u.means)]
	for arm := range u.list {
		u.list[arm] = int32(arm)
	}
	u.look(level)
	want := 4 + int(math.Sqrt(float64(3*len(u.means))))
	u.until = u.now + 2*want
	last := u.level(float64(u.until))
	u.floor = ordered(u.means[u.selected] + float64(level*u.spread[u.selected]) - u.depth)
	n := 0
	for arm, mean := range u.means {
		u.list[n] = int32(arm)
		if ordered(mean+float64(last*u.spread[arm])) >= u.floor {
			n++
		}
	}
	u.list = u.list[:n]
	switch {
	case n > want:
		u.depth *= 0.75
	case n < want/2:
		u.depth *= 1.25
	}
}

func (u *shortlist) Update(arm int, reward float64, _ *rand.Rand) {
	u.add(arm, reward)
	if u.now++; arm != u.selected { // it may belong on the list
		u.until = -1
	}
}
