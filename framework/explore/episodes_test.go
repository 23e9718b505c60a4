package explore

import "testing"

// The steps that are left of a horizon in episodes are exact where all episodes are as long, and at least 1. Until the
// first episode has ended nothing is known, and they are the most.
func TestStepsLeft(t *testing.T) {
	const episodes, length, most = 6, 10, 1000
	for step := range 80 {
		l := &lane{steps: step, began: step / length * length, episode: step / length}
		want := max(episodes*length-step, 1)
		if step < length {
			want = most - step
		}
		if got := l.stepsLeft(episodes, most); got != want {
			t.Errorf("after %d steps %d are left, want %d", step, got, want)
		}
	}
	for _, tt := range []struct {
		lane           lane
		episodes, most int
		want           int
	}{
		{lane{steps: 14, began: 14, episode: 4}, 6, 1000, 7},  // 3.5 steps each
		{lane{steps: 15, began: 14, episode: 4}, 7, 1000, 10}, // 10.5 − 1, rounded up
		{lane{steps: 40, began: 14, episode: 4}, 6, 1000, 1},  // a long one
		{lane{steps: 14, began: 14, episode: 4}, 600, 100, 86},
		{lane{steps: 100}, 6, 100, 1},
	} {
		if got := tt.lane.stepsLeft(tt.episodes, tt.most); got != tt.want {
			t.Errorf("%+v: %d of %d episodes and %d steps are left, want %d", tt.lane, got, tt.episodes, tt.most, tt.want)
		}
	}
}
