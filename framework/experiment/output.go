package experiment

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// Names inside an output directory.
const (
	configFile     = "experiment.yaml"
	provenanceFile = "provenance.json"
)

// Prepare makes the output directory and writes the resolved config and the
// provenance into it. With resume it reads which runs are done, after making
// sure that they belong to the same experiment; runs that failed are not done. If
// runs are left, it removes what was made from the records of the others.
// Without resume, a directory that holds anything but its lock is refused. Runs of
// other programs than session's are refused (ErrOtherPrograms) unless session.Mixed
// allows them. The session is appended to the provenance. The caller holds the
// lock. It changes nothing if the context ends while it reads records.
func (p *Plan) Prepare(ctx context.Context, dir string, resume bool, session Session) (Done, error) {
	entries, err := outputEntries(dir)
	switch {
	case err != nil:
		return nil, err
	case len(entries) > 0 && !resume:
		return nil, fmt.Errorf("%s %w", dir, ErrOutputExists)
	}
	done := Done{}
	prov := &Provenance{}
	if resume {
		if prov, err = ReadProvenance(dir); err != nil {
			return nil, err
		}
		runs, err := result.OpenRunsContext(ctx, dir)
		if err != nil {
			return nil, p.Blame(err)
		}
		if err := p.sameExperiment(dir, prov, len(runs.Entries)); err != nil {
			return nil, err
		}
		most := 0
		for _, e := range runs.Entries {
			most = max(most, e.Run+1)
			done[e.Key] = e.Status == result.OK
		}
		if most > p.Config.Runs {
			return nil, fmt.Errorf("%s holds %w: run %d is recorded (they count from 0), and runs is %d; ask for %d runs or more",
				dir, ErrOtherExperiment, most-1, p.Config.Runs, most)
		}
		if !session.Mixed {
			if err := p.samePrograms(dir, prov, &session, runs.Entries); err != nil {
				return nil, err
			}
		}
		if err := result.Check(ctx, p.Meta(), runs.All()); err != nil {
			return nil, err
		}
		if err := p.withAgents(dir, done); err != nil {
			return nil, err
		}
		if len(p.jobs(done, Shard{})) > 0 {
			if err := p.removeMade(dir); err != nil {
				return nil, err
			}
		}
	}
	prov.add(session)
	if err := disk.MkdirAll(p.fileSystem(), dir); err != nil {
		return nil, err
	}
	if err := p.writeConfig(dir); err != nil {
		return nil, err
	}
	return done, p.writeJSON(filepath.Join(dir, provenanceFile), prov)
}

func (p *Plan) writeConfig(dir string) error {
	text, err := p.Config.YAML()
	if err != nil {
		return err
	}
	return p.writeFile(filepath.Join(dir, configFile), text)
}

