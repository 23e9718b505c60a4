package voi

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// changes are what is believed of how the task changes ("A task that changes").
type changes struct {
	watched bool
	hazard  float64 // probability of a change of the task per step; negative if it is learned
	horizon float64 // steps of a run
	noticed []span  // changes of the task, in their order
	yes, no float64 // rows that were tried again after a change, by whether they had changed
	due     bool    // a change was noticed that no plan knows
}

// span is between which steps something happened: after the first, and not after the last.
type span struct{ after, until float64 }

// watch is what tells whether a row has changed.
type watch struct {
	last   float64 // step of the last try
	when   span    // of a change, if it has changed
	recent *pair   // what it has shown since
	prior  float64 // logarithm of the odds of the change before what it has shown since
	by     evidence
}

// evidence is the logarithm of how much more probable successors and rewards are if a row has changed.
type evidence struct{ next, reward float64 }

func (x evidence) plus(y, less evidence) evidence {
	return evidence{x.next + y.next - less.next, x.reward + y.reward - less.reward}
}

// total is the logarithm of the mean of both ratios, which is evidence whether or not rewards depend on successors. Evidence against a change is
// their product, if that is less.
func (x evidence) total() float64 {
	most := max(x.next, x.reward)
	return min(x.next+x.reward, most+math.Log((1+math.Exp(-math.Abs(x.next-x.reward)))/2))
}

// Watch lets the belief expect that the task changes: with probability hazard in (0,1) per step, or at
// a rate that is learned if hazard is negative. Runs have so many steps.
func (b *Belief) Watch(hazard, horizon float64) {
	b.changes = changes{watched: true, hazard: hazard, horizon: horizon}
}

// share is the probability that a row changes when the task does.
func (c *changes) share() float64 { return (1 + c.yes) / (2 + c.yes + c.no) }

// rate is the rate at which rows change.
func (b *Belief) rate() float64 {
	switch c := &b.changes; {
	case !c.watched:
		return 0
	case c.hazard >= 0:
		return c.hazard * c.share()
	case len(c.noticed) > 0:
		return float64(len(c.noticed)) / max(1, b.steps) * c.share()
	}
	return 0
}

// lasting returns for how many of the steps that are left a row stays as it is, in the mean and as
// those of a discounted sum.
func (b *Belief) lasting(horizon float64) float64 { return horizon / (1 + horizon*b.rate()) }

// changed returns the probability that a pair has changed since its last try because of changes that were noticed, and that of others.
func (b *Belief) changed(i int) (noticed, others float64) {
	w, stays := &b.watches[i], 1.0
	for k := len(b.changes.noticed) - 1; k >= 0 && b.changes.noticed[k].until > w.last; k-- {
		stays *= 1 - b.changes.share()
	}
	return 1 - stays, -math.Expm1(-b.rate() * (b.steps - w.last))
}

// suspicion is the probability that a pair has changed since its last try, as it counts in plans for so
// many steps. The next look would find out a change that was not noticed. So trying now tells of it only until then, and that is
// taken to be as far away as the last try.
func (b *Belief) suspicion(i int, horizon float64) float64 {
	if b.rate() == 0 || b.pairs[i].n == 0 || b.ends(i/b.actions) {
		return 0
	}
	noticed, others := b.changed(i)
	return noticed + (1-noticed)*others*min(1, (b.steps-b.watches[i].last)/horizon)
}

