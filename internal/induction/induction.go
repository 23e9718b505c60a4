// Package induction is backward induction: values of states by the number of steps left
// (Bellman 1957; Puterman 1994, §4.5). Its users say what one step is.
package induction

// Backward goes back in time by the given number of steps and returns the values of the last
// one that it made. layers[0] holds the values with no steps left. For left = 1, 2, …, backup
// writes the values with left steps to go into dst; next holds those with one step fewer.
// backup returns true to stop early. Backward takes the layers in turn: steps+1 layers keep
// all values, and two keep the last ones. With one layer dst is next. The result is one of
// the layers. Backward allocates nothing.
func Backward(layers [][]float64, steps int, backup func(left int, dst, next []float64) bool) []float64 {
	value := layers[0]
	for left, done := 1, false; left <= steps && !done; left++ {
		next := value
		value = layers[left%len(layers)]
		done = backup(left, value, next)
	}
	return value
}
