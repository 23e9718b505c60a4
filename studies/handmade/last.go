package handmade

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// forest grows up to age 24 and may burn, the less so if it was thinned. Old wood pays, and more than in proportion.
func forest(*rand.Rand) (*mdp.Tabular, error) {
	const top = 24
	return mdp.Generate(define(top+1, 3, 0), func(s, a int, row *mdp.Row) {
		wood := math.Pow(float64(s)/top, 1.5)
		fire := 0.03
		switch a {
		case 0:
			row.Reward(10 * wood)
			row.Add(0, 1)
			return
		case 1:
			row.Reward(-0.05 + 0.5*wood)
			fire = 0.005
		}
		row.Add(0, fire)
		row.Add(within(s+1, top), (1-fire)*0.8)
		row.Add(s, (1-fire)*0.2)
	})
}

// turbine turns its blades to five positions for five winds. It earns by how well they fit, and may break in a storm.
func turbine(*rand.Rand) (*mdp.Tabular, error) {
	const winds, broken = 5, 25
	return mdp.Generate(define(broken+1, 3, 0), func(s, a int, row *mdp.Row) {
		if s == broken {
			row.Reward(-0.5)
			row.Add(broken, 0.8)
			row.Add(0, 0.2)
			return
		}
		wind, blade := s/winds, within(s%winds+a-1, winds-1)
		row.Reward(float64(wind) * math.Exp(-0.7*math.Abs(float64(wind-blade))))
		breaks := 0.0
		if wind == winds-1 && blade < 3 {
			breaks = 0.3
		}
		row.Add(broken, breaks)
		for k, p := range []float64{0.3, 0.5, 0.2} {
			row.Add(within(wind+k-1, winds-1)*winds+blade, (1-breaks)*p)
		}
	})
}

// radio sends up to three of six packets over a channel of five qualities. More at once fail more often, and all of them fail together.
func radio(*rand.Rand) (*mdp.Tabular, error) {
	const qualities, most = 5, 6
	return mdp.Generate(define(qualities*(most+1), 4, 2*(most+1)), func(s, a int, row *mdp.Row) {
		quality, waits := s/(most+1), s%(most+1)
		sent := min(a, waits)
		row.Reward(-0.1*float64(waits) - 0.2*float64(a))
		works := math.Pow(0.35+0.15*float64(quality), float64(sent))
		for k, p := range []float64{0.2, 0.6, 0.2} {
			y := within(quality+k-1, qualities-1) * (most + 1)
			for come, q := range []float64{0.4, 0.4, 0.2} {
				row.AddRewarded(y+within(waits-sent+come, most), p*q*works, float64(sent))
				row.Add(y+within(waits+come, most), p*q*(1-works))
			}
		}
	})
}

// trader holds a share or not. Its price has twelve levels and reverts to the middle. A trade costs half a level.
func trader(*rand.Rand) (*mdp.Tabular, error) {
	const top = 11
	return mdp.Generate(define(2*(top+1), 2, 12), func(s, a int, row *mdp.Row) {
		price, holds := s/2, s%2
		if a == 1 { // trades
			row.Reward(-0.5 + float64(price)*float64(2*holds-1))
			holds = 1 - holds
		}
		up := 0.4 - 0.05*(float64(price)-5.5)
		down := 0.8 - up
		row.Add(within(price+1, top)*2+holds, up)
		row.Add(within(price-1, top)*2+holds, down)
		row.Add(price*2+holds, 0.2)
	})
}

// thermostat heats a room of twelve temperatures, under three of weather and two prices of power.
func thermostat(*rand.Rand) (*mdp.Tabular, error) {
	const top, weathers = 11, 3
	at := func(x, weather, price int) int { return (within(x, top)*weathers+weather)*2 + price }
	return mdp.Generate(define(at(top, weathers-1, 1)+1, 3, at(5, 1, 0)), func(s, a int, row *mdp.Row) {
		warm, weather, price := s/2/weathers, s/2%weathers, s%2
		off := math.Abs(float64(warm) - 7)
		row.Reward(1 - 0.15*off - 0.15*float64(a)*float64(1+2*price))
		for k, p := range []float64{0.25, 0.5, 0.25} {
			for w, q := range []float64{0.1, 0.8, 0.1} {
				y := at(warm+a+k-2+(weather-1)*(k%2), within(weather+w-1, weathers-1), price)
				row.Add(y, p*q*0.9)
				row.Add(y^1, p*q*0.1)
			}
		}
	})
}

// forager has ten levels of energy and three patches of food, and a hawk is near or not. To eat in sight of it is dangerous; to starve ends a life.
func forager(*rand.Rand) (*mdp.Tabular, error) {
	const top, patches = 9, 3
	at := func(x, patch, hawk int) int { return (within(x, top)*patches+patch)*2 + hawk }
	return mdp.Generate(define(at(top, patches-1, 1)+1, 3, at(4, 0, 0)), func(s, a int, row *mdp.Row) {
		energy, patch, hawk := s/2/patches, s/2%patches, s%2
		row.Reward(0.1 * float64(energy))
		born := at(4, 0, 0)
		if energy == 0 {
			row.Reward(-2)
			row.Add(born, 1)
			return
		}
		caught, food, spent := 0.0, 0.0, 1
		switch a {
		case 0: // eats
			caught, food = 0.02+0.2*float64(hawk), 0.3+0.25*float64(patch)
		case 1:
			patch = (patch + 1) % patches
		default: // hides
			spent = 0
			energy -= hawk
		}
		row.AddRewarded(born, caught, -3)
		near := 0.1 + 0.1*float64(patch)
		for h, p := range []float64{1 - near, near} {
			row.Add(at(energy+2, patch, h), (1-caught)*p*food)
			row.Add(at(energy-spent, patch, h), (1-caught)*p*(1-food))
		}
	})
}

