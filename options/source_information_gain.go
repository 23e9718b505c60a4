package options

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// InformationGain goes, by the shortest way that was seen, to the state and action whose next try is expected to tell most
// about where it leads, and tries it: the information gain of VIME (Houthooft et al. 2016), exact for the belief
// Dirichlet(1/S, …, 1/S) plus what was seen, S states.
var InformationGain = NamedSource{
	Name: "information-gain",
	Doc:  "the shortest way that was seen to the action that is expected to tell most about where it leads; from there, that action",
	Make: func(x *Experience) ([]DeclaredOption, error) {
		g := newGraph(x)
		counts := make([][]int, len(g.next))
		for _, t := range x.Seen {
			i := t.State*x.Actions + t.Action
			counts[i] = append(counts[i], t.Count)
		}
		most, goals, actions := 0.0, []int(nil), make([]int, x.States)
		for _, s := range g.seen {
			for a := range x.Actions {
				gain := informationGain(counts[s*x.Actions+a], x.States)
				if gain > most+1e-9 {
					most, goals = gain, nil
				}
				if n := len(goals); gain > most-1e-9 && (n == 0 || goals[n-1] != s) {
					goals, actions[s] = append(goals, s), a
				}
			}
		}
		o := g.to("to what tells most", goals)
		for _, s := range goals {
			o.act(s, actions[s])
			o.End[s] = 1
		}
		return offered(o), nil
	},
}

// informationGain is the mutual information between the next outcome and the probabilities, in nats: Σ p̄ᵢ (ψ(αᵢ+1) − ln αᵢ) −
// ψ(α₀+1) + ln α₀, where p̄ᵢ = αᵢ/α₀.
func informationGain(counts []int, states int) float64 {
	prior, total := 1/float64(states), 1.0
	for _, n := range counts {
		total += float64(n)
	}
	term := func(alpha float64) float64 { return alpha / total * (mathext.Digamma(alpha+1) - math.Log(alpha)) }
	gain := float64(states-len(counts))*term(prior) - mathext.Digamma(total+1) + math.Log(total)
	for _, n := range counts {
		gain += term(prior + float64(n))
	}
	return gain
}
