package budget

import "testing"

// The steps that are left of a horizon in episodes are exact where all episodes are as long, and at least 1. Until the
// first episode has ended nothing is known, and they are the most.
func TestStepsLeft(t *testing.T) {
	const episodes, length, most = 6, 10, 1000
	for step := range 80 {
		r := Run{Steps: step, Began: step / length * length, Ended: step / length}
		want := max(episodes*length-step, 1)
		if step < length {
			want = most - step
		}
		if got := r.Left(most, episodes); got != want {
			t.Errorf("after %d steps %d are left, want %d", step, got, want)
		}
	}
	for _, tt := range []struct {
		run            Run
		episodes, most int
		want           int
	}{
		{Run{14, 14, 4}, 6, 1000, 7},  // 3.5 steps each
		{Run{15, 14, 4}, 7, 1000, 10}, // 10.5 − 1, rounded up
		{Run{40, 14, 4}, 6, 1000, 1},  // a long one
		{Run{14, 14, 4}, 600, 100, 86},
		{Run{14, 14, 4}, 0, 100, 86},
		{Run{Steps: 100}, 6, 100, 1},
	} {
		if got := tt.run.Left(tt.most, tt.episodes); got != tt.want {
			t.Errorf("%+v: %d of %d episodes and %d steps are left, want %d", tt.run, got, tt.episodes, tt.most, tt.want)
		}
	}
}
