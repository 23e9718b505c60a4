// Package fields compares structs field by field.
package fields

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Differ returns the first field in which two structs of one type differ, in words, and its two
// values. The name is empty if there is none. Fields named in except may differ.
func Differ[T any](a, b T, except ...string) (name string, x, y any) {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		x, y := v.Field(i).Interface(), w.Field(i).Interface()
		if !slices.Contains(except, name) && !reflect.DeepEqual(x, y) {
			x, y := excerpts(x, y)
			return words(name), x, y
		}
	}
	return "", nil, nil
}

// excerpts are two values as they are, and of two JSON texts the parts where they begin to differ.
func excerpts(x, y any) (any, any) {
	a, ok := x.(json.RawMessage)
	if !ok {
		return x, y
	}
	b := y.(json.RawMessage)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	part := func(text []byte) string {
		return "…" + strings.ToValidUTF8(string(text[max(0, same-40):min(len(text), same+20)]), "") + "…"
	}
	return part(a), part(b)
}

// words writes the name of a field in small letters: RewardLow is "reward low".
func words(name string) string {
	var out strings.Builder
	before := rune(0)
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(before) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
		before = r
	}
	return out.String()
}
