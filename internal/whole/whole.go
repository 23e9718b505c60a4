// Package whole writes whole numbers plainly, so that they fit integers: 1e2 and 100.0 are 100.
package whole

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Number returns a number in JSON without its exponent or zero decimals if it is whole and has at most 64 bits.
// Any other text is returned as it is.
func Number(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if !strings.ContainsAny(text, ".eE") || err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<64 {
		return text
	}
	if f == 0 { // it may be -0.0, or below the least number of float64
		if digits, _, _ := strings.Cut(strings.ToLower(text), "e"); strings.Trim(digits, "0.") == "" {
			return "0"
		}
		return text
	}
	if r, ok := new(big.Rat).SetString(text); ok && r.IsInt() && r.Num().BitLen() <= 64 {
		return r.Num().String()
	}
	return text
}

var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-0-9][-+.0-9eE]*`)

// Numbers does what Number does with all numbers of a text in JSON.
func Numbers(data []byte) []byte {
	return token.ReplaceAllFunc(data, func(t []byte) []byte { return []byte(Number(string(t))) })
}
