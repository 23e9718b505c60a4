package handmade

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// coins calls f with every outcome of independent coins, of which ps are the chances of heads.
// Bit i of heads is coin i.
func coins(ps []float64, f func(heads int, p float64)) {
	for heads := range 1 << len(ps) {
		all := 1.0
		for i, p := range ps {
			if heads>>i&1 == 0 {
				p = 1 - p
			}
			all *= p
		}
		if all > 0 {
			f(heads, all)
		}
	}
}

// binomial calls f with every number of heads of n coins and its probability.
func binomial(n int, chance float64, f func(heads int, p float64)) {
	p := math.Pow(1-chance, float64(n))
	for k := range n + 1 {
		f(k, p)
		p *= float64(n-k) / float64(k+1) * chance / (1 - chance)
	}
}

// beehives is a hive through the seasons: the honey in it (0 to 9), spring to winter, and a weak or
// strong colony. The beekeeper takes no, 1, 2 or 4 frames of honey, which pay 1 each, or feeds
// sugar for two, which costs 1.6. A colony that starves gets weak; if it is weak already, a new one
// is bought.
func beehives(*rand.Rand) (*mdp.Tabular, error) {
	const most, seasons = 9, 4
	flow := [2][seasons]int{{1, 2, 0, -2}, {2, 4, 1, -4}}
	harvest := [5]int{0, 1, 2, 4, 0}
	return mdp.Generate(define((most+1)*seasons*2, 5, 3), func(s, a int, row *mdp.Row) {
		honey, season, strong := s%(most+1), s/(most+1)%seasons, s/(most+1)/seasons
		taken := min(honey, harvest[a])
		honey -= taken
		row.Reward(float64(taken))
		if a == 4 {
			honey += 2
			row.Reward(-1.6)
		}
		for bad, p := range [2]float64{0.6, 0.4} { // weather
			h, colony, cost := honey+flow[strong][season]-bad, strong, 0.0
			if season < 2 {
				h -= bad
			}
			if h < 0 && strong == 0 {
				h, cost = 2, -5
			} else if h < 0 {
				h, colony = 0, 0
			}
			h = min(h, most)
			change := 0.0 // a colony grows, or a swarm leaves it
			if season == 0 && strong == 1 {
				change = 0.2
			} else if season < 2 && h >= 3 {
				change = 0.6 * float64(1-strong)
			}
			next := func(colony int) int { return h + (most+1)*((season+1)%seasons+seasons*colony) }
			row.AddRewarded(next(1-colony), p*change, cost)
			row.AddRewarded(next(colony), p*(1-change), cost)
		}
	})
}

// spareEngines keeps five aircraft in the air with eight engines. State: engines that are broken,
// and engines in the distant shop. The planner sends up to three to the shop by truck, or swaps one
// at once for 9. A truck costs 3 and 1 for each engine, an aircraft without an engine 10 a week.
func spareEngines(*rand.Rand) (*mdp.Tabular, error) {
	const engines, aircraft, out = 8, 5, 6
	var states [][2]int
	index := map[[2]int]int{}
	for broken := range out + 1 {
		for shop := range out + 1 - broken {
			index[[2]int{broken, shop}] = len(states)
			states = append(states, [2]int{broken, shop})
		}
	}
	return mdp.Generate(define(len(states), 5, 0), func(s, a int, row *mdp.Row) {
		broken, inShop := states[s][0], states[s][1]
		sent := 0
		if a == 4 {
			row.Reward(-9)
			broken = max(0, broken-1)
		} else if sent = min(a, broken); sent > 0 {
			row.Reward(-3 - float64(sent))
		}
		broken -= sent
		flying := min(aircraft, engines-broken-sent-inShop)
		row.Reward(-10 * float64(aircraft-flying))
		binomial(inShop, 0.35, func(back int, p float64) {
			shop := inShop - back + sent
			binomial(flying, 0.15, func(fail int, q float64) {
				row.Add(index[[2]int{min(broken+fail, out-shop), shop}], p*q)
			})
		})
	})
}

