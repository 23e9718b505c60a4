package fromproto

import (
	"bytes"
	"fmt"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/mdp"
)

// Models reads and validates the model of every lane. Lanes may share one.
func Models(m *pb.ModelsReply, lanes int) ([]*mdp.Tabular, error) {
	if len(m.Lanes) != lanes {
		return nil, fmt.Errorf("models for %d lanes of %d", len(m.Lanes), lanes)
	}
	distinct := make([]*mdp.Tabular, len(m.Models))
	for k, data := range m.Models {
		var err error
		if distinct[k], err = mdp.ParseModel(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
	}
	models := make([]*mdp.Tabular, lanes)
	for i, k := range m.Lanes {
		if int(k) >= len(distinct) {
			return nil, fmt.Errorf("lane %d has model %d of %d", i, k, len(distinct))
		}
		models[i] = distinct[k]
	}
	return models, nil
}
