package handmade

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// machine wears out. Fast work earns twice as much as slow work and wears three times as fast. A worn machine
// earns less and may break; a service mends some wear, and a new machine costs the work of many days.
func machine(*rand.Rand) (*mdp.Tabular, error) {
	const worst = 14
	return mdp.Generate(define(worst+1, 4, 0), func(s, a int, row *mdp.Row) {
		switch wear := float64(s) / worst; {
		case a == 3:
			row.Reward(-6)
			row.Add(0, 1)
		case s == worst: // broken
			row.Reward(-1)
			row.Add(worst, 1)
		case a == 2:
			row.Reward(-0.8)
			row.Add(within(s-3, worst), 0.7)
			row.Add(s, 0.3)
		default:
			speed := float64(a + 1)
			row.Reward(speed * (1 - wear*wear))
			worn, breaks := 0.2+0.25*float64(a), 0.02*speed*wear
			row.Add(worst, breaks)
			row.Add(s+1, (1-breaks)*worn)
			row.Add(s, (1-breaks)*(1-worn))
		}
	})
}

// clinic has two queues of up to six patients. Severe ones are paid three times as much, wait badly and take
// longer. A third action sends the last of both queues elsewhere.
func clinic(*rand.Rand) (*mdp.Tabular, error) {
	const most = 6
	at := func(x, y int) int { return within(x, most)*(most+1) + within(y, most) }
	return mdp.Generate(define(at(most, most)+1, 3, 0), func(s, a int, row *mdp.Row) {
		severe, mild := s/(most+1), s%(most+1)
		row.Reward(-0.2*float64(severe) - 0.05*float64(mild))
		done := 0.0
		x, y, paid := severe, mild, 0.0
		switch {
		case a == 0 && severe > 0:
			done, x, paid = 0.5, x-1, 3
		case a == 1 && mild > 0:
			done, y, paid = 0.8, y-1, 1
		case a == 2:
			done, x, y, paid = 1, max(0, x-1), max(0, y-1), -0.3
		}
		for k, p := range []float64{0.56, 0.14, 0.24, 0.06} { // arrivals
			row.AddRewarded(at(x+k%2, y+k/2), p*done, paid)
			row.Add(at(severe+k%2, mild+k/2), p*(1-done))
		}
	})
}

// glucose is to be kept near level 6 of 14 by five doses, before and after meals of three sizes. A dose acts
// more or less strongly, and low levels are dangerous.
func glucose(*rand.Rand) (*mdp.Tabular, error) {
	const top, meals = 14, 3
	return mdp.Generate(define((top+1)*meals, 5, 6*meals), func(s, a int, row *mdp.Row) {
		level, meal := s/meals, s%meals
		off := math.Abs(float64(level) - 6)
		row.Reward(math.Exp(-off*off/8) - 0.02*float64(a))
		if level <= 1 {
			row.Reward(-4)
		}
		for k, p := range []float64{0.25, 0.5, 0.25} {
			after := within(level+2*meal-a*(1+k)/2, top)
			for next, q := range []float64{0.5, 0.3, 0.2} {
				row.Add(after*meals+next, p*q)
			}
		}
	})
}

// patrol walks round eight sites. An intruder comes to a site, the later ones more often, and leaves after
// some steps with what it took. To be at its site catches it.
func patrol(*rand.Rand) (*mdp.Tabular, error) {
	const sites = 8
	return mdp.Generate(define(sites*(sites+1), 3, sites), func(s, a int, row *mdp.Row) {
		at, alarm := s/(sites+1), s%(sites+1) // alarm: the site, or sites for none
		at = (at + a + sites - 1) % sites
		switch {
		case alarm == at:
			row.Reward(1)
			row.Add(at*(sites+1)+sites, 1)
		case alarm < sites:
			row.Reward(-0.1)
			row.Add(at*(sites+1)+alarm, 0.85)
			row.Add(at*(sites+1)+sites, 0.15)
		default:
			row.Add(at*(sites+1)+sites, 0.7)
			for y := range sites {
				row.Add(at*(sites+1)+y, 0.3*float64(y+1)/36)
			}
		}
	})
}

