package tabularagents

import (
	"math"
	"slices"

	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
)

// planned has the values of policies for the members of an ensemble with replays. Where
// the values of actions come from planning, those of policies must come from it, too: values
// that are learned step by step lag behind, and the difference would look like a gain. A
// member is a model: from a pair with the weights w it pays Σwr/(w₀ + Σw) and leads to where the
// steps led. With probability w₀/(w₀ + Σw) it leads to the unknown, which pays the initial value
// for ever. At a decision each policy is followed in every member from the present
// state on, for two horizons 1/(1−γ); the rewards of the second half go on for ever. All
// members lie side by side, as in the ensemble.
type planned struct {
	*replay
	policies []options.TableOption // of the host's tables: at each decision those that it is between
	each     bool                  // every first action is wanted, then the greedy policy
	steps    int                   // for which a policy is followed
	e        []float64             // E_pk(s,a) in the present state at (a*P+p)*K+k
	pay      []float64             // scratch: expected rewards, by step and member
	promises []float64             // scratch: the same of the member of interest, with the whole of the unknown when it is reached
	lasts    []float64             // scratch: for how many steps it is paid these: 1/(1−γ) for the unknown
	interest int                   // that member
	now      frontier              // scratch
	then     frontier              // scratch
	gone     []float64             // scratch: what the unknown pays, by member
	acts     []int32               // scratch: the actions of a policy, or unasked
	asked    []int32               // scratch: the states of which they are known
	means    []float64             // scratch
	chance   []float64             // scratch, by member
	worth    []float64             // scratch, by member
	declared                       // an option that is followed before the policy
}

// declared is a declared option on its way: where it may be while it has not ended.
type declared struct {
	option    *options.DeclaredOption // nil if a policy is followed from the beginning on
	on        frontier
	onThen    frontier
	probs     []float64
	taken     []float64 // scratch, by member
	durations float64   // E of its duration, summed over the members
}

// frontier is where one may be after a number of steps.
type frontier struct {
	states []int32
	listed []bool
	mass   []float64 // of state s and member k at s*K+k
}

func (f *frontier) add(s int) {
	if !f.listed[s] {
		f.listed[s] = true
		f.states = append(f.states, int32(s))
	}
}

func (f *frontier) clear(k int) {
	for _, s := range f.states {
		f.listed[s] = false
		clear(f.mass[int(s)*k:][:k])
	}
	f.states = f.states[:0]
}

// unasked and uniformly are no actions.
const unasked, uniformly = -1, -2

// mostFollowed bounds the steps for which a policy is followed.
const mostFollowed = 1000

func newPlanned(y *replay, t *options.Tables) *planned {
	k, states, policies := y.Members, len(y.number), t.EvaluatedPolicies()
	x := &planned{
		replay: y, policies: policies, each: t.NeedsDeviations(),
		steps: min(int(math.Ceil(2/(1-y.Gamma))), mostFollowed),
		e:     make([]float64, y.actions*len(policies)*k), gone: make([]float64, k),
		acts: make([]int32, states), means: make([]float64, y.actions), chance: make([]float64, k), worth: make([]float64, k),
	}
	x.pay, x.promises, x.lasts = make([]float64, x.steps*k), make([]float64, x.steps), make([]float64, x.steps)
	for _, f := range []*frontier{&x.now, &x.then} {
		f.listed, f.mass = make([]bool, states), make([]float64, states*k)
	}
	for s := range x.acts {
		x.acts[s] = unasked
	}
	if slices.Contains(t.Kinds, options.Declared) {
		for _, f := range []*frontier{&x.on, &x.onThen} {
			f.listed, f.mass = make([]bool, states), make([]float64, states*k)
		}
		x.probs, x.taken = make([]float64, y.actions), make([]float64, k)
	}
	return x
}