// skiLift has a queue (in hundreds of skiers), calm, gusty or stormy wind, and a lift that runs or
// stands. It may be stopped, run slowly or at full speed. A hundred skiers pay 1, full speed costs
// more power, and if the wind stops a lift with people on it, to fetch them down costs 12.
func skiLift(*rand.Rand) (*mdp.Tabular, error) {
	const longest, winds = 6, 3
	wind := [winds][winds]float64{{0.8, 0.18, 0.02}, {0.3, 0.5, 0.2}, {0.1, 0.4, 0.5}}
	come := [winds]float64{2.5, 1.8, 0.3}
	stuck := [3][winds]float64{{}, {0, 0.02, 0.3}, {0, 0.15, 0.7}}
	power := [3]float64{0, 0.5, 1.2}
	return mdp.Generate(define((longest+1)*winds*2, 3, 0), func(s, a int, row *mdp.Row) {
		queue, w, runs := s%(longest+1), s/(longest+1)%winds, s/(longest+1)/winds
		carried, on := 2*a*runs, min(a, 1) // a lift that starts carries nobody yet
		carried = min(carried, queue)
		risk := stuck[a][w] * float64(runs)
		row.Reward(float64(carried) - power[a] - 0.1*float64(queue-carried))
		for v, p := range wind[w] {
			row.AddRewarded((longest+1)*v, p*risk, -12) // all go home
			poisson(come[w], longest-queue+carried, func(new int, q float64) {
				row.Add(queue-carried+new+(longest+1)*(v+winds*on), p*q*(1-risk))
			})
		}
	})
}

// exam is a week before two exams. State: the day, and what is known of each subject (0 to 3). The
// student learns law, learns history, does a bit of both, or takes the evening off, which pays 0.1
// and forgets nothing. The exams on the last day pay 5, 8, and 5 more if both are passed.
func exam(*rand.Rand) (*mdp.Tabular, error) {
	const days, levels = 7, 4
	const ended = days * levels * levels // and which exams were passed
	pass := [levels]float64{0.05, 0.35, 0.7, 0.95}
	learn := [4][2]float64{{0.6, 0}, {0, 0.5}, {0.3, 0.25}, {0, 0}}
	forget := [4][2]float64{{0, 0.15}, {0.2, 0}, {0, 0}, {0, 0}}
	pay := [4]float64{0, 5, 8, 18}
	return mdp.Generate(define(ended+4, 4, 0, ended, ended+1, ended+2, ended+3), func(s, a int, row *mdp.Row) {
		if s >= ended {
			return
		}
		day, law, history := s/(levels*levels), s/levels%levels, s%levels
		if a == 3 {
			row.Reward(0.1)
		}
		coins([]float64{learn[a][0], learn[a][1], forget[a][0], forget[a][1]}, func(x int, p float64) {
			l := within(law+x&1-x>>2&1, levels-1)
			h := within(history+x>>1&1-x>>3&1, levels-1)
			if day < days-1 {
				row.Add((day+1)*levels*levels+l*levels+h, p)
				return
			}
			coins([]float64{pass[l], pass[h]}, func(passed int, q float64) {
				row.AddRewarded(ended+passed, p*q, pay[passed])
			})
		})
	})
}

// battery is a store beside a wind farm. State: its charge (0 to 7 MWh), and the price of an MWh in
// euros, which wanders between five levels. It charges 2 or 1, rests, or sells 1 or 2. Each MWh
// moved wears the cells by 3 euros.
func battery(*rand.Rand) (*mdp.Tabular, error) {
	const full, prices = 7, 5
	price := [prices]float64{20, 35, 50, 90, 300}
	move := [prices][prices]float64{
		{0.6, 0.3, 0.1, 0, 0},
		{0.2, 0.5, 0.25, 0.05, 0},
		{0.05, 0.25, 0.45, 0.23, 0.02},
		{0, 0.1, 0.4, 0.4, 0.1},
		{0, 0, 0.2, 0.6, 0.2},
	}
	return mdp.Generate(define((full+1)*prices, 5, 2), func(s, a int, row *mdp.Row) {
		charge, at := s%(full+1), s/(full+1)
		after := within(charge+2-a, full)
		moved := float64(after - charge)
		row.Reward(-3 * math.Abs(moved))
		if moved > 0 {
			row.Reward(-moved * price[at])
		} else {
			row.Reward(-0.9 * moved * price[at])
		}
		for next, p := range move[at] {
			if p > 0 {
				row.Add(after+(full+1)*next, p)
			}
		}
	})
}

// transplant is a patient in one of four states of health, who is offered no, a poor, a fair or a
// good kidney every half-year, and accepts it or waits. An operation that succeeds pays the years
// that it brings. Of a worse health, operations fail more often.
func transplant(*rand.Rand) (*mdp.Tabular, error) {
	const health, offers = 4, 4
	const died, failed, done = health * offers, health*offers + 1, health*offers + 2
	next := [offers]float64{0.5, 0.25, 0.15, 0.1}
	years := [offers]float64{0, 2, 10, 16}
	die := [health]float64{0.25, 0.1, 0.03, 0.01}
	return mdp.Generate(define(done+1, 2, health-1, died, failed, done), func(s, a int, row *mdp.Row) {
		if s >= died {
			return
		}
		h, offer := s%health, s/health
		if a == 1 && offer > 0 {
			success := 0.6 + 0.1*float64(h)
			row.AddRewarded(done, success, years[offer])
			row.AddRewarded(failed, 1-success, 0)
			return
		}
		row.Reward(0.1 + 0.1*float64(h))
		row.Add(died, die[h])
		for o, p := range next {
			row.Add(max(0, h-1)+health*o, (1-die[h])*p*0.2)
			row.Add(h+health*o, (1-die[h])*p*0.8)
		}
	})
}

