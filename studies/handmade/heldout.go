package handmade

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// fishery is a lake of up to 30 shoals with 21 quotas. The catch is the quota, or in bad weather
// half of it. What is left grows logistically, give or take a shoal; an empty lake is seldom
// settled again. A shoal pays 1, a unit of quota costs 0.2.
func fishery(*rand.Rand) (*mdp.Tabular, error) {
	const most, quotas = 30, 21
	return mdp.Generate(define(most+1, quotas, 15), func(s, a int, row *mdp.Row) {
		row.Reward(-0.2 * float64(a))
		for _, quota := range []int{a, a / 2} {
			caught := min(quota, s)
			left := s - caught
			if left == 0 {
				row.AddRewarded(0, 0.475, float64(caught))
				row.AddRewarded(2, 0.025, float64(caught))
				continue
			}
			grown := left + int(math.Round(0.5*float64(left)*(1-float64(left)/most)))
			for k, p := range []float64{0.25, 0.5, 0.25} {
				row.AddRewarded(within(grown+k-1, most), p/2, float64(caught))
			}
		}
	})
}

// routing sends a packet over 25 routers with four links each. One link leads to the next
// router. Links differ in how often they pass a packet on; 2 of 100 packets are lost. The last
// router pays 1.
func routing(rng *rand.Rand) (*mdp.Tabular, error) {
	const last, lost, links = 24, 25, 4
	var to [last][links]int
	var passes [last][links]float64
	for s := range last {
		next := rng.IntN(links)
		for a := range links {
			to[s][a], passes[s][a] = within(s-3+rng.IntN(8), last), 0.1+0.9*rng.Float64()
			if a == next {
				to[s][a] = s + 1
			}
		}
	}
	return mdp.Generate(define(lost+1, links, 0, last, lost), func(s, a int, row *mdp.Row) {
		if s >= last {
			return
		}
		paid := 0.0
		if to[s][a] == last {
			paid = 1
		}
		row.AddRewarded(to[s][a], 0.98*passes[s][a], paid)
		row.Add(s, 0.98*(1-passes[s][a]))
		row.Add(lost, 0.02)
	})
}

// house is for sale. Each week there is one of 24 offers, high ones seldom. To wait costs 0.5, to
// advertise 1.5, which makes high offers less rare. A sale pays the offer, less the building of
// the next house, which takes five weeks on average.
func house(*rand.Rand) (*mdp.Tabular, error) {
	const offers = 24
	return mdp.Generate(define(offers+1, 3, offers), func(s, a int, row *mdp.Row) {
		offered := func(ratio, p float64) {
			all := (1 - math.Pow(ratio, offers)) / (1 - ratio)
			for y := range offers {
				row.Add(y, p*math.Pow(ratio, float64(y))/all)
			}
		}
		switch {
		case s == offers:
			row.Add(s, 0.8)
			offered(0.8, 0.2)
		case a == 0:
			row.Reward(-0.5)
			offered(0.8, 1)
		case a == 1:
			row.Reward(-1.5)
			offered(0.9, 1)
		default:
			row.Reward(float64(s) - 5)
			row.Add(offers, 1)
		}
	})
}

// admission is a telephone exchange with ten lines. Calls that pay 1, 4 or 30 ask for one and are
// accepted or refused. A call ends with probability 0.05 per step.
func admission(*rand.Rand) (*mdp.Tabular, error) {
	const lines, kinds = 10, 4
	pay, arrive := [kinds]float64{0, 1, 4, 30}, [kinds]float64{0.25, 0.5, 0.2, 0.05}
	return mdp.Generate(define((lines+1)*kinds, 2, 0), func(s, a int, row *mdp.Row) {
		busy, kind := s/kinds, s%kinds
		if a == 1 && kind > 0 && busy < lines {
			busy++
			row.Reward(pay[kind])
		}
		p := math.Pow(0.95, float64(busy)) // of no call ending
		for ends := range busy + 1 {
			for k, q := range arrive {
				row.Add((busy-ends)*kinds+k, p*q)
			}
			p *= float64(busy-ends) / float64(ends+1) * 0.05 / 0.95
		}
	})
}

