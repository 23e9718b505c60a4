package policy

import (
	"math"
	"testing"
)

// The index by hand: 2 arms, 200 pulls, rewards in [0,10]. Arm 0 paid 6 once, so that it
// has 6 + 10 √ln 100. Arm 1 paid 8 a hundred times: ln 1 = 0 leaves no bonus, nor does
// the pull after that.
func TestMOSSByHand(t *testing.T) {
	u := newMOSS(2, 10, 200)
	u.Update(0, 6, nil)
	for range 100 {
		u.Update(1, 8, nil)
	}
	for arm, want := range []float64{6 + 10*math.Sqrt(math.Log(100)), 8} {
		if got := u.index(arm, 200); math.Abs(got-want) > 1e-12 {
			t.Errorf("arm %d has index %v, want %v", arm, got, want)
		}
	}
	if arm := u.SelectArm(nil); arm != 0 {
		t.Errorf("it selects arm %d, want 0", arm)
	}
	u.Update(1, 8, nil)
	if got := u.index(1, 200); got != 8 {
		t.Errorf("beyond its share the index is %v, want the mean, 8", got)
	}
}

// Without a horizon the bonus grows with the number of pulls: at the third pull of one
// arm that was pulled twice it is √(ln(3/2)/2), and of two arms none.
func TestMOSSAnytime(t *testing.T) {
	for arms, want := range map[int]float64{1: math.Sqrt(math.Log(1.5) / 2), 2: 0} {
		u := newMOSS(arms, 1, 0)
		u.Update(0, 0, nil)
		u.Update(0, 0, nil)
		if got := u.index(0, u.level(2)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d arms: %v, want %v", arms, got, want)
		}
	}
}