// fare is a passenger of a tram. State: days that the pass is still valid, and whether inspectors
// are about this week. The passenger buys a ticket, buys a pass for five days, or buys nothing and
// is sometimes fined. In units of 100 euros.
func fare(*rand.Rand) (*mdp.Tabular, error) {
	const days = 5
	caught := [2]float64{0.02, 0.3}
	campaign := [2]float64{0.1, 0.75}
	return mdp.Generate(define(days*2, 3, 0), func(s, a int, row *mdp.Row) {
		left, checked := s%days, s/days
		switch {
		case a == 0:
			row.Reward(-0.03)
		case a == 1:
			row.Reward(-0.09)
			left = days
		case left == 0:
			row.Reward(-0.6 * caught[checked])
		}
		left = max(0, left-1)
		row.Add(left+days, campaign[checked])
		row.Add(left, 1-campaign[checked])
	})
}

// wells is a concession with three places to drill, each unknown, dry or with oil. The same geology
// lies under all three, so that each result tells about the others. Amounts are in thousands of
// dollars. To drill where a well is already costs as much and finds nothing. To leave ends it.
func wells(*rand.Rand) (*mdp.Tabular, error) {
	const places, states = 3, 27
	good := 0.4
	oil := [2][places]float64{{0.1, 0.15, 0.05}, {0.7, 0.6, 0.8}} // in a bad and a good basin
	cost := [places]float64{800, 500, 1200}
	worth := [places]float64{2600, 1800, 3900}
	power := [places]int{1, 3, 9}
	return mdp.Generate(define(states+1, places+1, 0, states), func(s, a int, row *mdp.Row) {
		if s == states {
			return
		}
		if a == places {
			row.Add(states, 1)
			return
		}
		row.Reward(-cost[a])
		if s/power[a]%3 > 0 {
			row.Add(s, 1)
			return
		}
		like := [2]float64{1 - good, good}
		for basin := range like {
			for i := range places {
				switch s / power[i] % 3 {
				case 1: // dry
					like[basin] *= 1 - oil[basin][i]
				case 2:
					like[basin] *= oil[basin][i]
				}
			}
		}
		p := (like[0]*oil[0][a] + like[1]*oil[1][a]) / (like[0] + like[1])
		row.AddRewarded(s+2*power[a], p, worth[a])
		row.Add(s+power[a], 1-p)
	})
}

// summit is an expedition: the camp (0 to the summit, 5), whether the summit was reached, bottles of
// oxygen, and fair or stormy weather. It goes up, stays or goes down. To be back at the base from
// the summit pays 100, to be rescued costs 30, and each day costs 0.5. To go down at the base is to
// go home.
func summit(*rand.Rand) (*mdp.Tabular, error) {
	const camps, bottles = 6, 5
	const home, rescued = camps * 2 * bottles * 2, camps*2*bottles*2 + 1
	storm := [2]float64{0.25, 0.6}
	return mdp.Generate(define(rescued+1, 3, camps*2*(bottles-1), home, rescued), func(s, a int, row *mdp.Row) {
		if s >= home {
			return
		}
		camp, was, air, stormy := s%camps, s/camps%2, s/camps/2%bottles, s/camps/2/bottles
		row.Reward(-0.5)
		if camp == 0 && (was == 1 || a == 2) {
			row.Add(home, 1)
			return
		}
		risk, moves, breath := 0.0, 1.0, 0.0
		if camp >= 3 && air == 0 {
			risk = 0.15
		}
		if camp >= 2 {
			breath = 0.5
		}
		if a == 0 {
			moves = 0.9 - 0.4*float64(stormy)
			breath *= 2
			if camp >= 2 {
				risk += 0.1 * float64(stormy)
			}
		}
		row.AddRewarded(rescued, risk, -30)
		reach := func(to int, p float64) {
			seen := was
			if to == camps-1 {
				seen = 1
			}
			if to == 0 && seen == 1 {
				row.AddRewarded(home, p, 100)
				return
			}
			coins([]float64{breath, storm[stormy]}, func(x int, q float64) {
				left := max(0, air-x&1)
				if to == 0 {
					left = bottles - 1 // the store is at the base
				}
				row.Add(to+camps*(seen+2*(left+bottles*(x>>1))), p*q)
			})
		}
		reach(within(camp+1-a, camps-1), (1-risk)*moves)
		reach(camp, (1-risk)*(1-moves))
	})
}