func (p *Plan) writeFile(path string, data []byte) error {
	return disk.WriteFile(p.fileSystem(), path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// writeJSON writes a value as JSON that people can read.
func (p *Plan) writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return p.writeFile(path, append(text, '\n'))
}

// againBy is readJSON's advice for files that every run of an experiment writes anew.
const againBy = "; remove it, and --resume writes it again"

// readJSON reads a file that writeJSON wrote. The error wraps fs.ErrNotExist if there is
// none. advice says what to do about a file that is no such JSON.
func readJSON(path string, v any, advice string) error {
	data, err := inputfile.Read(path, result.MaxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w%s", path, err, advice)
	}
	return nil
}

// otherExperiment is an ErrOtherExperiment: the config in path differs.
type otherExperiment struct{ path, where, was, is string }

func (e *otherExperiment) Error() string {
	return fmt.Sprintf("%s: %s differs: it was %s and is now %s", e.path, e.where, e.was, e.is)
}

func (e *otherExperiment) Unwrap() error { return ErrOtherExperiment }

// sameExperiment refuses to add runs to those of another experiment. Settings
// that cannot change a record may differ: workers, lanes, transport, processes,
// limits, report, output, and the number of runs. A directory with records must
// have its config, which must have the seed that the provenance says.
func (p *Plan) sameExperiment(dir string, prov *Provenance, records int) error {
	path := filepath.Join(dir, configFile)
	old, err := ReadConfig(path)
	if errors.Is(err, fs.ErrNotExist) && records == 0 {
		return nil // nothing was begun here
	}
	if errors.Is(err, fs.ErrNotExist) {
		return noConfig(dir)
	}
	if err != nil {
		return err
	}
	if err := sameSeed(path, old, prov); err != nil {
		return err
	}
	a, b := old.essence(), p.Config.essence()
	for _, key := range essentialKeys(a, b) {
		if !reflect.DeepEqual(a[key], b[key]) {
			where, was, is := firstDifference(key, a[key], b[key])
			return &otherExperiment{path, where, was, is}
		}
	}
	return p.sameComparison(dir, old)
}

func noConfig(dir string) error {
	return fmt.Errorf("%s holds records but no %s, so they may be of %w; restore it", dir, configFile, ErrOtherExperiment)
}

// sameSeed refuses a config that is not the one of the directory's provenance.
func sameSeed(path string, c Config, prov *Provenance) error {
	if prov.Started.IsZero() || c.Seed != nil && prov.Seed == *c.Seed {
		return nil
	}
	has := "no seed"
	if c.Seed != nil {
		has = fmt.Sprintf("seed %d", *c.Seed)
	}
	return fmt.Errorf("%s has %s and is %w: by %s the runs were made with seed %d; restore it", path, has, ErrOtherExperiment, provenanceFile, prov.Seed)
}

// OpenPlan compiles the config of an output directory, for a report. The error wraps
// fs.ErrNotExist if there is none, and ErrOtherExperiment if it is not the one that
// its runs were made with.
func OpenPlan(dir string) (*Plan, error) {
	path := filepath.Join(dir, configFile)
	c, err := ReadConfig(path)
	if err != nil {
		return nil, err
	}
	prov, err := ReadProvenance(dir)
	if err != nil {
		return nil, err
	}
	if err := sameSeed(path, c, prov); err != nil {
		return nil, err
	}
	plan, err := Compile(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	last := &prov.Session
	for s := range prov.sessions() {
		last = s
	}
	plan = plan.withoutSkipped(last.Skipped)
	plan.notes = last.Notes
	return plan, nil
}

// firstDifference descends to the first value that differs between two decoded
// JSON values, and returns its path and both values as JSON, shortened.
func firstDifference(path string, a, b any) (where, was, is string) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(x)) {
				if !reflect.DeepEqual(x[k], y[k]) {
					return firstDifference(path+"."+k, x[k], y[k])
				}
			}
			for _, k := range slices.Sorted(maps.Keys(y)) {
				if _, has := x[k]; !has {
					return firstDifference(path+"."+k, nil, y[k])
				}
			}
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				if !reflect.DeepEqual(x[i], y[i]) {
					return firstDifference(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
				}
			}
		}
	}
	return path, brief(a), brief(b)
}

func brief(v any) string {
	if v == nil {
		return "absent"
	}
	data, err := json.Marshal(v)
	if err != nil || len(data) > 60 {
		return "something else"
	}
	return string(data)
}

