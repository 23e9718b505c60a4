// Package fields compares structs field by field.
package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Differ returns the first field in which two structs of one type differ, in words, and its two
// values as text, long ones around the place where they begin to differ. The name is empty if there
// is none. Fields named in except may differ.
func Differ[T any](a, b T, except ...string) (name, was, is string) {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		x, y := v.Field(i).Interface(), w.Field(i).Interface()
		if !slices.Contains(except, name) && !reflect.DeepEqual(x, y) {
			was, is := excerpts(text(x), text(y))
			return words(name), was, is
		}
	}
	return "", "", ""
}

func text(x any) string {
	if raw, ok := x.(json.RawMessage); ok {
		return string(raw)
	}
	return fmt.Sprintf("%+v", x)
}

// excerpts shortens two texts.
func excerpts(a, b string) (string, string) {
	const around = 40 // bytes
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	part := func(s string) string {
		if len(s) <= 2*around {
			return s
		}
		return "…" + strings.ToValidUTF8(s[max(0, same-around):min(len(s), same+around)], "") + "…"
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
