// Package toproto turns what the framework says into messages of the plugin
// protocol. Package fromproto does the reverse.
package toproto

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Error returns err as it crosses in band, nil for nil.
func Error(err error) *pb.Error {
	if err == nil {
		return nil
	}
	e := &pb.Error{Code: Code(err)}
	var lane *vector.LaneError
	if errors.As(err, &lane) && lane.Lane >= 0 {
		n := uint32(lane.Lane)
		e.Lane, err = &n, lane.Err
	}
	e.Message = message(err)
	return e
}

// longestMessage bounds the message of an error in bytes, far below the limit of an answer.
const longestMessage = 1 << 12

// message returns the text of an error as the protocol can carry it: UTF-8, and not longer
// than longestMessage.
func message(err error) string {
	text, cut := err.Error(), ""
	if n := len(text); n > longestMessage {
		text, cut = text[:longestMessage], fmt.Sprintf("… (cut; %d bytes in all)", n)
	}
	return strings.ToValidUTF8(text, "\uFFFD") + cut
}

// Code returns the code of the sentinel that err wraps.
func Code(err error) pb.Code {
	for _, code := range slices.Sorted(maps.Keys(wire.Sentinels)) {
		if errors.Is(err, wire.Sentinels[code]) {
			return code
		}
	}
	return pb.Code_CODE_UNSPECIFIED
}

// Description returns d as a message.
func Description(d vector.Description) *pb.DescribeReply {
	return &pb.DescribeReply{
		Id: d.ID, Kind: string(d.Kind), Doc: d.Doc, Params: d.Params, Abilities: d.Abilities, Breaks: d.Breaks, Requires: d.Requires, PreferredLanes: uint32(d.PreferredLanes),
		FramesPerSecond: d.FramesPerSecond, MaxActors: uint32(d.MaxActors),
	}
}

// Spec returns s as a message.
func Spec(s framework.Spec) (*pb.Spec, error) {
	observation, err := Space(s.Observation)
	if err != nil {
		return nil, fmt.Errorf("observation space: %w", err)
	}
	action, err := Space(s.Action)
	if err != nil {
		return nil, fmt.Errorf("action space: %w", err)
	}
	return &pb.Spec{
		Id: s.ID, Observation: observation, Action: action,
		RewardLow: s.RewardLow, RewardHigh: s.RewardHigh, Continuing: s.Continuing,
		Steps: uint64(max(0, s.Steps)), Episodes: uint64(max(0, s.Episodes)), Masks: s.Masks, Actors: uint32(s.Actors),
	}, nil
}

// Space returns s as a message.
func Space(s space.Space) (*pb.Space, error) {
	switch s := s.(type) {
	case space.Discrete:
		return &pb.Space{Kind: &pb.Space_Discrete{Discrete: &pb.DiscreteSpace{N: s.N, Start: s.Start}}}, nil
	case space.MultiDiscrete:
		return &pb.Space{Kind: &pb.Space_MultiDiscrete{MultiDiscrete: &pb.MultiDiscreteSpace{Nvec: s.NVec}}}, nil
	case space.Box:
		b := &pb.BoxSpace{Low: s.Low, High: s.High}
		for _, n := range s.Shape {
			b.Shape = append(b.Shape, int64(n))
		}
		switch s.DType() {
		case space.Float64:
			b.Dtype = pb.DType_DTYPE_FLOAT64
		case space.Float32:
			b.Dtype = pb.DType_DTYPE_FLOAT32
		case space.Uint8:
			b.Dtype = pb.DType_DTYPE_UINT8
		case space.Int64:
			b.Dtype = pb.DType_DTYPE_INT64
		}
		return &pb.Space{Kind: &pb.Space_Box{Box: b}}, nil
	}
	return nil, fmt.Errorf("the protocol has no space %T", s)
}