// auction has eight rounds and a budget of nine. A bid from 0 to 5 wins the more often the higher it is, and is
// paid if it wins. Goods are worth more in later rounds; what is left of the budget is worth a little.
func auction(*rand.Rand) (*mdp.Tabular, error) {
	const rounds, budget = 8, 9
	const over = rounds * (budget + 1)
	return mdp.Generate(define(over+1, 6, budget, over), func(s, a int, row *mdp.Row) {
		if s == over {
			return
		}
		round, left := s/(budget+1), s%(budget+1)
		bid := min(a, left)
		wins := 1 - math.Exp(-0.5*float64(bid))
		to := func(left int) int {
			if round == rounds-1 {
				return over
			}
			return (round+1)*(budget+1) + left
		}
		if round == rounds-1 {
			row.Reward(0.05 * float64(left-bid))
		}
		row.AddRewarded(to(left-bid), wins, 0.3+0.1*float64(round))
		row.Add(to(left), 1-wins)
	})
}

// epidemic has up to 20 infected groups. Four measures slow it down and cost more the stricter they are; new
// cases come in from outside.
func epidemic(*rand.Rand) (*mdp.Tabular, error) {
	const most = 20
	return mdp.Generate(define(most+1, 4, 2), func(s, a int, row *mdp.Row) {
		x := float64(s) / most
		row.Reward(1 - 0.25*float64(a) - 2*x)
		grows := []float64{1.5, 1.1, 0.8, 0.5}[a]
		mean := float64(s)*(1+0.5*(grows*(1-x)-1)) + 0.2
		whole := int(mean)
		part := mean - float64(whole)
		for k, p := range []float64{0.25, 0.5, 0.25} {
			row.Add(within(whole+k-1, most), p*(1-part))
			row.Add(within(whole+k, most), p*part)
		}
	})
}

// dice adds up the eyes of one die, or of two, up to 25. A one, or with two dice the same eyes, loses the sum. To bank pays it.
func dice(*rand.Rand) (*mdp.Tabular, error) {
	const most = 25
	return mdp.Generate(define(most+1, 3, 0), func(s, a int, row *mdp.Row) {
		switch a {
		case 0:
			row.Reward(float64(s))
			row.Add(0, 1)
		case 1:
			row.Add(0, 1.0/6)
			for eyes := 2; eyes <= 6; eyes++ {
				row.Add(within(s+eyes, most), 1.0/6)
			}
		default:
			for k := range 36 {
				if x, y := k/6+1, k%6+1; x == y {
					row.Add(0, 1.0/36)
				} else {
					row.Add(within(s+x+y, most), 1.0/36)
				}
			}
		}
	})
}

// workshop has two queues of up to four orders and is set up for one of them. To set it up for the other takes a while.
func workshop(*rand.Rand) (*mdp.Tabular, error) {
	const most = 4
	at := func(x, y, setup int) int { return (within(x, most)*(most+1)+within(y, most))*2 + setup }
	return mdp.Generate(define(at(most, most, 1)+1, 2, 0), func(s, a int, row *mdp.Row) {
		queue, setup := [2]int{s / 2 / (most + 1), s / 2 % (most + 1)}, s%2
		row.Reward(-0.1 * float64(queue[0]+queue[1]))
		served, became := 0.0, setup
		left := queue
		switch {
		case a != setup:
			served, became = 0.4, a // it is set up
		case queue[a] > 0:
			served = 0.9
			left[a]--
		}
		paid := 0.0
		if left != queue {
			paid = 1 + 0.5*float64(a)
		}
		for k, p := range []float64{0.49, 0.21, 0.21, 0.09} {
			row.AddRewarded(at(left[0]+k%2, left[1]+k/2, became), p*served, paid)
			row.Add(at(queue[0]+k%2, queue[1]+k/2, setup), p*(1-served))
		}
	})
}

// elevator serves five floors. People call on the four upper floors and are taken down by opening the door there.
func elevator(*rand.Rand) (*mdp.Tabular, error) {
	const floors, calls = 5, 16
	return mdp.Generate(define(floors*calls, 3, 0), func(s, a int, row *mdp.Row) {
		floor, waiting := s/calls, s%calls
		for k := range floors - 1 {
			row.Reward(-0.05 * float64(waiting>>k&1))
		}
		if a < 2 {
			floor = within(floor+2*a-1, floors-1)
		} else if floor > 0 && waiting>>(floor-1)&1 == 1 {
			waiting &^= 1 << (floor - 1)
			row.Reward(1)
		}
		row.Add(floor*calls+waiting, 0.8)
		for k := range floors - 1 {
			row.Add(floor*calls+(waiting|1<<k), 0.05)
		}
	})
}

