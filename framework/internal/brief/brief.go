// Package brief shortens two texts for an error that says how they differ.
package brief

// Texts shortens two texts to the part in which they differ.
func Texts(a, b string) (string, string) {
	const most, before = 60, 20
	x, y := []rune(a), []rune(b)
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	cut := func(r []rune) string {
		begin, end := "", ""
		if len(r) > most && same > before {
			begin, r = "…", r[same-before:]
		}
		if len(r) > most {
			r, end = r[:most], "…"
		}
		return begin + string(r) + end
	}
	return cut(x), cut(y)
}
