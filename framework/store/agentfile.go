package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/snapshot"
)

// SavedAgent says what agent a file holds. A file has the line agentMagic, a SavedAgent as a
// line of JSON, and a snapshot as package snapshot stores it, with a copy of that line.
type SavedAgent struct {
	Environment string            `json:"environment"`           // label in the experiment
	Agent       string            `json:"agent"`                 // label in the experiment
	Run         int               `json:"run"`                   // index, from 0
	Seed        *uint64           `json:"seed"`                  // of the experiment; nil in files of old programs
	Step        int               `json:"step"`                  // that the agent has learned from, of the run
	Episode     int               `json:"episode,omitempty"`     // that had just ended; 0: within one, or the budget is in steps
	Last        bool              `json:"last,omitempty"`        // of the run
	Before      int               `json:"before,omitempty"`      // steps that it had learned from before the run
	Plugin      string            `json:"plugin"`                // as the config names it
	ID          string            `json:"id"`                    // of the plugin
	Program     string            `json:"program"`               // the agent's, as in records
	Experiment  string            `json:"experiment"`            // as in records
	Params      json.RawMessage   `json:"params,omitempty"`      // of the plugin
	Exploration *plan.Exploration `json:"exploration,omitempty"` // nil if the agent explores on its own
	Discount    *float64          `json:"discount,omitempty"`    // of the experiment, if it gave one
	Spec        savedSpec         `json:"spec"`                  // that the agent was opened with
}

// savedSpec is what of a framework.Spec another task must share, its id, and the steps and episodes that the agent was told.
type savedSpec struct {
	ID          string          `json:"id"`
	Observation json.RawMessage `json:"observation"`
	Action      json.RawMessage `json:"action"`
	Steps       int             `json:"steps"`
	Episodes    int             `json:"episodes,omitempty"`
}

func newSavedSpec(spec framework.Spec) (s savedSpec, err error) {
	s.ID, s.Steps, s.Episodes = spec.ID, spec.Steps, spec.Episodes
	if s.Observation, err = space.Marshal(spec.Observation); err == nil {
		s.Action, err = space.Marshal(spec.Action)
	}
	return s, err
}

const (
	agentMagic = "rlrun agent 1\n"
	// mostHeader and mostState bound the parts of a file.
	mostHeader = 1 << 20
	mostState  = 1 << 30
)

// errAgentFile: a file is not one that encodeAgent made.
var errAgentFile = errors.New("is not a saved agent, or is damaged; remove it to go on without it")

// encodeAgent returns the content of a file.
func encodeAgent(a *SavedAgent, s *loop.Snapshot) ([]byte, error) {
	if len(s.State) > mostState {
		return nil, fmt.Errorf("the agent's state has %d bytes, at most %d can be kept", len(s.State), mostState)
	}
	header, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	state, err := of(header).Save(s, &loop.Snapshot{})
	return slices.Concat([]byte(agentMagic), header, []byte("\n"), state), err
}

// of binds a snapshot to the line of JSON before it.
func of(header []byte) snapshot.Of { return snapshot.Of{{Name: "agent", Value: string(header)}} }

// decodeAgent reads the content of a file. The only error is errAgentFile.
func decodeAgent(data []byte) (*SavedAgent, *loop.Snapshot, error) {
	a, err := readHeader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	parts := bytes.SplitN(data, []byte("\n"), 3)
	var s loop.Snapshot
	if of(parts[1]).Load(&s, parts[2]) != nil {
		return nil, nil, errAgentFile
	}
	return a, &s, nil
}

// readHeader reads the two first lines of a file. The only error is errAgentFile.
func readHeader(r io.Reader) (*SavedAgent, error) {
	in := bufio.NewReader(io.LimitReader(r, mostHeader))
	magic, _ := in.ReadString('\n')
	line, err := in.ReadBytes('\n')
	var a SavedAgent
	if magic != agentMagic || err != nil || json.Unmarshal(line, &a) != nil || a.Run < 0 || a.Step < 0 {
		return nil, errAgentFile
	}
	return &a, nil
}

