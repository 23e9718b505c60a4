package plan_test

import (
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework/plan"
)

// A sweep makes an agent of every value.
func ExampleCompile() {
	p, err := plan.Compile(plan.Config{
		Runs: 100, Steps: 1000,
		Environments: []plan.Component{{Name: "16 arms", Plugin: "bernoulli-bandit"}},
		Agents: []plan.Component{{Name: "ε={policy.epsilon}", Plugin: "bandit",
			Sweep: map[string][]json.RawMessage{"policy.epsilon": {json.RawMessage("0.1"), json.RawMessage("0.01")}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Cells {
		fmt.Printf("%s in %s: %s\n", p.Agents[c.Agent].Name, p.Environments[c.Environment].Name, p.Agents[c.Agent].Params)
	}
	// Output:
	// ε=0.1 in 16 arms: {"policy":{"epsilon":0.1}}
	// ε=0.01 in 16 arms: {"policy":{"epsilon":0.01}}
}
