package voi

import "slices"

// Belief is what has been seen of an unknown finite MDP, and an empirical Bayes prior
// of the rest. It grows with the states visited; states that were declared but never
// visited change nothing.
type Belief struct {
	actions  int
	bounds          // rewards are stored in their units, except values and payments
	pairs    []pair // of state s and action a: s*actions+a
	end      int32  // the state of addEnd, or −1
	near     [][]int32
	before   [][]int32 // by state: states known to lead there
	back     [][]int32 // by state: those of them that it is not known to lead to
	parent   []int32   // by state: the state from which it was first entered, or −1
	children []int     // by state: how many states were first entered from it
	entries  []float64 // by state: pairs known to lead there that neither is near nor leads back

	successors, rewards mixture
	discovered          discoveries
	nearby, placed      float64   // new successors that are near, and all that could have been
	stayed, couldStay   float64   // of the near ones, those that are the state itself, and all that could have been
	returns, left       float64   // of the others, those that lead back, and all that could have
	tried               float64   // pairs
	sumMeans            float64   // of mean rewards of tried pairs
	paid                []payment // distinct rewards, the last maxPayments
	payments            int       // how many there were
	steps               float64
	changes             changes
	watches             []watch // by pair
	spent, since        float64 // sum of gaps of steps that explored, and since the last state was visited first

	common      int     // how often what rows have in common has changed: the mixtures, the payments and the bounds
	surprised   float64 // surprise of a pair that has paid many
	surprisedAt int     // when common had this value
	unread      []bool  // by pair: its row has changed since it was last read
	kinds       []kind  // by pair
	unsorted    []bool  // by state: the kinds of its pairs may have changed
}

// pair is what has been seen of a state and action.
type pair struct {
	n        float64
	next     []int32 // distinct successors
	count    []float64
	mean, m2 float64   // of rewards
	values   []float64 // distinct rewards as they were paid, at most maxValues of them
	paid     []float64 // how often each of them was
	toNext   likelihood
	toReward likelihood
}

// payment is a reward as it was paid, and how many pairs have paid it.
type payment struct{ reward, pairs float64 }

const maxValues, maxPayments = 8, 64

// NewBelief returns a belief about a task with the given number of actions ≥ 1,
// before any state was seen. Rewards are between low and high. low = high means that no other
// reward is known. A bound of −Inf or +Inf is not known, and is learned from the rewards.
func NewBelief(actions int, low, high float64) *Belief {
	b := &Belief{actions: actions, end: -1, bounds: newBounds(low, high), successors: newMixture(2), rewards: newMixture(0)}
	b.discovered = newDiscoveries(actions)
	return b
}

// States returns the number of states visited so far.
func (b *Belief) States() int {
	if b.end >= 0 {
		return b.size() - 1
	}
	return b.size()
}

// size returns the number of states added so far, the end among them.
func (b *Belief) size() int { return len(b.near) }

// Tried returns the number of pairs of a state and an action that have been tried.
func (b *Belief) Tried() int { return int(b.tried) }

// addState adds a state on its first visit and returns its number, counted from 0.
func (b *Belief) addState() int {
	s := len(b.near)
	b.since = 0
	for range b.actions {
		b.pairs = append(b.pairs, pair{toNext: flat, toReward: flat})
		b.watches = append(b.watches, watch{})
		b.kinds = append(b.kinds, kind{})
		b.unread = append(b.unread, true)
	}
	b.unsorted = append(b.unsorted, true)
	b.near = append(b.near, []int32{int32(s)})
	b.before = append(b.before, nil)
	b.back = append(b.back, nil)
	b.parent, b.children = append(b.parent, -1), append(b.children, 0)
	b.entries = append(b.entries, 0)
	return s
}

// addEnd adds the end of an episode and returns its number. It is a state without actions, reward
// or duration, from which the next episode begins. There is at most one.
func (b *Belief) addEnd() int {
	b.end = int32(b.addState())
	return int(b.end)
}

// ends reports whether a state is the end of an episode.
func (b *Belief) ends(s int) bool { return int32(s) == b.end }

// begin records that an episode began in a state. All episodes begin alike, so this is learned
// once, whichever pair ended the one before. It reports whether none had begun there.
func (b *Belief) begin(s int) bool {
	p := &b.pairs[int(b.end)*b.actions] // the end has one row, that of its first action
	p.n++
	b.unsorted[b.end] = true
	if k := slices.Index(p.next, int32(s)); k >= 0 {
		p.count[k]++
		return false
	}
	p.next, p.count = append(p.next, int32(s)), append(p.count, 1)
	b.before[s] = append(b.before[s], b.end)
	return true
}