// readAgent reads a file. digest is its SHA-256, "" for any. Its errors name it.
func readAgent(path, digest string) (*SavedAgent, *loop.Snapshot, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > mostState+2*mostHeader {
		return nil, nil, fmt.Errorf("%s %w", path, errAgentFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if is := sha256.Sum256(data); digest != "" && hex.EncodeToString(is[:]) != digest {
		return nil, nil, fmt.Errorf("%s %w", path, ErrChanged)
	}
	a, s, err := decodeAgent(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", path, err)
	}
	return a, s, nil
}

// agentFile is a file and what it says of itself. Only its two first lines are read.
type agentFile struct {
	SavedAgent
	path   string
	digest string // SHA-256 of the file when the experiment began; empty: not known
}

// agents lists the agents kept in the directory, in the order of the names
// of their files. A file that does not begin as one of them is an error.
func (d Dir) agents() (list []agentFile, err error) {
	entries, err := os.ReadDir(d.path(agentsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != agentExt {
			continue
		}
		path := d.path(agentsDir + "/" + e.Name())
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s is a link, pipe or directory and no saved agent: put the file itself there, or remove it to go on without it", path)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		a, err := readHeader(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("%s %w", path, err)
		}
		list = append(list, agentFile{SavedAgent: *a, path: path})
	}
	return list, err
}

const agentExt = ".agent"

// agentName names the file of the agent of a run after a step.
func agentName(environment, agent string, run, step int) string {
	return fmt.Sprintf("%s/%s.%s.%d.%d%s", agentsDir, environment, agent, run, step, agentExt)
}

// ofRun is the part of the name of such a file that names the run.
func ofRun(file string) string {
	i := strings.LastIndex(strings.TrimSuffix(file, agentExt), ".")
	return file[:max(i, 0)]
}

// SaveAgent keeps the agent of a run of a cell. id is its plugin's, and identity the cell's. unit is the
// step, or the episode with a budget in episodes.
func (d Dir) SaveAgent(p *plan.Plan, warm WarmStarts, session *Session, c plan.Cell, identity, id string, spec framework.Spec, run, unit int, s *loop.Snapshot) error {
	comp := p.Agents[c.Agent]
	told := warm.Told(p, comp)
	spec.Steps, spec.Episodes = told.Steps, told.Episodes
	saved, err := newSavedSpec(spec)
	if err != nil {
		return err
	}
	if p.Config.Episodes == 0 {
		unit = 0
	}
	data, err := encodeAgent(&SavedAgent{
		Environment: p.Environments[c.Environment].Name, Agent: comp.Name, Run: run, Seed: p.Config.Seed, Step: s.Step, Episode: unit, Last: s.Last,
		Before: warm.before(comp, p.Environments[c.Environment].Name, run),
		Plugin: comp.Plugin, ID: id, Program: session.programs(p, c).Agent, Experiment: identity,
		Params: comp.Params, Exploration: comp.Exploration, Discount: told.Discount, Spec: saved,
	}, s)
	if err != nil {
		return err
	}
	return d.write(agentName(plan.Slugs(p.Environments)[c.Environment], plan.Slugs(p.Agents)[c.Agent], run, s.Step), data)
}

// withAgents takes runs from those that are done if their agent is to be kept, but is not
// there.
func (d Dir) withAgents(p *plan.Plan, runs *result.Runs, done Done) error {
	if p.Config.Save == nil || p.Config.Steps == 0 {
		return nil
	}
	entries, err := os.ReadDir(d.path(agentsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there, kept := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		there[agentsDir+"/"+e.Name()] = true
		kept[ofRun(agentsDir+"/"+e.Name())]++
	}
	environments, agents := slugs(p.Environments), slugs(p.Agents)
	for rec, err := range runs.WithoutCurves() {
		if err != nil {
			return err
		}
		if rec.Status != result.OK {
			continue
		}
		name := func(step int) string {
			return agentName(environments[rec.Environment], agents[rec.Agent], rec.Run, step)
		}
		steps, every := []int{rec.Steps}, p.Config.Save.Every
		switch {
		case every > 0 && p.Config.Episodes == 0:
			steps = loop.EveryGrid(every, rec.Steps)
		case every > 0 && kept[ofRun(name(0))] < len(loop.EveryGrid(every, rec.Episodes)): // at steps that no record has
			done[rec.Key()] = false
		}
		for _, step := range steps {
			if !there[name(step)] {
				done[rec.Key()] = false
			}
		}
	}
	return nil
}

// slugs name components in names of files, by their labels.
func slugs(list []plan.Component) map[string]string {
	out := map[string]string{}
	for i, slug := range plan.Slugs(list) {
		out[list[i].Name] = slug
	}
	return out
}
