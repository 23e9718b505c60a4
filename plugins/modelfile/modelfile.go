// Package modelfile makes environments from files: finite models in the JSON
// format of mdp.ParseModel, which rlrun mdp also reads.
package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/tabular"
)

const id = "rlrun/model@1"

type settings struct {
	File     string    `json:"file" jsonschema:"required,minLength=1" jsonschema_description:"The model, in the format of rlrun mdp. A path is relative to the directory that rlrun runs in."`
	Schedule *schedule `json:"schedule,omitempty" jsonschema_description:"How the task changes in a run. Default: it does not."`
	Limit    *int      `json:"limit,omitempty" jsonschema:"minimum=0" jsonschema_description:"Steps after which an episode is truncated; 0 for none. Default: episode_steps of the model."`
	Masks    bool      `json:"masks" jsonschema_description:"Say which actions a state has, where states lack some, to agents that read masks. By default the number of a missing action stands for another action of the state."`
}

// schedule are the changes of a task.
type schedule struct {
	Files  []string `json:"files" jsonschema:"required,minItems=1" jsonschema_description:"The models that follow that of file, with the same states, actions and terminal states. Each differs from the one before it, or with a hazard from all others."`
	Steps  []int    `json:"steps,omitempty" when:"hazard=none" jsonschema:"minItems=1" jsonschema_extras:"x-beyond=this model never follows" jsonschema_description:"After how many steps of the run each of files follows; increasing."`
	Hazard *float64 `json:"hazard,omitempty" when:"steps=none" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Probability that after a step another of all models follows, each equally likely; drawn from the seed of the run, so that all agents meet the same changes."`
}

// Plugin returns the environment plugin. Episodes end in the model's terminal
// states, or never if it has none; rewards have the model's noise.
func Plugin() vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: id, Kind: vector.KindEnvironment,
			Doc:       "A finite model that you define in a file.",
			Params:    params.Schema(&settings{}),
			Abilities: []string{"model", "model_notes", "frames"}, FramesPerSecond: tabular.FramesPerSecond,
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			var p settings
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			env, err := p.open(n)
			if err == nil && p.Masks {
				tabular.Mask(env)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
			}
			return env, nil
		},
	}
}

func (p settings) open(n int) (vector.Environment, error) {
	switch {
	case p.File == "":
		return nil, errors.New("file is missing: it names the model")
	case p.Schedule != nil && len(p.Schedule.Files) == 0:
		return nil, errors.New("schedule.files is missing: it names the models that follow")
	}
	if err := params.Check(&p); err != nil {
		return nil, err
	}
	first, err := task(p.File)
	if err != nil {
		return nil, fmt.Errorf("file%w", err)
	}
	if p.Masks && first.Model.Complete() {
		return nil, fmt.Errorf("masks has no effect, as every state of %s has every action: leave it out", p.File)
	}
	limit := first.Model.EpisodeSteps()
	if p.Limit != nil {
		limit = *p.Limit
	}
	x := p.Schedule
	if x == nil {
		return tabular.NewChanging(id, first, tabular.Changes{}, limit, n)
	}
	c := tabular.Changes{Steps: x.Steps}
	switch {
	case x.Hazard == nil && len(x.Steps) != len(x.Files):
		return nil, fmt.Errorf("schedule.steps has %d entries for %d files: give the step after which each of them follows, or hazard", len(x.Steps), len(x.Files))
	case x.Hazard != nil:
		c.Hazard = *x.Hazard
	}
	if err := tabular.CheckSteps(x.Steps); err != nil {
		return nil, fmt.Errorf("schedule.%w", err)
	}
	for k, name := range x.Files {
		t, err := task(name)
		if err != nil {
			return nil, fmt.Errorf("schedule.files[%d]%w", k, err)
		}
		if own := t.Model.EpisodeSteps(); p.Limit == nil && own != limit {
			return nil, fmt.Errorf("schedule.files[%d] %s: episode_steps is %d, and %d in the model of file (0: none): episodes have one limit, so they must be the same, or give limit", k, name, own, limit)
		}
		c.Tasks = append(c.Tasks, t)
	}
	env, err := tabular.NewChanging(id, first, c, limit, n)
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	return env, nil
}

// task reads a model. An error begins behind the name of the parameter.
func task(file string) (*catalog.Task, error) {
	f, err := inputfile.Open(file, 1<<30)
	if dir, bad := os.Getwd(); errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(file) && bad == nil {
		return nil, fmt.Errorf(": %s: %w (a relative path begins in the directory that rlrun runs in, %s)", file, inputfile.Cause(err), dir)
	}
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	defer f.Close()
	m, err := mdp.ParseModel(f)
	if err != nil {
		return nil, fmt.Errorf(" %s: %s", file, strings.TrimPrefix(err.Error(), "mdp: "))
	}
	states, _ := m.Initial()
	if states == nil {
		states = []int32{0}
	}
	for _, s := range states {
		if m.Terminal(int(s)) {
			return nil, fmt.Errorf(" %s: episodes begin in state %d, which is terminal", file, s)
		}
	}
	return &catalog.Task{Model: m}, nil
}