// staffing has one to four clerks and a queue of up to nine. Clerks are paid, are hired and sent home one at a time, and serve one each with probability one half.
func staffing(*rand.Rand) (*mdp.Tabular, error) {
	const clerks, most = 4, 9
	return mdp.Generate(define(clerks*(most+1), 3, 0), func(s, a int, row *mdp.Row) {
		n, queue := s/(most+1), s%(most+1)
		n = within(n+a-1, clerks-1)
		row.Reward(-0.25*float64(n+1) - 0.15*float64(queue))
		if a != 1 {
			row.Reward(-0.1)
		}
		chances := []float64{1}
		for range min(n+1, queue) {
			next := make([]float64, len(chances)+1)
			for k, p := range chances {
				next[k] += p / 2
				next[k+1] += p / 2
			}
			chances = next
		}
		for served, p := range chances {
			poisson(0.9, 4, func(come int, q float64) {
				row.AddRewarded(n*(most+1)+within(queue-served+come, most), p*q, float64(served))
			})
		}
	})
}

// tennis is a game of points, from 0 to 3 each. A hard serve wins more often and fails more often; a second failure loses the point.
func tennis(*rand.Rand) (*mdp.Tabular, error) {
	const over = 32
	return mdp.Generate(define(over+1, 3, 0, over), func(s, a int, row *mdp.Row) {
		if s == over {
			return
		}
		mine, yours, second := s/8, s/2%4, s%2
		point := func(mine, yours int, p float64) {
			switch {
			case mine == 4 && yours < 4: // deuce counts as 2 each
				row.AddRewarded(over, p, 1)
			case yours == 4 && mine < 4:
				row.Add(over, p)
			case mine == 3 && yours == 3:
				row.Add((2*4+2)*2, p)
			default:
				row.Add((mine*4+yours)*2, p)
			}
		}
		in := []float64{0.95, 0.7, 0.4}[a]
		wins := []float64{0.4, 0.6, 0.85}[a]
		point(mine+1, yours, in*wins)
		point(mine, yours+1, in*(1-wins))
		if second == 1 {
			point(mine, yours+1, 1-in)
		} else {
			row.Add(s+1, 1-in)
		}
	})
}

// ferry crosses a river. Up to five passengers wait at each side and pay; a crossing costs fuel, and those who wait grumble.
func ferry(*rand.Rand) (*mdp.Tabular, error) {
	const most = 5
	at := func(x, y, side int) int { return (within(x, most)*(most+1)+within(y, most))*2 + side }
	return mdp.Generate(define(at(most, most, 1)+1, 2, 0), func(s, a int, row *mdp.Row) {
		waits, side := [2]int{s / 2 / (most + 1), s / 2 % (most + 1)}, s%2
		row.Reward(-0.05 * float64(waits[0]+waits[1]))
		if a == 1 {
			row.Reward(-1 + 0.8*float64(waits[side]))
			waits[side], side = 0, 1-side
		}
		for k, p := range []float64{0.42, 0.28, 0.18, 0.12} {
			row.Add(at(waits[0]+k%2, waits[1]+k/2, side), p)
		}
	})
}

// rescue flies a drone over a valley of six by six cells to one in the far corner. Wind blows it to the right in every fourth step, and the rocks of the last column end the flight.
func rescue(*rand.Rand) (*mdp.Tabular, error) {
	const side = 6
	const goal, over = 4, 36
	return mdp.Generate(define(over+1, 5, 30, over), func(s, a int, row *mdp.Row) {
		if s == over {
			return
		}
		row.Reward(-0.02)
		to := func(y int, p float64) {
			switch {
			case y == goal:
				row.AddRewarded(over, p, 2)
			case y%side == side-1:
				row.AddRewarded(over, p, -1)
			default:
				row.Add(y, p)
			}
		}
		y := s
		if a < 4 {
			y = step(s, a, side)
		}
		to(y, 0.75)
		to(step(y, 1, side), 0.25)
	})
}

// songs are of five kinds. A listener in one of six moods likes some kinds more, and tires of the kind that was played last.
func songs(rng *rand.Rand) (*mdp.Tabular, error) {
	const moods, kinds = 6, 5
	var likes [moods][kinds]float64
	for m := range moods {
		for k := range kinds {
			likes[m][k] = 0.9 * rng.Float64()
		}
	}
	return mdp.Generate(define(moods*kinds, kinds, 0), func(s, a int, row *mdp.Row) {
		mood, last := s/kinds, s%kinds
		p := likes[mood][a]
		if a == last {
			p *= 0.4
		}
		row.Noise.Bernoulli = true
		row.Reward(p)
		row.Add(within(mood+1, moods-1)*kinds+a, 0.6*p)
		row.Add(within(mood-1, moods-1)*kinds+a, 0.6*(1-p))
		row.Add(mood*kinds+a, 0.4)
	})
}

// blood is kept for two days. Up to four units of each day are left; each morning some are ordered, and demand takes the old ones first.
func blood(*rand.Rand) (*mdp.Tabular, error) {
	const most = 4
	return mdp.Generate(define((most+1)*(most+1), most+1, 0), func(s, a int, row *mdp.Row) {
		old, fresh := s/(most+1), s%(most+1)
		row.Reward(-0.3 * float64(a))
		poisson(2.5, 8, func(need int, p float64) {
			fromOld := min(need, old)
			fromFresh := min(need-fromOld, fresh)
			short := need - fromOld - fromFresh
			row.AddRewarded((fresh-fromFresh)*(most+1)+a, p, float64(fromOld+fromFresh)-1.5*float64(short))
		})
	})
}