// learn records that action a in state s was paid reward and led to next. It
// reports whether the pair had not shown this successor, or this reward, before, or has begun anew.
func (b *Belief) learn(s, a int, reward float64, next int) bool {
	b.centre(reward)
	i := s*b.actions + a
	p := &b.pairs[i]
	b.steps++
	b.unread[i], b.unsorted[s] = true, true
	isNew := !slices.Contains(p.next, int32(next))
	if isNew {
		b.addSuccessor(s, a, p, next)
	}
	value := !slices.Contains(p.values, reward)
	room := value && len(p.values) < maxValues
	begins := b.changes.watched && p.n > 0 && b.review(i, reward, next)
	if !begins {
		if p.n == 0 {
			b.tried++
		} else {
			b.sumMeans -= p.mean
		}
		b.show(p, reward, next)
		b.sumMeans += p.mean
	}
	if room {
		b.pay(reward)
	}
	if b.learnsLow && p.mean < -slack || b.learnsHigh && p.mean > 1+slack {
		b.outside = true
	}
	b.watches[i].last = b.steps
	return begins || isNew || value && len(p.values) < maxValues
}

// show adds to a row that it has shown a successor and a reward.
func (b *Belief) show(p *pair, reward float64, next int) {
	r, k := b.measure(reward), slices.Index(p.next, int32(next))
	v := slices.Index(p.values, reward)
	if p.n > 0 {
		b.successors.observe(&p.toNext, p.n, 1, k < 0)
		b.rewards.observe(&p.toReward, p.n, b.unpaid(p), v < 0)
		p.m2 += (r - p.mean) * (r - p.mean) * p.n / (p.n + 1)
	}
	if k < 0 {
		p.next, p.count = append(p.next, int32(next)), append(p.count, 0)
		k = len(p.next) - 1
	}
	p.count[k]++
	if v < 0 && len(p.values) < maxValues {
		p.values, p.paid = append(p.values, reward), append(p.paid, 0)
		v = len(p.values) - 1
	}
	if v >= 0 {
		p.paid[v]++
	}
	p.n++
	p.mean += (r - p.mean) / p.n
}

// addSuccessor adds a successor that a pair, action a in state s, had not shown.
func (b *Belief) addSuccessor(s, a int, p *pair, next int) {
	near := slices.Contains(b.near[s], int32(next))
	found := !near && len(b.before[next]) == 0 && !b.triedIn(next) && !b.ends(next)
	b.discovered.observe(b.kind(s, a), found)
	if found {
		b.parent[next] = int32(s)
		b.children[s]++
	} else {
		b.place(s, next, near, slices.Contains(p.next, int32(s)))
	}
	if !near {
		if k := slices.Index(b.back[s], int32(next)); k >= 0 {
			b.back[s] = slices.Delete(b.back[s], k, k+1)
		}
		if !slices.Contains(b.near[next], int32(s)) {
			b.back[next] = append(b.back[next], int32(s))
			b.unsorted[next] = true
		}
		b.near[s] = append(b.near[s], int32(next))
		b.before[next] = append(b.before[next], int32(s))
	}
}

// kindsOf returns the kinds of the pairs of a state.
func (b *Belief) kindsOf(s int) []kind {
	kinds := b.kinds[s*b.actions : (s+1)*b.actions]
	if b.unsorted[s] {
		b.unsorted[s] = false
		for a := range kinds {
			kinds[a] = b.kind(s, a)
		}
	}
	return kinds
}

// kind returns the kind of a pair, on which the probability of finding states depends.
func (b *Belief) kind(s, a int) kind {
	return kindOf(b.pairs[s*b.actions+a].n, len(b.near[s]), b.children[s], b.known(s, a), a)
}

// known tells which known states the next new successor of a pair could be. It
// has one bit each for the state itself, its known successors, and its known
// predecessors.
func (b *Belief) known(s, a int) (bits int) {
	next := b.pairs[s*b.actions+a].next
	for _, y := range b.near[s] {
		switch {
		case slices.Contains(next, y):
		case int(y) == s:
			bits |= 1
		default:
			bits |= 2
		}
	}
	if len(b.back[s]) > 0 {
		bits |= 4
	}
	return bits
}

// place counts where a new successor of s that was visited before is. stays tells that the pair
// is known to lead to s.
func (b *Belief) place(s, next int, near, stays bool) {
	if near && !stays && len(b.near[s]) > 1 {
		b.couldStay++
		if next == s {
			b.stayed++
		}
	}
	if b.triedIn(s) { // then neighbours could have explained it
		b.placed++
		if near {
			b.nearby++
		}
	}
	if near {
		return
	}
	if len(b.back[s]) > 0 {
		b.left++
	}
	if slices.Contains(b.back[s], int32(next)) {
		b.returns++
	} else {
		b.entries[next]++
	}
}

func (b *Belief) triedIn(s int) bool {
	for i := range b.actions {
		if b.pairs[s*b.actions+i].n > 0 {
			return true
		}
	}
	return false
}

