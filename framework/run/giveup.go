package run

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/rlrun/rlrun/framework/plan"
)

// failures counts, for all workers, runs of a cell that failed alike since a run of the
// cell last ended well. It says which cells are given up.
type failures struct {
	plan *plan.Plan

	mu      sync.Mutex
	alike   map[plan.Cell]map[string]int // runs by what their errors have in common
	givenUp map[plan.Cell]string         // why
}

func newFailures(p *plan.Plan) *failures {
	return &failures{plan: p, alike: map[plan.Cell]map[string]int{}, givenUp: map[plan.Cell]string{}}
}

// add records that a run failed.
func (f *failures) add(c plan.Cell, err string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alike[c] == nil {
		f.alike[c] = map[string]int{}
	}
	kind := likeness(err)
	f.alike[c][kind]++
	if n := f.alike[c][kind]; n == f.plan.GiveUpAfter(c) && f.givenUp[c] == "" {
		first, _, _ := strings.Cut(err, "\n")
		f.givenUp[c] = fmt.Sprintf("given up after %d runs failed alike: %s", n, first)
	}
}

// ended records that a run ended well.
func (f *failures) ended(c plan.Cell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.alike, c)
}

// reason says why a cell is given up; empty if it is not.
func (f *failures) reason(c plan.Cell) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.givenUp[c]
}

// probing says that a run of a cell failed and none has ended well since, so that
// the cell may be broken as a whole.
func (f *failures) probing(c plan.Cell) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.alike[c]) > 0 && f.plan.GiveUpAfter(c) > 0
}

// anyNumber matches words that have a digit, such as numbers and addresses.
var anyNumber = regexp.MustCompile(`[-+]?[\pL_]*[0-9][\pL\pN_.+-]*`)

// likeness is what errors of the same kind have in common: the first line without the
// numbers of calls, lanes, addresses and values. That line names the stage, the plugin
// and the fault. The lines that follow are what a process wrote to its standard error.
func likeness(err string) string {
	first, _, _ := strings.Cut(err, "\n")
	return anyNumber.ReplaceAllString(first, "#")
}
