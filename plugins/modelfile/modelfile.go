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
	File  string `json:"file" jsonschema:"required,minLength=1" jsonschema_description:"The model, in the format of rlrun mdp. A path is relative to the directory that rlrun runs in."`
	Limit int    `json:"limit" jsonschema:"minimum=0" jsonschema_description:"Steps after which an episode is truncated; 0 for none."`
}

// Plugin returns the environment plugin. Episodes end in the model's terminal
// states, or never if it has none; rewards have the model's noise.
func Plugin() vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: id, Kind: vector.KindEnvironment,
			Doc:          "A finite model that you define in a file.",
			Params:       params.Schema(&settings{}),
			Capabilities: []string{"model", "frames"}, FramesPerSecond: tabular.FramesPerSecond,
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			var p settings
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			task, err := p.task()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
			}
			return tabular.New(id, task, p.Limit, n), nil
		},
	}
}

func (p settings) task() (*catalog.Task, error) {
	switch {
	case p.File == "":
		return nil, errors.New("file is missing: it names the model")
	case p.Limit < 0:
		return nil, fmt.Errorf("limit is %d, must not be negative", p.Limit)
	}
	f, err := inputfile.Open(p.File, 1<<30)
	if dir, bad := os.Getwd(); errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(p.File) && bad == nil {
		return nil, fmt.Errorf("file: %w (a relative path begins in the directory that rlrun runs in, %s)", err, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	m, err := mdp.ParseModel(f)
	if err != nil {
		return nil, fmt.Errorf("file %s: %s", p.File, strings.TrimPrefix(err.Error(), "mdp: "))
	}
	states, _ := m.Initial()
	if states == nil {
		states = []int32{0}
	}
	for _, s := range states {
		if m.Terminal(int(s)) {
			return nil, fmt.Errorf("file %s: episodes begin in state %d, which is terminal", p.File, s)
		}
	}
	return &catalog.Task{Model: m}, nil
}
