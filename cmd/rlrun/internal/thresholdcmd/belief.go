package thresholdcmd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/spelling"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// beliefKind is a kind of belief as the command line writes it.
type beliefKind struct {
	name, doc string
	params    []string
	make      func(v []float64) (bandit.Belief, error)
	sd        func(v []float64) float64
	// spread returns the belief with its deviation from its mean multiplied by
	// s, and whether there is one.
	spread func(v []float64, s float64) ([]float64, bool)
}

func beliefKinds() []beliefKind {
	return []beliefKind{
		{"beta", "beta:3,4 · a, b, as after a-1 successes and b-1 failures", []string{"a", "b"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewBeta(v[0], v[1]) },
			func(v []float64) float64 {
				n := v[0] + v[1]
				return math.Sqrt(v[0] / n * (v[1] / n) / (n + 1))
			},
			func(v []float64, s float64) ([]float64, bool) {
				n := v[0] + v[1]
				m := v[0] / n
				n = (n+1)/(s*s) - 1
				return []float64{m * n, (1 - m) * n}, n > 0
			}},
		{"gaussian", "gaussian:0.4,0.1 · mean, sd", []string{"mean", "sd"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewGaussian(v[0], v[1], 1) },
			func(v []float64) float64 { return v[1] },
			func(v []float64, s float64) ([]float64, bool) { return []float64{v[0], v[1] * s}, true }},
		{"exponential", "exponential:0.1,4 · mu, rate: mu plus an exponential of mean 1/rate", []string{"mu", "rate"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewShiftedExponential(v[0], v[1]) },
			func(v []float64) float64 { return 1 / v[1] },
			func(v []float64, s float64) ([]float64, bool) {
				return []float64{v[0] + (1-s)/v[1], v[1] / s}, true
			}},
		{"uniform", "uniform:0,1 · lo, hi", []string{"lo", "hi"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewUniform(v[0], v[1]) },
			func(v []float64) float64 { return (v[1] - v[0]) / math.Sqrt(12) },
			func(v []float64, s float64) ([]float64, bool) { return around(v, (v[0]+v[1])/2, s), true }},
		{"two-point", "two-point:0,1,0.3 · lo, hi, w: hi with probability w", []string{"lo", "hi", "w"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewTwoPoint(v[0], v[1], v[2]) },
			func(v []float64) float64 { return (v[1] - v[0]) * math.Sqrt(v[2]*(1-v[2])) },
			func(v []float64, s float64) ([]float64, bool) {
				return append(around(v[:2], v[0]+v[2]*(v[1]-v[0]), s), v[2]), true
			}},
		{"normal-gamma", "normal-gamma:0.4,5,3,0.2 · mu, lambda, alpha, beta (of a mean, its precision Gamma(alpha, beta))",
			[]string{"mu", "lambda", "alpha", "beta"},
			func(v []float64) (bandit.Belief, error) { return bandit.NewNormalGamma(v[0], v[1], v[2], v[3]) },
			func(v []float64) float64 {
				if v[2] <= 1 { // Student's t with 2·alpha ≤ 2 degrees of freedom
					return math.Inf(1)
				}
				return math.Sqrt(v[3] / (v[1] * (v[2] - 1)))
			},
			func(v []float64, s float64) ([]float64, bool) {
				return []float64{v[0], v[1], v[2], v[3] * s * s}, true
			}},
		{"population", "population:0.2,0.8,0.5 · members of equal weight; population:@FILE reads them from a file", nil,
			func(v []float64) (bandit.Belief, error) {
				return bandit.NewPopulation(v, bandit.PopulationConfig{})
			},
			func(v []float64) float64 { return math.Sqrt(stat.PopVariance(v, nil)) },
			func(v []float64, s float64) ([]float64, bool) {
				return around(v, stat.Mean(v, nil), s), true
			}},
	}
}

func around(v []float64, mean, s float64) []float64 {
	return each.Of(v, func(x float64) float64 { return mean + s*(x-mean) })
}

// belief is a belief with the words it was given in.
type belief struct {
	is   bandit.Belief
	kind beliefKind
	v    []float64
}

// scaled returns the belief with its deviation from its mean multiplied by s > 0.
func (b *belief) scaled(s float64) (bandit.Belief, bool) {
	v, ok := b.kind.spread(b.v, s)
	if !ok {
		return nil, false
	}
	made, err := b.kind.make(v)
	return made, err == nil
}

// sd returns the standard deviation of the belief, possibly infinite.
func (b *belief) sd() float64 { return b.kind.sd(b.v) }