// fit fits both mixtures to what has been seen.
func (b *Belief) fit() {
	b.common++
	each := func(of func(*pair) *likelihood) func(func(*likelihood) bool) {
		return func(yield func(*likelihood) bool) {
			for i := range b.pairs {
				if p := &b.pairs[i]; p.n > 1 && !b.ends(i/b.actions) && !yield(of(p)) {
					return
				}
			}
		}
	}
	b.successors.fit(each(func(p *pair) *likelihood { return &p.toNext }))
	b.rewards.fit(each(func(p *pair) *likelihood { return &p.toReward }))
}

// meanReward is the mean reward of a pair that was never tried: pairs' mean rewards
// are a Dirichlet process of concentration 1 over a uniform base.
func (b *Belief) meanReward() float64 { return (b.sumMeans + 0.5) / (b.tried + 1) }

// pay counts a reward that is new to a pair.
func (b *Belief) pay(r float64) {
	b.common++
	if k := slices.IndexFunc(b.paid, func(x payment) bool { return x.reward == r }); k >= 0 {
		b.paid[k].pairs++
		return
	}
	if len(b.paid) < maxPayments {
		b.paid = append(b.paid, payment{r, 1})
	} else {
		b.paid[b.payments%maxPayments] = payment{r, 1}
	}
	b.payments++
}

// couldPay reports whether a reward would be new to a pair. To a pair that has paid many every
// reward is.
func (p *pair) couldPay(r float64) bool { return p.paidMany() || !slices.Contains(p.values, r) }

// paidMany reports whether a pair has paid so many rewards that they are no longer told apart.
func (p *pair) paidMany() bool { return len(p.values) == maxValues }

// surprise is the mean of a reward that is new to a tried pair. Rewards are a
// Dirichlet process of concentration 1 over a uniform base, and the rewards of
// each pair are drawn from it.
func (b *Belief) surprise(p *pair) float64 {
	if !p.paidMany() {
		return b.surpriseAnew(p)
	}
	if b.surprisedAt != b.common { // it is the same for all such pairs
		b.surprisedAt, b.surprised = b.common, b.surpriseAnew(p)
	}
	return b.surprised
}

func (b *Belief) surpriseAnew(p *pair) float64 {
	sum, weight := 0.5, 1.0
	for _, x := range b.paid {
		if p.couldPay(x.reward) {
			sum += x.pairs * b.measure(x.reward)
			weight += x.pairs
		}
	}
	return sum / weight
}

// unpaid is the probability that a reward drawn like those of any pair is new to this one.
func (b *Belief) unpaid(p *pair) float64 {
	if p.paidMany() {
		return 1
	}
	rest, all := 1.0, 1.0
	for _, x := range b.paid {
		all += x.pairs
		if p.couldPay(x.reward) {
			rest += x.pairs
		}
	}
	return rest / all
}

// unlike is the probability that two rewards drawn like those of any pair differ.
func (b *Belief) unlike() float64 {
	same, all := 0.0, 1.0
	for _, x := range b.paid {
		same += x.pairs * x.pairs
		all += x.pairs
	}
	return 1 - same/all/all
}

// nearShare is the probability that a new successor of a state, if it was visited, is the state
// itself or one that it is already known to lead to.
func (b *Belief) nearShare() float64 { return (0.5 + b.nearby) / (1 + b.placed) }

// selfShare is the probability that a near successor of state s is s itself.
func (b *Belief) selfShare(s int) float64 {
	if len(b.near[s]) == 1 {
		return 1
	}
	return (0.5 + b.stayed) / (1 + b.couldStay)
}

// nearMean is the mean of x over the near successors of state s, which comes first among them.
func (b *Belief) nearMean(s int, x []float64) float64 {
	self, sum := b.selfShare(s), 0.0
	others := b.near[s][1:]
	if len(others) == 0 {
		return x[s]
	}
	for _, y := range others {
		sum += x[y]
	}
	return self*x[s] + (1-self)*sum/float64(len(others))
}

// toFind is what finding all states has cost, if finding the others was like finding the next one.
// A rate of finds by cost is learned: one find at the price so far counts as an observation, and
// none since the last one.
func (b *Belief) toFind() float64 { return b.spent + float64(b.States())*b.since }

// backShare is the probability that a new successor which is not near is a state that is
// known to lead to this one, if there is such a state.
func (b *Belief) backShare() float64 { return (0.5 + b.returns) / (1 + b.left) }

// stayShare is the share of pairs that mostly stay where they are.
func (b *Belief) stayShare() float64 {
	stay := 0.5
	for i := range b.pairs {
		p := &b.pairs[i]
		if k := slices.Index(p.next, int32(i/b.actions)); k >= 0 && p.count[k] > 0.5*p.n {
			stay++
		}
	}
	return stay / (1 + b.tried)
}
