package toproto

import (
	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
)

// Metrics encodes the declarations of measures, which may be nil.
func Metrics(m *vector.Measures) (out []*pb.Metric) {
	if m == nil {
		return nil
	}
	for _, x := range m.Metrics {
		out = append(out, metric(x))
	}
	return out
}

func metric(x framework.Metric) *pb.Metric {
	return &pb.Metric{Name: x.Name, Unit: x.Unit, Doc: x.Doc, Better: string(x.Better), Total: string(x.Total)}
}
