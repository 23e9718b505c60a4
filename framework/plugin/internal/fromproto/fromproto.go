// Package fromproto turns messages of the plugin protocol into what the
// framework says, and validates them: they may come from any program. Package
// toproto does the reverse.
package fromproto

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/printable"
)

// Error returns the error that e stands for, nil for nil: a *vector.LaneError
// where e names a lane, wrapping the sentinel of e's code.
func Error(e *pb.Error) error {
	if e == nil {
		return nil
	}
	var err error = &remoteError{message: OneLine(e.Message), sentinel: wire.Sentinels[e.Code]}
	if e.Lane != nil {
		err = &vector.LaneError{Lane: int(*e.Lane), Err: err}
	}
	return err
}

// longestText bounds what is shown of a message, in bytes.
const longestText = 1 << 13

// OneLine joins the lines of another process's message with semicolons, and cuts a very long
// message. A second line could look like a message of the host.
func OneLine(message string) string {
	if len(message) > longestText {
		message = strings.ToValidUTF8(message[:longestText], "") + "…"
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(message, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// remoteError is an error of the other process: its text and its kind.
type remoteError struct {
	message  string
	sentinel error
}

func (e *remoteError) Error() string {
	switch {
	case e.message != "":
		return e.message
	case e.sentinel != nil:
		return e.sentinel.Error()
	}
	return "an error without a message"
}

func (e *remoteError) Unwrap() error { return e.sentinel }

// maxID bounds the identity of a plugin, in bytes.
const maxID = 256

// Description reads and checks a description.
func Description(m *pb.DescribeReply) (vector.Description, error) {
	d := vector.Description{
		ID: m.Id, Kind: vector.Kind(m.Kind), Doc: m.Doc,
		Params: json.RawMessage(m.Params), Abilities: m.Abilities, Breaks: m.Breaks, Requires: m.Requires, PreferredLanes: int(m.PreferredLanes),
		FramesPerSecond: m.FramesPerSecond, MaxActors: int(m.MaxActors),
	}
	switch {
	case d.ID == "":
		return d, errors.New("a description without an id")
	case len(d.ID) > maxID || strings.ContainsFunc(d.ID, func(r rune) bool { return r == '\n' || r == '\t' || printable.Hidden(r) }):
		return d, fmt.Errorf("an id of %d bytes, %.60q; it may have at most %d bytes, and no control characters", len(d.ID), d.ID, maxID)
	case !slices.Contains(vector.PluginKinds, d.Kind):
		return d, fmt.Errorf("a plugin of kind %q; must be one of %q", d.Kind, vector.PluginKinds)
	case len(d.Params) > 0 && !json.Valid(d.Params):
		return d, errors.New("a parameter schema that is not JSON")
	}
	return d, nil
}

// Spec reads, validates and normalizes a spec.
func Spec(m *pb.Spec) (framework.Spec, error) {
	s := framework.Spec{
		ID: m.GetId(), RewardLow: m.GetRewardLow(), RewardHigh: m.GetRewardHigh(), Continuing: m.GetContinuing(),
		Steps: int(min(m.GetSteps(), math.MaxInt)), Episodes: int(min(m.GetEpisodes(), math.MaxInt)), Masks: m.GetMasks(), Actors: int(m.GetActors()),
	}
	var err error
	if s.Observation, err = Space(m.GetObservation()); err != nil {
		return s, fmt.Errorf("observation space: %w", err)
	}
	if s.Action, err = Space(m.GetAction()); err != nil {
		return s, fmt.Errorf("action space: %w", err)
	}
	return s.Normalized(), s.Validate()
}

// Space reads a space. It is not validated.
func Space(m *pb.Space) (space.Space, error) {
	switch k := m.GetKind().(type) {
	case *pb.Space_Discrete:
		return space.Discrete{N: k.Discrete.GetN(), Start: k.Discrete.GetStart()}, nil
	case *pb.Space_MultiDiscrete:
		return space.MultiDiscrete{NVec: k.MultiDiscrete.GetNvec()}, nil
	case *pb.Space_Box:
		b := space.Box{Low: k.Box.GetLow(), High: k.Box.GetHigh()}
		for _, n := range k.Box.GetShape() {
			b.Shape = append(b.Shape, int(n))
		}
		switch t := k.Box.GetDtype(); t {
		case pb.DType_DTYPE_FLOAT64:
			b.Type = space.Float64
		case pb.DType_DTYPE_FLOAT32:
			b.Type = space.Float32
		case pb.DType_DTYPE_UINT8:
			b.Type = space.Uint8
		case pb.DType_DTYPE_INT64:
			b.Type = space.Int64
		default:
			return nil, fmt.Errorf("a box of element type %v", t)
		}
		return b, nil
	}
	return nil, errors.New("missing, or of a kind this version does not know")
}
