package plugincmd

import (
	"errors"
	"strings"
	"testing"
)

// pip's error says what helps if the package rlrun is what it did not find.
func TestWhereRlrunIs(t *testing.T) {
	for text, helps := range map[string]bool{
		"ERROR: Could not find a version that satisfies the requirement rlrun (from rlrun-plugin-drunk) (from versions: none)":                                          true,
		"ERROR: Could not find a version that satisfies the requirement rlrun>=0.1 (from rlrun-plugin-drunk)":                                                           true,
		"ERROR: Could not find a version that satisfies the requirement rlrun-plugin-x (from versions: none)\nERROR: No matching distribution found for rlrun-plugin-x": false,
	} {
		given := errors.New(text)
		got := whereRlrunIs(given)
		if !errors.Is(got, given) || strings.Contains(got.Error(), "PIP_FIND_LINKS") != helps {
			t.Errorf("%s became %v", text, got)
		}
	}
}
