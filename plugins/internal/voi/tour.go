package voi

// tour returns T₁(s) ("Pairs that share a way"): what the prizes of state s are worth together with those of the states to which
// the agent goes on from there. joined and the prizes of s are up to date. It goes on to the
// state that is worth most from where the last pair of s leads. As in join, the larger prizes
// come first: so no state is twice in a tour.
func (p *Planner) tour(s int, prizes []float64) joint {
	if p.joined[s].advantage <= least {
		return p.joined[s]
	}
	last := s*p.belief.actions + p.gains.byPrize[0]
	best, to := float64(least), -1
	try := func(y int) {
		if p.tours[y].advantage <= best || p.joined[y].advantage <= least || !p.precedes(s, y) { // the way does not add to it
			return
		}
		p.gains.work += 16
		if x := p.gains.onward(last, y, p.tours[y]); x.advantage > best {
			best, to = x.advantage, y
		}
	}
	try(int(p.onward[s])) // which was best: then few others can be better
	for y := range p.joined {
		try(y)
	}
	p.onward[s] = int32(max(to, 0))
	if to < 0 {
		return p.joined[s]
	}
	return p.gains.join(s, prizes, to, p.tours[to])
}

// precedes reports whether state s comes before y in tours.
func (p *Planner) precedes(s, y int) bool {
	if x, z := p.joined[s].advantage, p.joined[y].advantage; x != z {
		return x > z
	}
	return s < y
}