// inning is half an inning of baseball: the bases that are taken, and the outs. The manager lets the
// batter swing, has the ball bunted, or has the first runner steal. Runs pay 1. Three outs end it.
func inning(*rand.Rand) (*mdp.Tabular, error) {
	const over = 24
	return mdp.Generate(define(over+1, 3, 0, over), func(s, a int, row *mdp.Row) {
		if s == over {
			return
		}
		bases, outs := s%8, s/8 // bit 0 of bases is the first base
		// result adds an outcome; what lies beyond bit 2 are runners who got home.
		result := func(bases, more int, p float64) {
			runs := 0.0
			for b := bases >> 3; b > 0; b >>= 1 {
				runs += float64(b & 1)
			}
			next := bases&7 + 8*(outs+more)
			if outs+more > 2 {
				next, runs = over, 0
			}
			row.AddRewarded(next, p, runs)
		}
		lead := bases & 4
		if lead == 0 {
			lead = bases & 2
		}
		if lead == 0 {
			lead = bases & 1
		}
		switch {
		case a == 0:
			result(bases, 1, 0.55)
			result(bases<<1&^2|bases&1, 1, 0.13) // a fly on which others advance
			result(bases<<1|1, 0, 0.24)
			result(bases<<2|2, 0, 0.05)
			result(bases<<4|8, 0, 0.03)
		case lead == 0: // a bunt for a hit, or to wait for a walk
			result(0, 1, 0.8)
			result(1, 0, 0.2)
		case a == 1:
			caught := 0.2
			if lead == 4 {
				caught = 0.55
			}
			result(bases<<1, 1, 0.9-caught)
			result(bases<<1|1, 0, 0.1)
			result((bases&^lead)<<1|1, 1, caught)
		default:
			success := 0.8
			if lead == 4 {
				success = 0.2
			}
			result(bases&^lead|lead<<1, 0, success)
			result(bases&^lead, 1, 1-success)
		}
	})
}

// sailing crosses a lake of four by four buoys from corner to corner. The wind turns among four
// directions. There are eight headings. A leg takes longer the closer it is to the wind; straight
// against it the boat stands still. To run aground at the shore costs 2, to arrive pays 12.
func sailing(*rand.Rand) (*mdp.Tabular, error) {
	const side, winds = 4, 4
	const goal = (side*side - 1) * winds // the last buoy, in any wind
	dx := [8]int{0, 1, 1, 1, 0, -1, -1, -1}
	dy := [8]int{1, 1, 0, -1, -1, -1, 0, 1}
	minutes := [5]float64{1, 0.8, 1, 1.6, 1}
	return mdp.Generate(define(goal+1, 8, 0, goal), func(s, a int, row *mdp.Row) {
		if s == goal {
			return
		}
		wind, x, y := s%winds, s/winds%side, s/winds/side
		off := (a - 2*wind + 8) % 8
		off = min(off, 8-off)
		row.Reward(-minutes[off])
		if nx, ny := x+dx[a], y+dy[a]; nx != within(nx, side-1) || ny != within(ny, side-1) {
			row.Reward(-2)
		} else if off < 4 {
			x, y = nx, ny
		}
		at := (y*side + x) * winds
		if at == goal {
			row.AddRewarded(goal, 1, 12)
			return
		}
		row.Add(at+wind, 0.6)
		row.Add(at+(wind+1)%winds, 0.2)
		row.Add(at+(wind+3)%winds, 0.2)
	})
}

// poker is a hand with three cards and one bet, against a player with fixed habits. State: the own
// card, and whether one begins, checked and was bet at, was checked to, or was bet at. The actions
// are to check or fold, and to bet or call. The end is what was won.
func poker(*rand.Rand) (*mdp.Tabular, error) {
	const cards, ends = 3, 12
	opens := [cards]float64{0.3, 0.1, 0.7}
	bets := [cards]float64{0.3, 0, 1} // when checked to
	calls := [cards]float64{0.05, 0.6, 1}
	d := define(ends+4, 2, 0, ends, ends+1, ends+2, ends+3)
	d.Initial = nil
	for own := range cards {
		bet := 0.0
		for other := range cards {
			if other != own {
				bet += opens[other] / 2
			}
		}
		for at, p := range [4]float64{1, 0, 1 - bet, bet} {
			if p > 0 {
				d.Initial = append(d.Initial, mdp.Weight{S: own + cards*at, P: p / 6})
			}
		}
	}
	won := map[int]int{-2: ends, -1: ends + 1, 1: ends + 2, 2: ends + 3}
	return mdp.Generate(d, func(s, a int, row *mdp.Row) {
		if s >= ends {
			return
		}
		own, at := s%cards, s/cards
		var like [cards]float64 // of the other's card, by what the other did
		sum := 0.0
		for other := range cards {
			if other != own {
				like[other] = [4]float64{1, bets[other], 1 - opens[other], opens[other]}[at]
				sum += like[other]
			}
		}
		for other, p := range like {
			p /= sum
			end := func(win int, q float64) { row.AddRewarded(won[win], p*q, float64(win)) }
			better := 1
			if other > own {
				better = -1
			}
			switch {
			case at == 1 || at == 3: // was bet at
				if a == 0 {
					end(-1, 1)
				} else {
					end(2*better, 1)
				}
			case a == 1:
				end(2*better, calls[other])
				end(1, 1-calls[other])
			case at == 0:
				row.Add(own+cards, p*bets[other])
				end(better, 1-bets[other])
			default:
				end(better, 1)
			}
		}
	})
}

