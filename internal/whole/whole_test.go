package whole

import "testing"

func TestNumbers(t *testing.T) {
	const text = `{"1e2": "4.0 \" 1e2", "a": [1e2, 4.0, -20e-1, 0.0, 1.50, 1e-7], "big": 1e19, "bigger": 1e20, "-0": [-0.0, 1e-400]}`
	const want = `{"1e2": "4.0 \" 1e2", "a": [100, 4, -2, 0, 1.50, 1e-7], "big": 10000000000000000000, "bigger": 1e20, "-0": [-0.0, 1e-400]}`
	if got := string(Numbers([]byte(text))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
