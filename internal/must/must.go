// Package must ends a test whose preparation fails.
package must

// T is a *testing.T, *testing.B or *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if err is not nil.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns what a call returned, and ends the test at its error:
// f := must.Get(os.Open(name))(t).
func Get[A any](a A, err error) func(t T) A {
	return func(t T) A {
		t.Helper()
		Do(t, err)
		return a
	}
}

// Get2 is Get for two values and an error.
func Get2[A, B any](a A, b B, err error) func(t T) (A, B) {
	return func(t T) (A, B) {
		t.Helper()
		Do(t, err)
		return a, b
	}
}