// nim has 23 matches. Two players take one to five in turn, and who takes the last one wins 1 from
// the other. The other plays well in 3 of 10 turns, else at random.
func nim(*rand.Rand) (*mdp.Tabular, error) {
	const matches, most = 23, 5
	return mdp.Generate(define(matches+1, most, matches, 0), func(s, a int, row *mdp.Row) {
		left := max(0, s-a-1)
		switch {
		case s == 0:
			return
		case left == 0:
			row.AddRewarded(0, 1, 1)
			return
		}
		answer := func(take int, p float64) {
			y, won := max(0, left-take), 0.0
			if y == 0 {
				won = -1
			}
			row.AddRewarded(y, p, won)
		}
		for take := 1; take <= most; take++ {
			answer(take, 0.7/most)
		}
		answer(max(1, left%(most+1)), 0.3)
	})
}

// antibiotics treats an infection of six degrees with none of two drugs, with one or with both. A
// drug makes the germs resistant to it, in four degrees, which is lost slowly without the drug.
func antibiotics(*rand.Rand) (*mdp.Tabular, error) {
	const worst, resistances = 5, 4
	return mdp.Generate(define((worst+1)*resistances*resistances, 4, 2*resistances*resistances), func(s, a int, row *mdp.Row) {
		degree, resistance := s/(resistances*resistances), [2]int{s / resistances % resistances, s % resistances}
		row.Reward(-float64(degree) / worst)
		fails := 1.0
		var change [2]float64 // probability that the resistance changes
		for k := range 2 {
			change[k] = 0.1
			if a>>k&1 == 1 {
				row.Reward(-0.1)
				fails *= 1 - 0.8*float64(resistances-1-resistance[k])/(resistances-1)
				change[k] = 0.3
			}
		}
		for b := range 4 { // which resistances change
			p, y := 1.0, 0
			for k := range 2 {
				r := resistance[k]
				if b>>k&1 == 1 {
					p *= change[k]
					r = within(r+2*(a>>k&1)-1, resistances-1)
				} else {
					p *= 1 - change[k]
				}
				y = y*resistances + r
			}
			to := func(degree int, q float64) {
				row.Add(within(degree, worst)*resistances*resistances+y, p*q)
			}
			to(degree-1, 1-fails)
			to(degree, fails*0.6)
			to(degree+1, fails*0.4)
		}
	})
}

// berries grow on bushes. To pick finds one with a tenth of their number as probability. One may
// leave for a poor bush, two steps away, or for a rich one, six steps away.
func berries(*rand.Rand) (*mdp.Tabular, error) {
	const full, near, far = 9, 11, 17 // the last steps of both ways
	return mdp.Generate(define(far+1, 3, 5), func(s, a int, row *mdp.Row) {
		switch {
		case s == near:
			for y := 2; y <= 5; y++ {
				row.Add(y, 0.25)
			}
		case s == far:
			for y := 6; y <= full; y++ {
				row.Add(y, 0.25)
			}
		case s > full:
			row.Add(s+1, 1)
		case a == 0:
			row.Noise.Bernoulli = true
			row.Reward(float64(s) / 10)
			row.Add(within(s-1, full), 0.4)
			row.Add(s, 0.6)
		case a == 1:
			row.Add(near-1, 1)
		default:
			row.Add(near+1, 1)
		}
	})
}

// chase is a cat after a mouse on a torus of seven by seven cells. States are where the mouse is,
// seen from the cat. It moves in half of the steps. To pounce on it pays 1, and another mouse comes.
// To pounce elsewhere costs 0.2.
func chase(*rand.Rand) (*mdp.Tabular, error) {
	const side = 7
	moves := [4][2]int{{1, 0}, {side - 1, 0}, {0, 1}, {0, side - 1}}
	at := func(x, y int) int { return x%side*side + y%side }
	return mdp.Generate(define(side*side, 5, at(3, 3)), func(s, a int, row *mdp.Row) {
		x, y := s/side, s%side
		switch {
		case a < 4:
			x, y = x+moves[a][0], y+moves[a][1]
		case s == 0:
			row.Reward(1)
			for k := range side {
				row.Add(at(3, k), 1.0/side)
			}
			return
		default:
			row.Reward(-0.2)
		}
		row.Add(at(x, y), 0.5)
		for _, m := range moves {
			row.Add(at(x+m[0], y+m[1]), 0.125)
		}
	})
}