// params returns the parameters by name, nil for a population.
func (b *belief) params() map[string]float64 {
	if b.kind.params == nil {
		return nil
	}
	m := map[string]float64{}
	for i, name := range b.kind.params {
		m[name] = b.v[i]
	}
	return m
}

// String writes the belief for people.
func (b *belief) String() string {
	if b.kind.params == nil {
		return fmt.Sprintf("population of %d", len(b.v))
	}
	words := make([]string, len(b.v))
	for i, x := range b.v {
		words[i] = b.kind.params[i] + "=" + cli.Given(x)
	}
	return b.kind.name + " " + strings.Join(words, ", ")
}

// parseBelief reads KIND:ARGS.
func parseBelief(text string) (*belief, error) {
	name, args, ok := strings.Cut(text, ":")
	kinds := beliefKinds()
	names := each.Of(kinds, func(k beliefKind) string { return k.name })
	i := slices.Index(names, strings.ReplaceAll(name, "_", "-"))
	if i < 0 {
		hint := "one of " + strings.Join(names, ", ")
		if c := spelling.Closest(name, names); c != "" {
			hint = "did you mean " + c + "?"
		}
		return nil, cli.Usagef("--belief %s: unknown kind %q; %s", text, name, hint)
	}
	kind := kinds[i]
	example, _, _ := strings.Cut(kind.doc, " · ")
	fail := func(format string, a ...any) (*belief, error) {
		return nil, cli.Usagef("--belief %s: %s (for example %s)", text, fmt.Sprintf(format, a...), example)
	}
	if !ok || args == "" {
		what := strings.Join(kind.params, ", ")
		return fail("%s needs %s", kind.name, cmp.Or(what, "at least one member"))
	}
	var v []float64
	var err error
	if kind.params == nil {
		v, err = members(args)
	} else {
		v, err = values(kind.params, args)
	}
	if err != nil {
		return fail("%v", err)
	}
	for _, x := range v { // products of three are numbers
		if size := math.Abs(x); size > 1e100 || size < 1e-100 && size > 0 {
			return fail("%v cannot be computed with: values other than 0 must lie between 1e-100 and 1e100 in size", x)
		}
	}
	made, err := kind.make(v)
	if err != nil {
		return fail("%v", err)
	}
	return &belief{made, kind, v}, nil
}

// values reads "3,4" or "a=3,b=4".
func values(params []string, args string) ([]float64, error) {
	v := make([]float64, len(params))
	seen := make([]bool, len(params))
	for pos, arg := range strings.Split(args, ",") {
		i := pos
		key, value, named := strings.Cut(arg, "=")
		if named {
			if i = slices.Index(params, strings.TrimSpace(key)); i < 0 {
				return nil, fmt.Errorf("there is no %q; its parameters are %s", key, strings.Join(params, ", "))
			}
		} else {
			value = arg
		}
		if i >= len(params) {
			return nil, fmt.Errorf("more than %d values (%s)", len(params), strings.Join(params, ", "))
		}
		if seen[i] {
			return nil, fmt.Errorf("%s is given twice", params[i])
		}
		seen[i] = true
		var err error
		if v[i], err = finite(value); err != nil {
			return nil, fmt.Errorf("%s: %w", params[i], err)
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, fmt.Errorf("%s is missing", params[i])
	}
	return v, nil
}

// maxMembers is the largest file of members of a belief, in bytes.
const maxMembers = 64 << 20

// members reads "0.2,0.8" or "@file", a file of numbers separated by spaces,
// commas or ends of lines.
func members(args string) ([]float64, error) {
	file, ok := strings.CutPrefix(args, "@")
	if !ok {
		var v []float64
		for i, word := range strings.Split(args, ",") {
			x, err := finite(word)
			if err != nil {
				return nil, fmt.Errorf("member %d: %w", i+1, err)
			}
			v = append(v, x)
		}
		return v, nil
	}
	data, err := inputfile.Read(file, maxMembers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, inputfile.Cause(err))
	}
	var v []float64
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n;", r) }) {
			x, err := finite(word)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, line, err)
			}
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("%s holds no numbers", file)
	}
	return v, nil
}

// finite reads a finite number.
func finite(word string) (float64, error) {
	word = strings.TrimSpace(word)
	x, err := strconv.ParseFloat(word, 64)
	if len([]rune(word)) > 40 {
		word = string([]rune(word)[:37]) + "..."
	}
	switch {
	case word == "":
		return 0, errors.New("a number is missing")
	case errors.Is(err, strconv.ErrRange), err == nil && (math.IsInf(x, 0) || math.IsNaN(x)):
		return 0, fmt.Errorf("%s is not a finite number", word)
	case err != nil:
		return 0, fmt.Errorf("%q is not a number", word)
	}
	return x, nil
}
