// Package seed derives all random numbers of an experiment. Every stream of an
// experiment is a pure function of (root seed, environment id, run, purpose,
// actor, counter). It is computed by the counter-based generator Philox4x64-10
// (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2,
// 3"). So no stream depends on the number of lanes, workers or processes.
//
// The agent is not in the key: all agents of an experiment meet the same draws
// of the same run (common random numbers), and differences between them are
// paired.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Purpose separates the streams of one run.
type Purpose uint64

// The purposes. The host derives seeds for the first two and for Evaluation; an agent splits its
// own seed into Exploration and Bootstrap with Stream. Where the host decides
// between an agent's options, it draws from Decisions, split from the same seed.
const (
	Environment Purpose = 1 + iota // initial states, transitions, rewards: one seed an episode
	Agent                          // everything an agent draws in one run
	Exploration                    // selecting actions
	Bootstrap                      // priors, masks and weights of an ensemble
	Statistics                     // resampling in reports
	Decisions                      // choosing between options
	Evaluation                     // as Environment, of episodes in which an agent is evaluated
	Changes                        // how the task of a run changes: split by the environment from its seed
)

// Source derives the seeds of one environment in one experiment.
type Source struct {
	key   [2]uint64
	actor uint64
}

// NewSource returns the seeds of the environment named id under a root seed.
// The key is (root, first eight bytes of SHA-256(id), little-endian).
func NewSource(root uint64, id string) Source {
	h := sha256.Sum256([]byte(id))
	return Source{key: [2]uint64{root, binary.LittleEndian.Uint64(h[:])}}
}

// Actor returns the seeds of the actor so many after that of s; NewSource returns those of actor 0.
func (s Source) Actor(after int) Source { return Source{s.key, s.actor + uint64(after)} }

// Seed returns the first word of Philox4x64-10 at counter (counter, run,
// purpose, actor). counter numbers the episodes of an actor, from 0.
func (s Source) Seed(run int, purpose Purpose, counter uint64) uint64 {
	return philox([4]uint64{counter, uint64(run), uint64(purpose), s.actor}, s.key)[0]
}

// Stream returns the generator of one purpose under a seed: the standard
// library's PCG at (seed, purpose).
func Stream(seed uint64, purpose Purpose) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(purpose)))
}

// gamma is the odd number that SplitMix64 counts by.
const gamma = 0x9E3779B97F4A7C15

// Draw returns number k of a stream of actions, from 0, uniform on [0,1). It is
// the upper 53 bits of output k of SplitMix64 seeded with stream (Steele, Lea &
// Flood 2014, "Fast splittable pseudorandom number generators"). Any language can
// compute the same numbers in four lines.
func Draw(stream uint64, k int) float64 {
	z := stream + (uint64(k)+1)*gamma
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) / (1 << 53)
}

// philox is one block of Philox4x64-10.
func philox(c [4]uint64, k [2]uint64) [4]uint64 {
	const (
		m0, m1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
		w0, w1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
	)
	for range 10 {
		hi0, lo0 := bits.Mul64(m0, c[0])
		hi1, lo1 := bits.Mul64(m1, c[2])
		c = [4]uint64{hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0}
		k[0] += w0
		k[1] += w1
	}
	return c
}
