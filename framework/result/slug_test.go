package result

import (
	"slices"
	"testing"
)

func TestSlugs(t *testing.T) {
	got := Slugs([]string{"Bernoulli, 16 arms", "bernoulli 16 ARMS!", "../../etc", "γ=0.9", "***", "", "a_b"})
	want := []string{"bernoulli-16-arms", "bernoulli-16-arms-2", "etc", "γ-0-9", "unnamed", "unnamed-2", "a_b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