// debtor is a desk that collects bills of 1,000 or 6,000, one after the other. State: months that
// the bill is late, whether the customer is annoyed, and the bill. The desk waits, writes, calls,
// sends a lawyer, or sells the bill for a tenth. Bills of more than six months are lost.
func debtor(*rand.Rand) (*mdp.Tabular, error) {
	const months = 6
	bill := [2]float64{1000, 6000}
	cost := [5]float64{0, 5, 30, 600, 0}
	chance := [5]float64{0.1, 0.2, 0.35, 0.7, 0}
	return mdp.Generate(define(months*4, 5, 0), func(s, a int, row *mdp.Row) {
		late, annoyed, large := s%months, s/months%2, s/months/2
		next := func(p, reward float64) { // the next customer
			row.AddRewarded(0, 0.7*p, reward)
			row.AddRewarded(2*months, 0.3*p, reward)
		}
		row.Reward(-cost[a] - 0.01*bill[large])
		if a == 4 {
			next(1, bill[large]/10)
			return
		}
		pays := chance[a] * math.Pow(0.85, float64(late))
		if a < 3 && annoyed == 1 {
			pays *= 0.6
		}
		next(pays, bill[large])
		if late == months-1 {
			next(1-pays, 0)
			return
		}
		worse := float64(annoyed)
		if a == 2 {
			worse = max(worse, 0.5)
		}
		row.Add(late+1+months*(1+2*large), (1-pays)*worse)
		row.Add(late+1+months*(2*large), (1-pays)*(1-worse))
	})
}

// congestion is a sender: its window of one to ten packets, and how free the line was last round.
// The window is halved, made smaller by 1, kept, made larger by 1, or doubled. What arrives pays
// 0.01 each, what is lost costs 0.02, and lost packets make the line fuller.
func congestion(*rand.Rand) (*mdp.Tabular, error) {
	const widest, lines = 10, 3
	room := [lines]int{9, 5, 2}
	move := [lines][lines]float64{{0.9, 0.08, 0.02}, {0.15, 0.75, 0.1}, {0.05, 0.35, 0.6}}
	return mdp.Generate(define(widest*lines, 5, 0), func(s, a int, row *mdp.Row) {
		window, line := s%widest+1, s/widest
		window = [5]int{window / 2, window - 1, window, window + 1, 2 * window}[a]
		window = within(window-1, widest-1) + 1
		for now, p := range move[line] {
			arrived := min(window, room[now])
			lost := window - arrived
			reward := 0.01*float64(arrived) - 0.02*float64(lost)
			fuller := min(1, 0.15*float64(lost))
			row.AddRewarded(window-1+widest*now, p*(1-fuller), reward)
			row.AddRewarded(window-1+widest*min(now+1, lines-1), p*fuller, reward)
		}
	})
}

// paintShop paints cars white, yellow, red or black from one gun, which may be clean. Two cars wait;
// one paints the left, paints the right, or cleans the gun. A car pays 1. A change to a lighter
// colour wastes more paint than one to a darker, and a clean gun wastes little.
func paintShop(*rand.Rand) (*mdp.Tabular, error) {
	const colours, clean = 4, 4
	asked := [colours]float64{0.4, 0.1, 0.2, 0.3}
	return mdp.Generate(define(5*colours*colours, 3, clean), func(s, a int, row *mdp.Row) {
		gun := s % 5
		wait := [2]int{s / 5 % colours, s / 5 / colours}
		if a == 2 {
			row.Reward(-0.1)
			row.Add(s-gun+clean, 1)
			return
		}
		colour := wait[a]
		row.Reward(1)
		switch {
		case gun == clean:
			row.Reward(-0.05)
		case colour > gun:
			row.Reward(-0.3 * float64(colour-gun))
		case colour < gun:
			row.Reward(-0.4 - 0.5*float64(gun-colour))
		}
		for c, p := range asked {
			wait[a] = c
			row.Add(colour+5*(wait[0]+colours*wait[1]), p)
		}
	})
}

