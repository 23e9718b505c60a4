package page

import (
	"strconv"

	"github.com/rlrun/rlrun/framework/result"
)

// task is a row of the table of environments.
type task struct {
	result.Task
	Environment                       string
	Gain, Diameter, Eta, Epsilon, Max string
	Mean                              string
}

// newTasks returns the rows of the environments with a known model of several states.
func newTasks(m result.Meta) (rows []task) {
	number := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return strconv.FormatFloat(*x, 'g', 4, 64)
	}
	for _, environment := range m.Environments {
		t, ok := m.Tasks[environment]
		if !ok || t.States < 2 {
			continue
		}
		row := task{Task: t, Environment: environment, Gain: number(t.Gain), Diameter: number(t.Diameter), Eta: "–", Epsilon: "–", Max: "–", Mean: "–"}
		if x := t.Mixing; x != nil {
			row.Eta, row.Epsilon, row.Max, row.Mean = number(&x.Eta), number(&x.Epsilon), "∞", number(x.Mean)
			if x.Max != nil {
				row.Max = group(*x.Max)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
