package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A config says which agents to keep in several ways, and keeps its own.
func TestSaveAndWarmStartInConfigs(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"save":true}`, `"save":true`},
		{`{"save":{"every":5}}`, `"save":{"every":5}`},
		{`{"agents":[{"warm_start":"dir:agent"}]}`, `"warm_start":"dir:agent"`},
		{`{"agents":[{"warm_start":{"from":"dir"}}]}`, `"warm_start":"dir"`},
		{`{"agents":[{"warm_start":{"from":"dir:a","step":7}}]}`, `"warm_start":{"from":"dir:a","step":7}`},
	} {
		var c Config
		must.Do(t, json.Unmarshal([]byte(tt.text), &c))
		out, err := json.Marshal(c)
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %s, %v", tt.text, out, err)
		}
	}
	var c Config
	if err := json.Unmarshal([]byte(`{"save":false}`), &c); err != nil || c.compileSaving() != nil || c.Save != nil {
		t.Errorf("%+v, %v", c.Save, err)
	}
}