// crops grow on soil of five qualities. Wheat pays most and wears the soil, beans mend it and clover more so. The same crop twice does badly.
func crops(*rand.Rand) (*mdp.Tabular, error) {
	const best, kinds = 4, 4
	return mdp.Generate(define((best+1)*kinds, kinds, best*kinds), func(s, a int, row *mdp.Row) {
		soil, last := s/kinds, s%kinds
		yield := []float64{1, 0.6, 0.4, 0.05}[a] * (0.2 + 0.2*float64(soil))
		if a == last {
			yield *= 0.6
		}
		row.Reward(yield)
		row.Noise.Bernoulli = true // there is a harvest or none
		change := []int{-2, -1, 1, 2}[a]
		row.Add(within(soil+change, best)*kinds+a, 0.7)
		row.Add(soil*kinds+a, 0.3)
	})
}

// dam has ten levels and four seasons of rain. Water let out makes power; a flood and an empty dam cost much.
func dam(*rand.Rand) (*mdp.Tabular, error) {
	const top, seasons = 9, 4
	return mdp.Generate(define((top+1)*seasons, 5, 5*seasons), func(s, a int, row *mdp.Row) {
		level, season := s/seasons, s%seasons
		out := min(a, level)
		row.Reward(float64(out) * (0.5 + 0.1*float64(level)))
		if level == 0 {
			row.Reward(-3)
		}
		poisson([]float64{0.5, 1.5, 3, 1}[season], 6, func(rain int, p float64) {
			flood := 0.0
			if level-out+rain > top {
				flood = -5
			}
			for k, q := range []float64{0.6, 0.4} {
				row.AddRewarded(within(level-out+rain, top)*seasons+(season+k)%seasons, p*q, flood)
			}
		})
	})
}

// parking drives past 16 places to the theatre. Nearer places are seldom free and pay more. Who has passed all walks from the garage.
func parking(*rand.Rand) (*mdp.Tabular, error) {
	const places = 16
	const over = 2 * places
	return mdp.Generate(define(over+1, 2, 0, over), func(s, a int, row *mdp.Row) {
		if s == over {
			return
		}
		place, free := s/2, s%2 == 1
		switch {
		case a == 1 && free:
			row.Reward(float64(place+1) / places)
			row.Add(over, 1)
		case place == places-1:
			row.Reward(0.1)
			row.Add(over, 1)
		default:
			p := 0.8 - 0.045*float64(place+1)
			row.Reward(-0.01)
			row.Add(2*(place+1)+1, p)
			row.Add(2*(place+1), 1-p)
		}
	})
}

// fire spreads over two by three cells. Burning cells cost, and each burning neighbour makes it likelier that
// a cell catches fire. Six actions drench a cell, and the seventh waits. Every action may lead to most states.
func fire(*rand.Rand) (*mdp.Tabular, error) {
	const cells, wait = 6, 6
	return mdp.Generate(define(1<<cells, wait+1, 1), func(s, a int, row *mdp.Row) {
		if a != wait {
			row.Reward(-0.05)
		}
		row.Reward(1)
		var burns [cells]float64
		for c := range cells {
			burns[c] = 0.01
			for d := range cells {
				if side := c/3 == d/3 && (c-d == 1 || d-c == 1); s>>d&1 == 1 && (side || c/3 != d/3 && c%3 == d%3) {
					burns[c] += 0.15
				}
			}
			if s>>c&1 == 1 {
				row.Reward(-1.0 / cells)
				burns[c] = 0.9
			}
			if c == a {
				burns[c] *= 0.25
			}
		}
		for y := range 1 << cells {
			p := 1.0
			for c := range cells {
				if y>>c&1 == 1 {
					p *= burns[c]
				} else {
					p *= 1 - burns[c]
				}
			}
			row.Add(y, p)
		}
	})
}