// review takes in what a pair shows that was tried before: it compares the row so far with a row that
// has begun anew. It reports whether the pair begins anew.
func (b *Belief) review(i int, reward float64, next int) bool {
	w, p := &b.watches[i], &b.pairs[i]
	noticed, others := b.changed(i)
	least := -math.Log(20 * max(b.changes.horizon, b.steps)) // of the odds: one change in twenty runs
	prior := max(least, logit(noticed+(1-noticed)*others))
	var none pair
	old := b.shows(p, p, reward, next)
	begins := evidence{}.plus(b.shows(&none, p, reward, next), old)
	odds := prior + begins.total()
	if w.recent == nil {
		w.recent = &pair{}
		w.forget()
	}
	if by := w.by.plus(b.shows(w.recent, p, reward, next), old); w.recent.n > 0 && w.prior+by.total() > odds {
		odds, w.by = w.prior+by.total(), by
	} else {
		w.forget()
		w.when, w.prior, w.by = span{w.last, b.steps}, prior, begins
	}
	if noticed > 0 {
		q := 1 / (1 + math.Exp(-odds))
		b.changes.yes += q
		b.changes.no += 1 - q
	}
	b.show(w.recent, reward, next)
	if odds <= 0 {
		return false
	}
	b.notice(w.when)
	b.sumMeans += w.recent.mean - p.mean
	*p, *w.recent = *w.recent, *p
	w.forget()
	return true
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// forget empties what a pair has shown recently.
func (w *watch) forget() {
	if p := w.recent; p != nil {
		*p = pair{next: p.next[:0], count: p.count[:0], values: p.values[:0], paid: p.paid[:0], toNext: flat, toReward: flat}
	}
}

// notice records that a row has changed: with a change of the task that was noticed if it may have been then, or else with another one.
func (b *Belief) notice(when span) {
	c := &b.changes
	for k := len(c.noticed) - 1; k >= 0 && c.noticed[k].until > when.after; k-- {
		if x := &c.noticed[k]; x.after < when.until {
			x.after, x.until = max(x.after, when.after), min(x.until, when.until)
			return
		}
	}
	k := len(c.noticed)
	for k > 0 && c.noticed[k-1].until > when.until {
		k--
	}
	c.noticed, c.due = slices.Insert(c.noticed, k, when), true
}

// shows returns the logarithms of the predictive probabilities of a successor and a reward ("A task that
// changes"). They are those of what: the row itself, or one that has begun anew. old is the row so far.
// States and rewards that were not shown are drawn from the same base.
func (b *Belief) shows(what, old *pair, reward float64, next int) (x evidence) {
	states := float64(b.size() + 1) // and one that was never visited
	p := 1 / states
	if what.n > 0 {
		fresh := b.successors.predict(&what.toNext, what.n, 1)
		if k := slices.Index(what.next, int32(next)); k >= 0 {
			p = (1 - fresh) * what.count[k] / what.n
		} else {
			p = fresh / max(1, states-float64(len(what.next)))
		}
	}
	x.next = math.Log(p)
	if len(old.values) == maxValues {
		x.reward = b.logDensity(what, old, b.measure(reward))
		return x
	}
	all, share := 1.0, 1.0
	for _, x := range b.paid {
		all += x.pairs
		if x.reward == reward {
			share = x.pairs
		}
	}
	q := share / all
	if what.n > 0 {
		unpaid := b.unpaid(what)
		fresh := b.rewards.predict(&what.toReward, what.n, unpaid)
		if k := slices.Index(what.values, reward); k >= 0 {
			q = (1 - fresh) * what.paid[k] / what.n
		} else {
			q *= fresh / unpaid
		}
	}
	x.reward = math.Log(q)
	return x
}

// logDensity returns the logarithm of the density of a reward, for a row whose rewards all differ. It is
// Student's t, the predictive distribution of normal rewards of unknown mean and variance (Gelman et al. 2013,
// §3.2), with the degrees of freedom and the variance of the row so far. The mean of a row that begins anew
// has a normal prior with the mean and the variance of a uniform variable.
func (b *Belief) logDensity(what, old *pair, r float64) float64 {
	variance := max(old.m2/(old.n-1), 1e-12)
	mean, spread := 0.5, 1./12
	if what == old {
		mean, spread = old.mean, variance/old.n
	} else if what.n > 0 {
		weight := what.n / variance
		mean, spread = (12*0.5+weight*what.mean)/(12+weight), 1/(12+weight)
	}
	dof, scale := old.n-1, variance+spread
	z := (r - mean) * (r - mean) / scale
	return -(dof+1)/2*math.Log1p(z/dof) - 0.5*math.Log(dof*scale) - mathext.Lbeta(dof/2, 0.5)
}
