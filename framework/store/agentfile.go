package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/space"
)

// SavedAgent says what agent a file holds. A file has these parts: the line
// agentMagic; a SavedAgent as a line of JSON; the length of the snapshot's
// state as a varint, and the state; its outcome, which is the reward, a byte
// with bit 0 for terminated and bit 1 for truncated, and the observation; and
// the SHA-256 of all of these.
type SavedAgent struct {
	Environment string            `json:"environment"`           // label in the experiment
	Agent       string            `json:"agent"`                 // label in the experiment
	Run         int               `json:"run"`                   // index, from 0
	Step        int               `json:"step"`                  // that the agent has learned from, of the run
	Before      int               `json:"before,omitempty"`      // steps that it had learned from before the run
	Plugin      string            `json:"plugin"`                // as the config names it
	ID          string            `json:"id"`                    // of the plugin
	Program     string            `json:"program"`               // the agent's, as in records
	Experiment  string            `json:"experiment,omitempty"`  // as in records; empty: an old version wrote it
	Params      json.RawMessage   `json:"params,omitempty"`      // of the plugin
	Exploration *plan.Exploration `json:"exploration,omitempty"` // nil if the agent explores on its own
	Discount    *float64          `json:"discount,omitempty"`    // of the experiment, if it gave one
	Spec        savedSpec         `json:"spec"`                  // that the agent was opened with
}

// savedSpec is a framework.Spec. An infinite bound is absent.
type savedSpec struct {
	ID          string          `json:"id"`
	Observation json.RawMessage `json:"observation"`
	Action      json.RawMessage `json:"action"`
	RewardLow   *float64        `json:"reward_low,omitempty"`
	RewardHigh  *float64        `json:"reward_high,omitempty"`
	Continuing  bool            `json:"continuing,omitempty"`
	Steps       int             `json:"steps"`
}

func newSavedSpec(spec framework.Spec) (s savedSpec, err error) {
	s = savedSpec{ID: spec.ID, Continuing: spec.Continuing, Steps: spec.Steps}
	if !math.IsInf(spec.RewardLow, 0) {
		s.RewardLow = &spec.RewardLow
	}
	if !math.IsInf(spec.RewardHigh, 0) {
		s.RewardHigh = &spec.RewardHigh
	}
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
var errAgentFile = errors.New("is not a saved agent, or is damaged")

// encodeAgent returns the content of a file.
func encodeAgent(a *SavedAgent, s *loop.Snapshot) ([]byte, error) {
	if len(s.State) > mostState {
		return nil, fmt.Errorf("the agent's state has %d bytes, at most %d can be kept", len(s.State), mostState)
	}
	header, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(agentMagic)
	b.Write(append(header, '\n'))
	b.Write(binary.AppendUvarint(nil, uint64(len(s.State))))
	b.Write(s.State)
	flags := byte(0)
	if s.Outcome.Terminated {
		flags |= 1
	}
	if s.Outcome.Truncated {
		flags |= 2
	}
	b.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(s.Outcome.Reward)))
	b.Write(s.Outcome.Observation.AppendBinary([]byte{flags}))
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), nil
}

// decodeAgent reads the content of a file. Its errors wrap errAgentFile.
func decodeAgent(data []byte) (*SavedAgent, *loop.Snapshot, error) {
	refuse := func(format string, args ...any) (*SavedAgent, *loop.Snapshot, error) {
		return nil, nil, fmt.Errorf("%w: %w", errAgentFile, fmt.Errorf(format, args...))
	}
	body, sum := data, []byte(nil)
	if n := len(data) - sha256.Size; n >= 0 {
		body, sum = data[:n], data[n:]
	}
	if is := sha256.Sum256(body); !bytes.Equal(sum, is[:]) {
		return refuse("its checksum is not that of its %d bytes", len(data))
	}
	reader := bufio.NewReader(bytes.NewReader(body))
	a, err := readHeader(reader)
	if err != nil {
		return refuse("%w", err)
	}
	rest, err := io.ReadAll(reader)
	if err != nil {
		return refuse("%w", err)
	}
	n, k := binary.Uvarint(rest)
	if k <= 0 || n > mostState || n > uint64(len(rest)-k) {
		return refuse("its state is cut off")
	}
	s := loop.Snapshot{Step: a.Step, State: rest[k : k+int(n)]}
	if rest = rest[k+int(n):]; len(rest) < 9 {
		return refuse("its outcome is cut off")
	}
	s.Outcome.Reward = math.Float64frombits(binary.LittleEndian.Uint64(rest))
	s.Outcome.Terminated, s.Outcome.Truncated = rest[8]&1 != 0, rest[8]&2 != 0
	if s.Outcome.Observation, rest, err = space.ReadValue(rest[9:]); err != nil || len(rest) > 0 {
		return refuse("its last observation is cut off, or something follows it")
	}
	return a, &s, nil
}