// bikes are six hired bicycles at a station, a park and a school, and a van at one of them. The van
// drives to one of the three with none, one or two bicycles. Then at most one person comes to each
// place, who rides to another and pays 1, or finds no bicycle, which costs 1.
func bikes(*rand.Rand) (*mdp.Tabular, error) {
	const all, places = 6, 3
	var states [][places]int
	index := map[[places]int]int{}
	for x := range all + 1 {
		for y := range all + 1 - x {
			at := [places]int{x, y, all - x - y}
			index[at] = len(states)
			states = append(states, at)
		}
	}
	come := []float64{0.7, 0.4, 0.5}
	ride := [places][places]float64{{0, 0.3, 0.7}, {0.3, 0, 0.7}, {0.4, 0.6, 0}}
	return mdp.Generate(define(len(states)*places, 3*places, index[[places]int{2, 2, 2}]), func(s, a int, row *mdp.Row) {
		at, van, to := states[s%len(states)], s/len(states), a%places
		if to != van {
			load := min(a/places, at[van])
			at[van] -= load
			at[to] += load
			row.Reward(-0.1 - 0.15*float64(load))
		}
		var visit func(place int, after [places]int, p, reward float64)
		visit = func(place int, after [places]int, p, reward float64) {
			if place == places {
				row.AddRewarded(index[after]+len(states)*to, p, reward)
				return
			}
			visit(place+1, after, p*(1-come[place]), reward)
			if at[place] == 0 {
				visit(place+1, after, p*come[place], reward-1)
				return
			}
			for end, q := range ride[place] {
				if end != place {
					next := after
					next[place]--
					next[end]++
					visit(place+1, next, p*come[place]*q, reward+1)
				}
			}
		}
		visit(0, at, 1, 0)
	})
}

// insurance is a driver in one of seven classes, with the damage of this year: none, 400, 1,200 or
// 7,000. The driver claims it or pays it, and drives carefully next year, which costs time worth 80,
// or as usual. A claim moves the driver up two classes, a year without one down one.
func insurance(*rand.Rand) (*mdp.Tabular, error) {
	const classes = 7
	damage := [4]float64{0, 400, 1200, 7000}
	usual := [4]float64{0.6, 0.25, 0.12, 0.03}
	return mdp.Generate(define(classes*4, 4, 3), func(s, a int, row *mdp.Row) {
		class, had, claims, careful := s%classes, s/classes, a%2 == 1, a/2 == 1
		row.Reward(-300 - 200*float64(class))
		if claims && had > 0 {
			class += 2
		} else {
			row.Reward(-damage[had])
			class--
		}
		class = within(class, classes-1)
		share := 1.0
		if careful {
			row.Reward(-80)
			share = 0.6
		}
		for d := range 3 {
			row.Add(class+classes*(d+1), share*usual[d+1])
		}
		row.Add(class, 1-share*(1-usual[0]))
	})
}

// trials are three lines of drug research, each in one of four stages. Each year one is funded, or
// none. Success leads to the next stage, failure to a new substance, and the last stage to a sale,
// in millions. A line that waits gets to the second stage when a university finds something, and
// may be overtaken by a rival later.
func trials(*rand.Rand) (*mdp.Tabular, error) {
	const lines, stages = 3, 4
	cost := [stages]float64{10, 30, 100, 20}
	success := [stages]float64{0.7, 0.5, 0.4, 0.8}
	ease := [lines]float64{1.1, 0.95, 0.8}
	sale := [lines]float64{900, 1500, 2400}
	return mdp.Generate(define(stages*stages*stages, lines+1, 0), func(s, a int, row *mdp.Row) {
		stage := [lines]int{s % stages, s / stages % stages, s / stages / stages}
		ps := make([]float64, lines) // that the funded one succeeds, and that something happens to others
		for i := range lines {
			if i == a {
				ps[i] = success[stage[i]] * ease[i]
				row.Reward(-cost[stage[i]])
			} else if stage[i] > 0 {
				ps[i] = 0.04
			} else {
				ps[i] = 0.15
			}
		}
		coins(ps, func(x int, p float64) {
			after, reward := stage, 0.0
			for i := range lines {
				happens := x>>i&1 == 1
				switch {
				case i == a && happens:
					after[i] = (stage[i] + 1) % stages
					if after[i] == 0 {
						reward = sale[i]
					}
				case happens && stage[i] == 0:
					after[i] = 1
				case i == a || happens:
					after[i] = 0
				}
			}
			row.AddRewarded(after[0]+stages*(after[1]+stages*after[2]), p, reward)
		})
	})
}

