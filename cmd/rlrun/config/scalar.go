package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/whole"
)

// encode appends a tree as JSON. Keys keep their order and their spelling.
// Numbers keep their text (exact), except that outside free-form places 1e6 is
// written 1000000, so that it fits the integers of Config.
func (d *document) encode(out *bytes.Buffer, n *yaml.Node, path []string, problems *Problems) {
	switch n.Kind {
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			key := n.Content[i].Value
			out.Write(quoteJSON(key))
			out.WriteByte(':')
			d.encode(out, n.Content[i+1], append(path[:len(path):len(path)], key), problems)
		}
		out.WriteByte('}')
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			d.encode(out, c, append(path[:len(path):len(path)], strconv.Itoa(i)), problems)
		}
		out.WriteByte(']')
	default:
		text, err := scalar(n)
		if err != nil {
			*problems = append(*problems, d.problem(path, "%v", err))
			text = []byte("null")
		}
		if !freeForm(path) {
			text = whole.Numbers(text)
		}
		out.Write(text)
	}
}

// freeForm tells the values that belong to plugins: params and their sweeps.
func freeForm(path []string) bool {
	if len(path) > 3 && path[2] == "sweep" && strings.HasPrefix(path[3], plan.SweptExploration) {
		return false
	}
	return len(path) > 2 && (path[2] == "params" || path[2] == "sweep")
}

var (
	decimal = regexp.MustCompile(`^([-+]?)([0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)
	// Beyond three digits an exponent fits no float64.
	maxExponentDigits = 3
)

// scalar returns a YAML scalar as JSON. Numbers keep their digits; what JSON
// cannot say, or YAML 1.1 and 1.2 read differently, is an error.
func scalar(n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		// A number in all but size is text to YAML; e3 is text to everybody.
		if m := decimal.FindStringSubmatch(n.Value); n.Style == 0 && m != nil && strings.ContainsAny(m[2]+m[3], "0123456789") {
			return nil, fmt.Errorf("%s is beyond the range of numbers (about 1e-308 to 1e308)", n.Value)
		}
		return quoteJSON(n.Value), nil
	case "!!null":
		return []byte("null"), nil
	case "!!bool":
		return []byte(strings.ToLower(n.Value)), nil
	}
	text := strings.ReplaceAll(n.Value, "_", "")
	m := decimal.FindStringSubmatch(text)
	if m == nil { // hexadecimal, octal, binary; .inf, .nan
		if i, ok := new(big.Int).SetString(text, 0); ok {
			return []byte(i.String()), nil
		}
		return nil, fmt.Errorf("must be a finite number, not %s", n.Value)
	}
	sign, whole, fraction, exponent := m[1], m[2], m[3], m[4]
	if whole == "" && len(fraction) < 2 {
		return nil, fmt.Errorf("%q is not a number", n.Value)
	}
	if len(whole) > 1 && whole[0] == '0' && strings.Trim(whole, "0") != "" {
		return nil, fmt.Errorf("%s may be read as octal; write %s, or 0o%s for octal", n.Value, strings.TrimLeft(whole, "0")+fraction, strings.TrimLeft(whole, "0"))
	}
	if strings.Trim(whole, "0") == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ".0"
	}
	if len(strings.TrimLeft(exponent, "eE+-0")) > maxExponentDigits {
		return nil, fmt.Errorf("%s is beyond the range of numbers (about 1e-308 to 1e308)", n.Value)
	}
	number := strings.TrimPrefix(sign, "+") + whole + fraction + exponent
	// A discount that rounds to 1 discounts nothing, and a chance that rounds to 0 is none.
	if f, err := strconv.ParseFloat(number, 64); err == nil && (f == 0 || math.Abs(f) == 1) {
		if exact, ok := new(big.Rat).SetString(number); ok && exact.Cmp(new(big.Rat).SetFloat64(f)) != 0 {
			return nil, fmt.Errorf("%s has more digits than a number of 64 bits, and would be %v; write %v if that is meant", n.Value, f, f)
		}
	}
	return []byte(number), nil
}

func quoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return bytes.TrimRight(b.Bytes(), "\n")
}

// describe names a node's value for people: the number 3, the text "x", a list.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return n.Value
	case "!!int", "!!float":
		return "the number " + shorten(n.Value)
	}
	return fmt.Sprintf("the text %q", shorten(n.Value))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return s
}
