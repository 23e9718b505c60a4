package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// YAML returns the config as it is written to experiment.yaml, keys in the order
// of Config's fields.
func (c Config) YAML() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(escapeControls(data), &node); err != nil { // JSON is YAML
		return nil, err
	}
	blockStyle(&node)
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(&node); err != nil {
		return nil, err
	}
	return buf.Bytes(), enc.Close()
}

// escapeControls escapes, in JSON, the characters that YAML does not take as they are.
func escapeControls(data []byte) []byte {
	bad := func(r rune) bool { return r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff }
	if !bytes.ContainsFunc(data, bad) {
		return data
	}
	var out []byte
	for _, r := range string(data) {
		if bad(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// ambiguous matches texts that YAML 1.1, which PyYAML reads, takes for truth values and numbers.
var ambiguous = regexp.MustCompile(`^((?i)yes|on|no|off|[-+]?[0-9][0-9_:.]*)$`)

func blockStyle(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	if !ambiguous.MatchString(n.Value) {
		n.Style &^= yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// ParseConfig reads what YAML wrote. For files people write, cmd/rlrun has a reader that
// checks them against the schema.
func ParseConfig(data []byte) (c Config, err error) {
	var doc any // refuses keys that are there twice, and aliases without end
	var node yaml.Node
	if err = yaml.Unmarshal(data, &node); err == nil {
		err = node.Decode(&doc)
	}
	if err != nil {
		return c, err
	}
	keepNumbers(&node, &doc, false)
	text, err := json.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	return c, err
}

// keepNumbers replaces numbers in sweeps by their text, since names contain this text:
// 0.10 and 0.1 make different names.
func keepNumbers(n *yaml.Node, value *any, swept bool) {
	switch v := (*value).(type) {
	case map[string]any:
		if n.Kind == yaml.DocumentNode {
			keepNumbers(n.Content[0], value, swept)
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if old, ok := v[key]; ok {
				keepNumbers(n.Content[i+1], &old, swept || key == "sweep")
				v[key] = old
			}
		}
	case []any:
		for i := range min(len(v), len(n.Content)) {
			keepNumbers(n.Content[i], &v[i], swept)
		}
	case int, int64, uint64, float64:
		if swept && json.Valid([]byte(n.Value)) {
			*value = json.Number(n.Value)
		}
	}
}