// readHeader reads the two first lines of a file.
func readHeader(r *bufio.Reader) (*SavedAgent, error) {
	magic := make([]byte, len(agentMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != agentMagic {
		return nil, fmt.Errorf("it does not begin with %q", strings.TrimSpace(agentMagic))
	}
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > mostHeader {
			return nil, fmt.Errorf("its second line has more than %d bytes", mostHeader)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, errors.New("it ends within its second line")
		}
	}
	var a SavedAgent
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("its second line: %w", err)
	}
	if a.Run < 0 || a.Step < 0 {
		return nil, fmt.Errorf("it is of run %d, step %d", a.Run, a.Step)
	}
	return &a, nil
}

// readAgent reads a file. digest is its SHA-256, "" for any. Its errors name it.
func readAgent(path, digest string) (*SavedAgent, *loop.Snapshot, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > mostState+2*mostHeader {
		err = fmt.Errorf("%s %w: it has %d bytes, at most %d can be read", path, errAgentFile, info.Size(), mostState+2*mostHeader)
	}
	if err != nil {
		return nil, nil, err
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
	// damage is why these lines cannot be read. Then run and step come from the name of
	// the file. Environment and agent come from an undamaged file whose name begins in
	// the same way, or are empty.
	damage error
}

// pair is the part of the file's name that tells of environment and agent; run and step
// follow it, 0 if the name has none.
func (f *agentFile) pair() (pair string, run, step int) {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(f.path), agentExt), ".")
	n := max(0, len(parts)-2)
	if n > 0 {
		run, _ = strconv.Atoi(parts[n])
		step, _ = strconv.Atoi(parts[n+1])
	}
	return strings.Join(parts[:n], "."), run, step
}

// agents lists the agents kept in the directory, in the order of the names
// of their files. One that is damaged is listed, too: it refuses only what needs it.
func (d Dir) agents() (list []agentFile, err error) {
	entries, err := os.ReadDir(d.path(agentsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if err != nil || filepath.Ext(e.Name()) != agentExt || !e.Type().IsRegular() {
			continue
		}
		path := d.path(agentsDir + "/" + e.Name())
		var f *os.File
		if f, err = os.Open(path); err != nil {
			break
		}
		file := agentFile{path: path}
		if a, damage := readHeader(bufio.NewReader(f)); damage == nil {
			file.SavedAgent = *a
		} else {
			file.damage = fmt.Errorf("%s %w: %w", path, errAgentFile, damage)
		}
		list = append(list, file)
		_ = f.Close() // it was only read
	}
	whole := map[string]*agentFile{}
	for i := range list {
		if pair, _, _ := list[i].pair(); list[i].damage == nil {
			whole[pair] = &list[i]
		}
	}
	for i := range list {
		if f := &list[i]; f.damage != nil {
			var pair string
			if pair, f.Run, f.Step = f.pair(); whole[pair] != nil {
				f.Environment, f.Agent = whole[pair].Environment, whole[pair].Agent
			}
		}
	}
	return list, err
}

const agentExt = ".agent"

// agentName names the file of the agent of a run after a step.
func agentName(environment, agent string, run, step int) string {
	return fmt.Sprintf("%s/%s.%s.%d.%d%s", agentsDir, environment, agent, run, step, agentExt)
}

// SaveAgent keeps the agent of a run of a cell. id is its plugin's, and identity the cell's.
func (d Dir) SaveAgent(p *plan.Plan, warm WarmStarts, session *Session, c plan.Cell, identity, id string, spec framework.Spec, run int, s *loop.Snapshot) error {
	comp := p.Agents[c.Agent]
	told := warm.Told(p, comp)
	spec.Steps = told.Steps
	saved, err := newSavedSpec(spec)
	if err != nil {
		return err
	}
	data, err := encodeAgent(&SavedAgent{
		Environment: p.Environments[c.Environment].Name, Agent: comp.Name, Run: run, Step: s.Step, Before: told.Before,
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
func (d Dir) withAgents(p *plan.Plan, done Done) error {
	if p.Config.Save == nil || p.Config.Steps == 0 {
		return nil
	}
	entries, err := os.ReadDir(d.path(agentsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[agentsDir+"/"+e.Name()] = true
	}
	environments, agents, steps := plan.Slugs(p.Environments), plan.Slugs(p.Agents), []int{p.Config.Steps}
	if every := p.Config.Save.Every; every > 0 {
		steps = loop.EveryGrid(every, p.Config.Steps)
	}
	for _, c := range p.Cells {
		key := p.Key(c)
		for key.Run = range p.Config.Runs {
			for _, step := range steps {
				if done[key] && !there[agentName(environments[c.Environment], agents[c.Agent], key.Run, step)] {
					done[key] = false
				}
			}
		}
	}
	return nil
}