func essentialKeys(a, b map[string]any) []string {
	var keys []string
	for _, k := range []string{"seed", "steps", "discount", "record", "save", "evaluate", "environments", "agents"} {
		if a[k] != nil || b[k] != nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// essence is the config as decoded JSON, without what cannot change a record.
func (c Config) essence() map[string]any {
	data, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	var m map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&m) != nil {
		return nil
	}
	m, _ = plainNumbers(m).(map[string]any)
	if record, ok := m["record"].(map[string]any); ok {
		if metrics, ok := record["metrics"].([]any); ok { // their order changes no record
			slices.SortFunc(metrics, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	for _, key := range []string{"environments", "agents"} {
		list, _ := m[key].([]any)
		for _, e := range list {
			if component, ok := e.(map[string]any); ok {
				for _, key := range []string{"transport", "processes_per_worker", "limits"} {
					delete(component, key)
				}
			}
		}
	}
	for _, key := range []string{"name", "description", "runs", "transport", "workers", "lanes", "limits", "output", "outputs", "report", "compare"} {
		delete(m, key)
	}
	return m
}

// plainNumbers replaces numbers in decoded JSON by float64, so that 1 and 1.0 are equal.
// Integers that float64 may not hold, such as seeds, stay.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	case json.Number:
		x, err := v.Float64()
		if large := math.Abs(x) >= 1<<53 && !strings.ContainsAny(v.String(), ".eE"); err == nil && !large {
			return x
		}
	}
	return value
}

// digest is the SHA-256 of the essence's JSON, in hexadecimal.
func (c Config) digest() string {
	data, _ := json.Marshal(c.essence())
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// identities returns, by environment and agent, a digest of what decides their records
// besides the programs: seed, steps and what is recorded, and both components. Other
// components do not change it.
func (p *Plan) identities() map[result.Key]string {
	c := p.Config
	c.Environments, c.Agents = p.Environments, p.Agents
	c.Matrix, c.Save = nil, nil // they say which records and files there are
	common := c.essence()
	parts := func(key string) (list []json.RawMessage) {
		components, _ := common[key].([]any)
		for _, component := range components {
			data, _ := json.Marshal(component)
			list = append(list, data)
		}
		delete(common, key)
		return list
	}
	environments, agents := parts("environments"), parts("agents")
	rest, _ := json.Marshal(common)
	out := map[result.Key]string{}
	for _, cell := range p.Cells() {
		out[p.key(cell)] = shortDigest(json.RawMessage(rest), environments[cell.Environment], agents[cell.Agent])
	}
	return out
}

// YAML returns the config as it is written to experiment.yaml, keys in the order
// of Config's fields.
func (c Config) YAML() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(escapeControls(data), &node); err != nil { // JSON is YAML
		return nil, err
	}
	blockStyle(&node)
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(&node); err != nil {
		return nil, err
	}
	return buf.Bytes(), enc.Close()
}

// escapeControls escapes, in JSON, the characters that YAML does not take as they are.
func escapeControls(data []byte) []byte {
	bad := func(r rune) bool { return r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff }
	if !bytes.ContainsFunc(data, bad) {
		return data
	}
	var out []byte
	for _, r := range string(data) {
		if bad(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func blockStyle(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle | yaml.DoubleQuotedStyle
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// ReadConfig reads a file that YAML wrote. For files people write, cmd/rlrun has
// a reader that checks them against the schema.
func ReadConfig(path string) (Config, error) {
	var c Config
	data, err := inputfile.Read(path, result.MaxFile)
	if err != nil {
		return c, err
	}
	var doc any // refuses keys that are there twice, and aliases without end
	var node yaml.Node
	err = yaml.Unmarshal(data, &doc)
	if err == nil {
		err = yaml.Unmarshal(data, &node)
	}
	if err == nil {
		keepNumbers(&node, &doc, false)
	}
	text, err2 := json.Marshal(doc)
	if err = cmp.Or(err, err2); err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w; restore it, it is the config as it was run", path, err)
	}
	return c, nil
}

// keepNumbers replaces numbers in sweeps by their text, since names contain this text:
// 0.10 and 0.1 make different names.
func keepNumbers(n *yaml.Node, value *any, swept bool) {
	switch v := (*value).(type) {
	case map[string]any:
		if n.Kind == yaml.DocumentNode {
			keepNumbers(n.Content[0], value, swept)
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if old, ok := v[key]; ok {
				keepNumbers(n.Content[i+1], &old, swept || key == "sweep")
				v[key] = old
			}
		}
	case []any:
		for i := range min(len(v), len(n.Content)) {
			keepNumbers(n.Content[i], &v[i], swept)
		}
	case int, int64, uint64, float64:
		if swept && json.Valid([]byte(n.Value)) {
			*value = json.Number(n.Value)
		}
	}
}

// Meta returns what statistics need to know of the plan.
func (p *Plan) Meta() result.Meta {
	m := result.Meta{
		Name: p.Config.Name, Description: p.Config.Description, Steps: p.Config.Steps, Grid: p.Grid,
		Discount: *p.Config.Discount, Runs: p.Config.Runs, Seed: *p.Config.Seed, Recorded: p.Config.Record.Metrics,
		Skipped: p.Skipped(), Notes: p.notes, Experiments: p.identities(),
		Environments: labels(p.Environments), Agents: labels(p.Agents),
	}
	for _, c := range p.Environments {
		m.EnvironmentPlugins = append(m.EnvironmentPlugins, c.commandLine())
	}
	for _, c := range p.Agents {
		m.AgentPlugins = append(m.AgentPlugins, c.commandLine())
	}
	return m
}