// declaredValue writes into dst, by member, what it is worth to follow an option from s on and
// then the greedy policy. It returns the mean duration that the members expect; one that comes
// to the unknown has ended.
func (y *planned) declaredValue(dst []float64, o *options.DeclaredOption, s int) (steps float64) {
	y.option, y.durations = o, 0
	y.follow(dst, 0, s, unasked)
	y.option = nil
	y.on.clear(y.Members)
	return y.durations / float64(y.Members)
}

// stepOption is a step of the option, of all states where it may be. It leaves in then where
// the option has ended, and in on where it has not.
func (y *planned) stepOption(pay []float64) {
	k := y.Members
	y.then, y.onThen = y.onThen, y.then
	for _, s := range y.on.states {
		s := int(s)
		mass := y.on.mass[s*k:][:k]
		y.option.Distribution(y.probs, s, 0)
		for _, m := range mass {
			y.durations += m
		}
		for a, p := range y.probs {
			if p == 0 {
				continue
			}
			for m := range y.taken {
				y.taken[m] = p * mass[m]
			}
			y.leave(pay, y.taken, s*y.actions+a)
		}
	}
	y.then, y.onThen = y.onThen, y.then
	y.on.clear(k)
	for _, s := range y.onThen.states {
		s := int(s)
		end, mass := y.option.End[s], y.onThen.mass[s*k:][:k]
		if end > 0 {
			y.then.add(s)
		}
		if end < 1 {
			y.on.add(s)
		}
		for m, x := range mass {
			if end > 0 {
				y.then.mass[s*k+m] += end * x
			}
			if end < 1 {
				y.on.mass[s*k+m] += (1 - end) * x
			}
		}
	}
	y.onThen.clear(k)
}

// state returns the values of the policies in s.
func (y *planned) state(s int) []float64 {
	k := y.Members
	for p := range y.policies {
		first := y.act(p, s)
		for a := range y.actions {
			if a == first || first == uniformly || p == 0 && y.each {
				y.follow(y.e[(a*len(y.policies)+p)*k:][:k], p, s, a)
			}
		}
	}
	return y.e
}

// act returns the action of policy p in s, or uniformly.
func (y *planned) act(p, s int) int {
	switch o := y.policies[p]; o.Kind {
	case options.Members, options.DrawnMember:
		return y.prefers(o.Of, s)
	case options.Constants:
		return o.Of
	case options.Uniform:
		return uniformly
	}
	k := y.Members
	for a := range y.means {
		sum := 0.0
		for _, v := range y.q[(s*y.actions+a)*k:][:k] {
			sum += v
		}
		y.means[a] = sum
	}
	return argmax.First(y.means)
}

// follow writes into dst, by member, what it is worth to take an action in s and then to
// follow policy p. It leaves the expected rewards in pay, and returns their number of steps.
func (y *planned) follow(dst []float64, p, s, first int) int {
	k := y.Members
	defer func() {
		y.now.clear(k)
		y.then.clear(k)
		for _, s := range y.asked {
			y.acts[s] = unasked
		}
		y.asked = y.asked[:0]
	}()
	clear(dst)
	clear(y.gone)
	begin := &y.now
	if y.option != nil {
		begin = &y.on
	}
	begin.add(s)
	for m := range k {
		begin.mass[s*k+m] = 1
	}
	factor, on := 1-y.Gamma, 1.0 // on: the probability that the member of interest is not in the unknown
	for t := range y.steps {
		pay := y.pay[t*k:][:k]
		copy(pay, y.gone)
		gone, of, was := y.gone[y.interest], y.interest, on
		for _, s := range y.now.states {
			s := int(s)
			a := first
			if t > 0 || a == unasked {
				a = y.asks(p, s)
			}
			mass := y.now.mass[s*k:][:k]
			if a != uniformly {
				y.leave(pay, mass, s*y.actions+a)
				continue
			}
			for m := range mass {
				mass[m] /= float64(y.actions)
			}
			for a := range y.actions {
				y.leave(pay, mass, s*y.actions+a)
			}
		}
		if y.option != nil {
			y.stepOption(pay)
		}
		for m, r := range pay {
			dst[m] += factor * r
		}
		began := y.gone[of] - gone // what has begun to pay for ever
		y.promises[t] = pay[of] - gone - began + began/(1-y.Gamma)
		on = 0
		for _, s := range y.then.states {
			on += y.then.mass[int(s)*k+of]
		}
		y.lasts[t] = on + (was-on)/(1-y.Gamma)
		factor *= y.Gamma
		y.now.clear(k)
		y.now, y.then = y.then, y.now
		known := len(y.now.states)+len(y.on.states) == 0 // there is nothing but the unknown any more
		if known || t == y.steps-1 || y.settles(t) {
			rest := factor / (1 - y.Gamma)
			for m := range dst {
				rate := y.gone[m]
				if !known {
					rate = y.secondHalf(t, m)
				}
				dst[m] = (dst[m] + rest*rate) / (1 - y.Gamma)
			}
			return t + 1
		}
	}
	return y.steps
}

