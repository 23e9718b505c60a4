package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/spelling"
	"github.com/rlrun/rlrun/options"
)

// optionFile is a file of declared options, in YAML or JSON (docs/exploration.md). States and
// actions are counted from 0.
type optionFile struct {
	States  number `yaml:"states"`
	Actions number `yaml:"actions"`
	Options []struct {
		Name string `yaml:"name"`
		// Policy maps states to an action, or to the probabilities of all. In other states the
		// option ends.
		Policy map[number]yaml.Node `yaml:"policy"`
		// Initiation lists states. Default: those of the policy in which it does not surely end.
		Initiation []number `yaml:"initiation"`
		// End maps states of the policy to probabilities of ending on arrival. Default: 0.
		End map[number]float64 `yaml:"end"`
	} `yaml:"options"`
}

// CheckOptions returns what is wrong with a file of options, whatever its task.
func CheckOptions(path string) error {
	_, err := readOptions(path, framework.Spec{})
	return err
}

// readOptions reads a file of options that are declared for the task of spec.
func readOptions(path string, spec framework.Spec) ([]options.DeclaredOption, error) {
	data, err := inputfile.Read(path, 64*inputfile.MiB)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("file of options %s: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	list, err := parseOptions(data, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// decodeOptions reads what a file says, and nothing else: package yaml takes a missing value for
// 0, and reads the first document only.
func decodeOptions(data []byte) (f optionFile, err error) {
	var text yaml.Node
	data = inputfile.YAML(data)
	if err := yaml.Unmarshal(data, &text); err != nil {
		return f, err
	}
	if line := missing(&text); line > 0 {
		return f, fmt.Errorf("line %d: a value is missing", line)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return f, err
	}
	if err := dec.Decode(&text); err == nil {
		return f, fmt.Errorf("line %d: a second document", text.Line)
	} else if !errors.Is(err, io.EOF) {
		return f, err
	}
	return f, nil
}

// unread is what package yaml says of a part of a file that it cannot read.
var unread = regexp.MustCompile("^(line \\d+): (?:field (.+) not found in type (.+)|cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+))$")

// inWords is an error of package yaml without the types of Go, in a line.
func inWords(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if failed, ok := errors.AsType[*yaml.TypeError](err); ok {
		list := slices.Clone(failed.Errors)
		for i, line := range list {
			switch x := unread.FindStringSubmatch(line); {
			case x == nil:
			case x[2] != "":
				known := []string{"name", "policy", "initiation", "end"} // of an option
				if x[3] == "run.optionFile" {
					known = []string{"states", "actions", "options"}
				}
				list[i] = fmt.Sprintf("%s: unknown key %s; the keys are %s", x[1], x[2], strings.Join(known, ", "))
				if c := spelling.Closest(x[2], known); c != "" {
					list[i] = fmt.Sprintf("%s: unknown key %s; did you mean %s?", x[1], x[2], c)
				}
			default:
				wanted := "a mapping"
				for prefix, what := range map[string]string{"[]": "a list", "string": "a text", "float64": "a number"} {
					if strings.HasPrefix(x[6], prefix) {
						wanted = what
					}
				}
				got := x[5]
				if what := map[string]string{"map": "a mapping", "seq": "a list"}[x[4]]; what != "" {
					got = what
				}
				list[i] = fmt.Sprintf("%s: must be %s, not %s", x[1], wanted, got)
			}
		}
		text = strings.Join(list, "; ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// missing returns the line of a value that is none, 0 if there is none.
func missing(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return n.Line
	}
	for _, child := range n.Content {
		if line := missing(child); line > 0 {
			return line
		}
	}
	return 0
}

// number is a whole number, also in quotes, as keys of JSON are. Package yaml would drop the
// fraction of another one.
type number int

// UnmarshalYAML implements yaml.Unmarshaler.
func (x *number) UnmarshalYAML(n *yaml.Node) error {
	i, err := strconv.Atoi(n.Value)
	if err != nil || n.Value != strconv.Itoa(i) {
		return fmt.Errorf("line %d: %s is no whole number like 12", n.Line, n.Value)
	}
	*x = number(i)
	return nil
}

// mostEntries bounds states times actions.
const mostEntries = 1 << 24

func parseOptions(data []byte, spec framework.Spec) ([]options.DeclaredOption, error) {
	f, err := decodeOptions(data)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("no file of options: %s", inWords(err))
	}
	if f.States < 1 || f.Actions < 1 || f.States > mostEntries/f.Actions {
		return nil, fmt.Errorf("states: %d and actions: %d must be the numbers of the task's, at least 1", f.States, f.Actions)
	}
	states, ok := spec.Observation.(space.Discrete)
	actions, ok2 := spec.Action.(space.Discrete)
	if ok && ok2 && (int64(f.States) != states.N || int64(f.Actions) != actions.N) { // other tasks are refused later
		return nil, fmt.Errorf("states: %d and actions: %d are not those of %s, which has %d and %d: %w", f.States, f.Actions, spec.ID, states.N, actions.N, framework.ErrUnsupported)
	}
	if len(f.Options) == 0 {
		return nil, errors.New("options: there is none")
	}
	var list []options.DeclaredOption
	for i, x := range f.Options {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("option %d, %q: %w", i, x.Name, fmt.Errorf(format, args...))
		}
		o := options.DeclaredOption{Name: x.Name, Initiation: make([]bool, f.States), End: make([]float64, f.States), Actions: make([]int, f.States)}
		for s := range o.End {
			o.End[s] = 1
		}
		for _, s := range slices.Sorted(maps.Keys(x.Policy)) {
			if s < 0 || s >= f.States {
				return nil, fail("policy: there is no state %d; the states are 0 to %d", s, f.States-1)
			}
			o.End[s] = x.End[s]
			node := x.Policy[s]
			if node.Kind == yaml.SequenceNode && o.Rows == nil {
				o.Rows = make([][]float64, f.States)
			}
			var a number
			if err := node.Decode(&a); node.Kind != yaml.SequenceNode && err != nil {
				return nil, fail("policy of state %d: must be the number of an action, or a list of probabilities", s)
			}
			o.Actions[s] = int(a)
		}
		for s, p := range x.End {
			if _, acts := x.Policy[s]; !acts && p != 1 {
				return nil, fail("end: there is no policy in state %d, where the option ends with probability 1, not %v", s, p)
			}
		}
		if o.Rows != nil { // actions with probability 1
			for s := range o.Rows {
				o.Rows[s] = make([]float64, f.Actions)
				o.Rows[s][0] = 1
			}
			for s, node := range x.Policy {
				row := make([]float64, f.Actions)
				if node.Kind != yaml.SequenceNode {
					a := o.Actions[s]
					if a < 0 || a >= len(row) {
						return nil, fail("action %d in state %d is not in 0..%d", a, s, len(row)-1)
					}
					row[a] = 1
				} else if err := node.Decode(&row); err != nil {
					return nil, fail("policy of state %d: must be the number of an action, or a list of probabilities", s)
				}
				o.Rows[s] = row
			}
			o.Actions = nil
		}
		initiation := x.Initiation
		if initiation == nil {
			for s := range x.Policy {
				if o.End[s] < 1 {
					initiation = append(initiation, s)
				}
			}
		}
		for _, s := range initiation {
			if _, acts := x.Policy[s]; !acts {
				return nil, fail("initiation: there is no policy in state %d", s)
			}
			o.Initiation[s] = true
		}
		list = append(list, o)
	}
	if err := options.CheckDeclared(list, int(f.States), int(f.Actions)); err != nil {
		return nil, err
	}
	return list, nil
}