// darts is a game with 61 points to take. One aims at one of 20 sectors, and hits it in 6 of 10
// throws, each of its neighbours in 15 of 100. A throw that takes too much does not count. Who has
// taken all gets 1.
func darts(*rand.Rand) (*mdp.Tabular, error) {
	const points = 61
	board := []int{20, 1, 18, 4, 13, 6, 10, 15, 2, 17, 3, 19, 7, 16, 8, 11, 14, 9, 12, 5}
	return mdp.Generate(define(points+1, len(board), points, 0), func(s, a int, row *mdp.Row) {
		if s == 0 {
			return
		}
		row.Add(s, 0.1)
		for k, p := range []float64{0.15, 0.6, 0.15} {
			y, paid := s-board[(a+k+len(board)-1)%len(board)], 0.0
			if y < 0 {
				y = s
			}
			if y == 0 {
				paid = 1
			}
			row.AddRewarded(y, p, paid)
		}
	})
}

// pendulum hangs, with 12 angles and 9 speeds, and three torques that are too weak to lift it at
// once. One torque of ten fails. The higher it is, the more it pays; a torque costs 0.05.
func pendulum(*rand.Rand) (*mdp.Tabular, error) {
	const angles, fastest = 12, 4
	const speeds = 2*fastest + 1
	return mdp.Generate(define(angles*speeds, 3, angles/2*speeds+fastest), func(s, a int, row *mdp.Row) {
		angle, speed := s/speeds, s%speeds-fastest
		slope := 2 * math.Pi * float64(angle) / angles // 0 is upright
		row.Reward(math.Pow((1+math.Cos(slope))/2, 2) - 0.05*math.Abs(float64(a-1)))
		swing := func(torque int, p float64) {
			v := speed + torque + int(math.Round(1.5*math.Sin(slope)))
			v = within(v+fastest, 2*fastest) - fastest
			row.Add((angle+v+angles)%angles*speeds+v+fastest, p)
		}
		swing(a-1, 0.9)
		swing(0, 0.1)
	})
}

// discs is the Tower of Hanoi with four discs. An action moves the upper disc of one peg to
// another; one move of ten fails, and one that is not allowed costs 0.01. The tower on the last
// peg pays 1, and is carried back.
func discs(*rand.Rand) (*mdp.Tabular, error) {
	const goal = 80
	return mdp.Generate(define(goal+1, 6, 0), func(s, a int, row *mdp.Row) {
		if s == goal {
			row.Add(0, 1)
			row.Reward(1)
			return
		}
		from := a / 2
		to := (from + 1 + a%2) % 3
		for weight := 1; weight < goal; weight *= 3 { // the smallest disc first
			switch s / weight % 3 {
			case from:
				row.Add(s+(to-from)*weight, 0.9)
				row.Add(s, 0.1)
				return
			case to: // a smaller disc lies there
				weight = goal
			}
		}
		row.Reward(-0.01)
		row.Add(s, 1)
	})
}

// jammer disturbs one quarter of 40 radio channels. A message in it arrives with a tenth of the
// probability of its channel. In 8 of 10 cases the jammer follows to the quarter that was used.
func jammer(rng *rand.Rand) (*mdp.Tabular, error) {
	const quarters, channels = 4, 40
	var arrives [channels]float64
	for a := range arrives {
		arrives[a] = 0.1 + 0.8*rng.Float64()
	}
	return mdp.Generate(define(quarters, channels, 0), func(s, a int, row *mdp.Row) {
		used := a * quarters / channels
		row.Noise.Bernoulli = true
		if used == s {
			row.Reward(0.1 * arrives[a])
		} else {
			row.Reward(arrives[a])
		}
		row.Add(used, 0.8)
		row.Add(s, 0.2)
	})
}
