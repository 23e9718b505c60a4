package fromproto

import (
	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
)

// Metrics decodes declarations and checks them.
func Metrics(list []*pb.Metric) (out []framework.Metric, err error) {
	for _, m := range list {
		out = append(out, framework.Metric{
			Name: m.GetName(), Unit: m.GetUnit(), Doc: m.GetDoc(),
			Better: framework.Direction(m.GetBetter()), Total: framework.Total(m.GetTotal()),
		})
	}
	return out, vector.CheckMetrics(out)
}
