// Package result holds what an experiment found: the records of its runs, the
// files they are kept in, and the statistics made from them. The records are the
// truth; every other file of an output directory can be made again from them.
//
// It knows nothing of plugins, configs or plots.
package result

import (
	"slices"
	"strings"
)

// Status is the state in which a run ended: ok, failed or given up.
type Status string

// The ends of a run. A run that was interrupted leaves no record.
const (
	OK     Status = "ok"
	Failed Status = "failed"
	// GivenUp: the run was not made, because too many runs of its environment and
	// agent had failed alike.
	GivenUp Status = "given_up"
)

// Record is one finished run: one line of runs/*.jsonl. It depends on the config,
// the root seed and the programs alone. In JSON a value that is not finite is null, and null
// is read as NaN.
type Record struct {
	Environment string `json:"environment"`     // label in the experiment
	Agent       string `json:"agent"`           // label in the experiment
	Run         int    `json:"run"`             // index, from 0
	Status      Status `json:"status"`          // ok, failed or given up
	Error       string `json:"error,omitempty"` // why a run failed (plugin, call, lane, stderr tail) or was given up
	Steps       int    `json:"steps"`           // interactions with the environment
	Episodes    int    `json:"episodes"`        // episodes that ended within the run
	// Curves holds one value a grid point for every recorded metric; see Metric.
	Curves Curves `json:"curves,omitempty"`
	// Infinite are the metrics whose curve had an infinite value somewhere, in order, as sums of
	// finite rewards may have. It is read from JSON, and written from Curves.
	Infinite []Metric `json:"infinite,omitempty"`
	// Decisions are those of an agent that chooses between options.
	Decisions []Decision `json:"decisions,omitempty"`
	// Experiment identifies what decides the record besides the programs; see
	// Meta.Experiments. Rlrun always writes it.
	Experiment string `json:"experiment,omitempty"`
	// Programs made the run. The name of the record's file tells them, so that equal
	// results are equal lines whatever made them.
	Programs Programs `json:"-"`
	at       place    // where it was read
}

// Key returns the environment, agent and number of the run.
func (r *Record) Key() Key { return Key{r.Environment, r.Agent, r.Run} }

// entry is the record without its curves.
func (r *Record) entry() *Entry {
	return &Entry{Key: r.Key(), Status: r.Status, Experiment: r.Experiment, at: r.at}
}

// Programs identifies the programs that made a run, each by hexadecimal digits
// that provenance.json explains. A bundled plugin has the host's identity. The zero
// value: not known.
type Programs struct {
	Host        string // rlrun itself
	Environment string // the environment's plugin
	Agent       string // the agent's plugin
}

// OwnFiles begins, in the identity of an environment or agent, the digest of files that it has besides
// its plugin, such as those that parameters name. Before it is the plugin's identity, or nothing if that is
// bundled. Another digest after a second one says that these files changed in a mixed experiment.
const OwnFiles = "_"

// String joins the identities with dashes; the host's alone stands for all three if
// they are equal. Empty if nothing is known.
func (p Programs) String() string {
	if p.Environment == p.Host && p.Agent == p.Host {
		return p.Host
	}
	return p.Host + "-" + p.Environment + "-" + p.Agent
}

// parsePrograms reads what String writes; the zero value of anything else.
func parsePrograms(ids string) Programs {
	if strings.Trim(ids, "0123456789abcdef-"+OwnFiles) != "" {
		return Programs{}
	}
	switch words := strings.Split(ids, "-"); {
	case slices.Contains(words, ""):
	case len(words) == 1:
		return Programs{words[0], words[0], words[0]}
	case len(words) == 3:
		return Programs{words[0], words[1], words[2]}
	}
	return Programs{}
}