// secondHalf returns the mean reward of member m in the second half of the steps up to t.
func (y *planned) secondHalf(t, m int) float64 {
	sum, half := 0.0, (t+1)/2
	for u := half; u <= t; u++ {
		sum += y.pay[u*y.Members+m]
	}
	return sum / float64(t+1-half)
}

// settles reports whether the rewards in the second half of the steps up to t were equal. It
// looks at every eighth step.
func (y *planned) settles(t int) bool {
	if t%8 != 7 {
		return false
	}
	k := y.Members
	now := y.pay[t*k:][:k]
	for u := t / 2; u < t; u++ {
		for m, r := range y.pay[u*k:][:k] {
			if math.Abs(r-now[m]) > y.least {
				return false
			}
		}
	}
	return true
}

// asks is act, which it asks once for each state.
func (y *planned) asks(p, s int) int {
	if y.acts[s] == unasked {
		y.acts[s] = int32(y.act(p, s))
		y.asked = append(y.asked, int32(s))
	}
	return int(y.acts[s])
}

// leave takes pair i with the given mass, by member. It adds what this pays.
func (y *planned) leave(pay, mass []float64, i int) {
	k := len(mass)
	row, prior := y.pair(i)
	w0, scale := *y.PriorWeight, 1-y.Gamma
	if row.sums == nil {
		for m, x := range mass {
			x *= scale * prior[m]
			pay[m] += x
			y.gone[m] += x
		}
		return
	}
	chance, gone, total, reward := y.chance[:k], y.gone[:k], row.sums[:k], row.sums[k:][:k]
	for m, x := range mass {
		n := w0 + total[m]
		if n == 0 {
			n, chance[m] = 1, 0
			x *= scale * prior[m]
			pay[m] += x
			gone[m] += x
			continue
		}
		c := x / n
		x = c * w0 * scale * prior[m]
		pay[m] += x + c*reward[m]
		gone[m] += x
		chance[m] = c
	}
	for j, u := range row.next {
		y.then.add(int(u))
		to, weight := y.then.mass[int(u)*k:][:k], row.weight(j, k)
		for m, w := range weight {
			to[m] += chance[m] * w
		}
	}
}

// shows returns the first number of steps t in which policy p, from s on, is expected to
// earn t(v(y) + (v(x)−v(y))/2) in member m: half of the lead over the greedy policy that it
// promises. There is such a number, since the mean over a geometric time is v(x) a
// step (docs/theory.md §3.2).
func (y *planned) shows(p, s, m int) int {
	k, first := y.Members, y.act(p, s)
	x := y.e[(first*len(y.policies)+p)*k+m]
	g := y.e[y.act(0, s)*len(y.policies)*k+m]
	promised := (1 - y.Gamma) * (g + x) / 2
	if !(x > g) {
		return 1
	}
	y.interest = m
	steps := y.follow(y.worth, p, s, first)
	earned := 0.0 // more than promised
	for t := range steps {
		earned += y.promises[t] - y.lasts[t]*promised
		if earned >= 0 {
			return t + 1
		}
	}
	return y.steps
}