// satellite goes round in twelve hours, over five places to photograph and two ground stations, half
// the time in the sun. State: the hour, pictures in memory, and charge. It takes a picture, sends up
// to two, or sleeps. Pictures that are sent pay 1. All is deterministic.
func satellite(*rand.Rand) (*mdp.Tabular, error) {
	const hours, levels = 12, 4
	const targets, stations = 1<<2 | 1<<4 | 1<<5 | 1<<9 | 1<<10, 1<<0 | 1<<7
	return mdp.Generate(define(hours*levels*levels, 3, 0), func(s, a int, row *mdp.Row) {
		hour, pictures, charge := s%hours, s/hours%levels, s/hours/levels
		if a < 2 && charge > 0 {
			charge--
			if a == 0 && targets>>hour&1 == 1 {
				pictures = min(pictures+1, levels-1)
			} else if a == 1 && stations>>hour&1 == 1 {
				sent := min(pictures, 2)
				pictures -= sent
				row.Reward(float64(sent))
			}
		}
		if hour < hours/2 {
			charge = min(charge+1, levels-1)
		}
		row.Add((hour+1)%hours+hours*(pictures+levels*charge), 1)
	})
}

// crawler is a robot that drags itself along with one arm. The state is the angles of shoulder and
// elbow. An action turns one of them one way or the other. With the hand on the ground, to pull the shoulder back moves
// the body forward, and to push it moves the body backward. Pays the way less power.
func crawler(*rand.Rand) (*mdp.Tabular, error) {
	const shoulders, elbows = 6, 5
	way := [shoulders - 1]float64{0.6, 0.9, 1, 0.9, 0.6}
	grip := [elbows]float64{0, 0, 0, 0.4, 1}
	return mdp.Generate(define(shoulders*elbows, 4, 0), func(s, a int, row *mdp.Row) {
		shoulder, elbow := s%shoulders, s/shoulders
		row.Reward(-0.05)
		switch {
		case a == 0 && shoulder > 0:
			shoulder--
			row.Reward(way[shoulder] * grip[elbow])
		case a == 1 && shoulder < shoulders-1:
			row.Reward(-way[shoulder] * grip[elbow])
			shoulder++
		case a == 2:
			elbow = max(elbow-1, 0)
		case a == 3:
			elbow = min(elbow+1, elbows-1)
		}
		row.Add(shoulder+shoulders*elbow, 1)
	})
}

// pasture is a herd that grazes one of three pastures each week, or gets hay. State: the grass of
// each (0 to 4). The herd eats up to two, which pay 1 each; hay leaves 0.6. Pastures that rest grow,
// more in rainy weeks, and hardly when they were eaten bare.
func pasture(*rand.Rand) (*mdp.Tabular, error) {
	const fields, levels = 3, 5
	return mdp.Generate(define(levels*levels*levels, fields+1, 62), func(s, a int, row *mdp.Row) {
		grass := [fields]int{s % levels, s / levels % levels, s / levels / levels}
		if a == fields {
			row.Reward(0.6)
		} else {
			eaten := min(grass[a], 2)
			grass[a] -= eaten
			row.Reward(float64(eaten))
		}
		for _, week := range [2]struct{ p, grow, recover float64 }{{0.6, 0.7, 0.25}, {0.4, 0.2, 0.05}} {
			ps := make([]float64, fields)
			for i := range fields {
				switch {
				case i == a || grass[i] == levels-1:
				case grass[i] == 0:
					ps[i] = week.recover
				default:
					ps[i] = week.grow
				}
			}
			coins(ps, func(x int, p float64) {
				row.Add(grass[0]+x&1+levels*(grass[1]+x>>1&1+levels*(grass[2]+x>>2&1)), week.p*p)
			})
		}
	})
}

