// Package vectors reads the reference vectors: numbers that were computed
// independently of this project, which its packages have to reproduce. It is
// for tests only.
//
// The file is testdata/vectors.json at the root of the module, or the one that
// the environment variable RLRUN_VECTORS names, which has the same format and
// other cases.
package vectors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Variable is the environment variable that names another file of vectors.
const Variable = "RLRUN_VECTORS"

// File is a file of reference vectors.
type File struct {
	Which      string                     // name of the file
	Tolerances map[string]string          // by kind, in words
	MDPs       map[string]json.RawMessage // by name
	Cases      map[string][]Case          // by kind
}

// Case is one reference computation.
type Case struct {
	Name   string          // of the case, for messages
	Input  json.RawMessage // arguments of the computation
	Expect json.RawMessage // its result
}

// Path returns the file to read. A relative path in the environment variable is
// taken from the root of the module, unless there is such a file from the
// package's directory, in which its tests run.
func Path() (string, error) {
	path := os.Getenv(Variable)
	if filepath.IsAbs(path) {
		return path, nil
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, cmp.Or(path, filepath.Join("testdata", "vectors.json"))), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above the working directory; set %s", Variable)
		}
		dir = parent
	}
}

// Read reads the file.
func Read() (*File, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	return ReadFile(path)
}

// ReadFile reads another file of the same format.
func ReadFile(path string) (*File, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := new(File)
	if err := json.Unmarshal(raw, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(f.Cases) == 0 {
		return nil, fmt.Errorf("%s has no cases", path)
	}
	return f, nil
}

// Run runs check as a subtest kind/name for every case of a kind, with its
// input and expectation decoded into In and Out. It fails if the file has no
// case of the kind, or skips it if the file is one that the environment variable
// names. Fields of the file that In and Out lack are ignored; use
// pointers for those that may be null or absent.
func Run[In, Out any](t *testing.T, f *File, kind string, check func(t *testing.T, in In, want Out)) {
	t.Helper()
	t.Run(kind, func(t *testing.T) {
		if len(f.Cases[kind]) == 0 {
			if os.Getenv(Variable) != "" {
				t.Skipf("%s has no case of kind %q", os.Getenv(Variable), kind)
			}
			t.Fatalf("the file has no case of kind %q", kind)
		}
		for _, c := range f.Cases[kind] {
			t.Run(c.Name, func(t *testing.T) {
				var in In
				var want Out
				if err := json.Unmarshal(c.Input, &in); err != nil {
					t.Fatalf("input: %v", err)
				}
				if err := json.Unmarshal(c.Expect, &want); err != nil {
					t.Fatalf("expect: %v", err)
				}
				check(t, in, want)
			})
		}
	})
}

// Close fails the test unless got is within abs + rel·|want| of want. A NaN is
// close to nothing.
func Close(t *testing.T, what string, got, want, rel, abs float64) {
	t.Helper()
	if got == want { // infinities among them
		return
	}
	if !(math.Abs(got-want) <= abs+rel*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (off by %.3g)", what, got, want, got-want)
	}
}
