package space

import (
	"fmt"
	"math/bits"
)

// Enumeration numbers the elements of a finite space from 0, the last element of a value
// running fastest, so that tables can be kept over them. The zero Enumeration has none.
type Enumeration struct {
	N     int64 // how many there are
	width int
	low   []int64 // of each element of a value
	n     []int64
}

// Enumerate numbers a Discrete, a MultiDiscrete or a bounded Box of integers, if it has at
// most so many elements.
func Enumerate(s Space, most int64) (Enumeration, bool) {
	m := Enumeration{N: 1, width: s.Width()}
	for i := range m.width {
		low, n := 0.0, int64(0)
		switch s := s.(type) {
		case Discrete:
			m.low, m.n = append(m.low, s.Start), append(m.n, s.N)
			m.N = s.N
			return m, s.N <= most
		case MultiDiscrete:
			n = s.NVec[i]
		case Box:
			if s.Type == Float64 || s.Type == Float32 {
				return Enumeration{}, false
			}
			first, last := s.integers(i)
			if !(last-first < float64(most)) { // an infinite bound
				return Enumeration{}, false
			}
			low, n = first, int64(last-first)+1
		}
		high, product := bits.Mul64(uint64(m.N), uint64(n))
		if high != 0 || product > uint64(most) {
			return Enumeration{}, false
		}
		m.N, m.low, m.n = int64(product), append(m.low, int64(low)), append(m.n, n)
	}
	return m, true
}

// Get returns the number of lane's value in a column of the space.
func (m *Enumeration) Get(c *Column, lane int) (int64, error) {
	number := int64(0)
	for i, n := range m.n {
		at, x := lane*m.width+i, int64(0)
		if c.Type == Uint8 {
			x = int64(c.Uint8[at])
		} else {
			x = c.Int64[at]
		}
		if uint64(x)-uint64(m.low[i]) >= uint64(n) {
			return 0, fmt.Errorf("element %d is %d, not in {%d..%d}: %w", i, x, m.low[i], m.low[i]+n-1, ErrOutside)
		}
		number = number*n + x - m.low[i]
	}
	return number, nil
}

// Set writes the value of a number into lane of a column of the space.
func (m *Enumeration) Set(c *Column, lane int, number int64) {
	for i := m.width - 1; i >= 0; i-- {
		at, x := lane*m.width+i, m.low[i]+number%m.n[i]
		number /= m.n[i]
		if c.Type == Uint8 {
			c.Uint8[at] = uint8(x)
		} else {
			c.Int64[at] = x
		}
	}
}