// wolves is a valley with up to nine herds of deer and six packs of wolves. Each year the ranger
// does nothing, shoots a pack, lets two herds be hunted, or brings a pack. Visitors come for wolves,
// deer eat young trees, and hungry wolves take sheep.
func wolves(*rand.Rand) (*mdp.Tabular, error) {
	const deer, packs = 9, 6
	return mdp.Generate(define((deer+1)*(packs+1), 4, 8), func(s, a int, row *mdp.Row) {
		d, w := s%(deer+1), s/(deer+1)
		switch a {
		case 1:
			w = max(w-1, 0)
			row.Reward(-2)
		case 2:
			row.Reward(0.8 * float64(min(d, 2)))
			d = max(d-2, 0)
		case 3:
			w = min(w+1, packs)
			row.Reward(-4)
		}
		row.Reward(2*float64(min(w, 2)) - 0.06*float64(d*d) - 1.5*float64(max(0, 2*w-d)))
		x, y := float64(d), float64(w)
		moreDeer := x + 0.7*x*(1-x/(deer+1)) - 0.9*y*x/(x+3) + 0.3
		moreWolves := y*(0.6+0.7*x/(x+4)) + 0.05
		// around calls f with the whole numbers around a mean.
		around := func(mean float64, top int, f func(n int, p float64)) {
			mean = min(max(mean, 0), float64(top))
			low := math.Floor(mean)
			share := mean - low
			f(within(int(low)-1, top), 0.1)
			f(int(low), 0.8*(1-share))
			f(within(int(low)+1, top), 0.8*share)
			f(within(int(low)+2, top), 0.1)
		}
		around(moreDeer, deer, func(d int, p float64) {
			around(moreWolves, packs, func(w int, q float64) { row.Add(d+(deer+1)*w, p*q) })
		})
	})
}

// cache keeps two of five pages. State: the two, and the page that is asked for, which depends on
// the one before. A page that is not there must be fetched, for 20 to 200 milliseconds. It takes the
// place of the first, of the second, or is not kept.
func cache(rng *rand.Rand) (*mdp.Tabular, error) {
	const pages = 5
	var kept [][2]int
	index := map[[2]int]int{}
	for i := range pages {
		for j := range i {
			index[[2]int{j, i}] = len(kept)
			kept = append(kept, [2]int{j, i})
		}
	}
	fetch := [pages]float64{20, 50, 80, 120, 200}
	often := [pages]float64{0.3, 0.25, 0.2, 0.15, 0.1}
	follows := rng.Perm(pages)
	return mdp.Generate(define(len(kept)*pages, 3, 0), func(s, a int, row *mdp.Row) {
		pair, page := kept[s%len(kept)], s/len(kept)
		if page == pair[0] || page == pair[1] {
			row.Reward(-1)
		} else {
			row.Reward(-fetch[page])
			if a < 2 {
				pair[a] = page
			}
		}
		at := index[[2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}]
		for next, p := range often {
			row.Add(at+len(kept)*next, 0.6*p)
		}
		row.Add(at+len(kept)*follows[page], 0.4)
	})
}

// sensor lives on sunlight: its charge, the age of the last reading that arrived, and day or night.
// It sleeps, sends weakly for one unit, or strongly for two. Each hour someone asks, and is content
// with a probability that falls with the age: the reward is 1 or 0.
func sensor(*rand.Rand) (*mdp.Tabular, error) {
	const full, oldest = 5, 6
	sun := [2]float64{0.1, 0.7}
	arrives := [3]float64{0, 0.3, 0.95}
	return mdp.Generate(define((full+1)*(oldest+1)*2, 3, full), func(s, a int, row *mdp.Row) {
		charge, age, day := s%(full+1), s/(full+1)%(oldest+1), s/(full+1)/(oldest+1)
		row.Noise.Bernoulli = true
		row.Reward(math.Exp(-float64(age) / 2))
		fresh := 0.0
		if a <= charge {
			charge -= a
			fresh = arrives[a]
		}
		coins([]float64{fresh, sun[day], 0.15}, func(x int, p float64) {
			next := min(age+1, oldest)
			if x&1 == 1 {
				next = 0
			}
			d := day ^ x>>2
			row.Add(min(charge+x>>1&1, full)+(full+1)*(next+(oldest+1)*d), p)
		})
	})
}

// trafficLights stand at a crossing of a main road and a side road, with up to five vehicles waiting
// in each: green for one, or a red step before one of them. They are kept or switched. A waiting car
// costs 1 a step, a vehicle of the side road, where the buses come from, 2.
func trafficLights(*rand.Rand) (*mdp.Tabular, error) {
	const longest = 5
	const size = longest + 1
	return mdp.Generate(define(size*size*4, 2, 0), func(s, a int, row *mdp.Row) {
		queue, phase := [2]int{s % size, s / size % size}, s/size/size
		row.Reward(-float64(queue[0]) - 2*float64(queue[1]))
		next := phase - 2 // after the red step, whatever is done
		if phase < 2 {
			next = phase
			if a == 1 {
				next = 2 + 1 - phase
			} else {
				queue[phase] = max(queue[phase]-1, 0)
			}
		}
		coins([]float64{0.4, 0.2}, func(x int, p float64) {
			row.Add(min(queue[0]+x&1, longest)+size*(min(queue[1]+x>>1, longest)+size*next), p)
		})
	})
}
