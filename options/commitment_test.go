package options

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/mdp"
)

func TestCommitment(t *testing.T) {
	for _, c := range []struct {
		o      CommitmentConfig
		mixing int
		want   Commitment
	}{
		{CommitmentConfig{}, 7, Commitment{7, 7, false, 0, 0, 0}},
		{CommitmentConfig{}, 1000, Commitment{1000, 1000, false, 0, 0, 0}},
		{CommitmentConfig{}, 1001, Commitment{1000, 1001, true, 0, 0, 0}},
		{CommitmentConfig{}, mdp.Never, Commitment{1000, mdp.Never, true, 0, 0, 0}},
		{CommitmentConfig{Cap: 5}, 7, Commitment{5, 7, true, 0, 0, 0}},
		{CommitmentConfig{Floor: 10}, 7, Commitment{10, 7, false, 0, 0, 0}},
		{CommitmentConfig{Floor: 10, Cap: 5}, 70, Commitment{10, 70, true, 0, 0, 0}},
		{CommitmentConfig{Scale: 0.125}, 7, Commitment{1, 7, false, 0, 0, 0}},
		{CommitmentConfig{Scale: 2.5}, 7, Commitment{18, 7, false, 0, 0, 0}},
		{CommitmentConfig{Scale: 1e300}, math.MaxInt - 1, Commitment{1000, math.MaxInt - 1, true, 0, 0, 0}},
		{CommitmentConfig{Return: true}, 7, Commitment{7, 7, false, 14, 0, 0}},
		{CommitmentConfig{Return: true, Scale: 3}, 7, Commitment{21, 7, false, 28, 0, 0}},
		{CommitmentConfig{Return: true, Floor: 10}, 7, Commitment{10, 7, false, 20, 0, 0}},
		{CommitmentConfig{Return: true, Cap: 5}, 7, Commitment{5, 7, true, 10, 0, 0}},
		{CommitmentConfig{Return: true, Scale: 0.5}, mdp.Never, Commitment{1000, mdp.Never, true, 2000, 0, 0}},
		{CommitmentConfig{Return: true, Fixed: 3}, 7, Commitment{Steps: 3}},
	} {
		if got := c.o.Commitment(c.mixing); got != c.want {
			t.Errorf("%+v: T_ε = %d gives %+v, want %+v", c.o, c.mixing, got, c.want)
		}
	}
}
