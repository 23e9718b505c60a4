package mdp

// tarjan finds strongly connected components (Tarjan 1972). It is gonum's
// topo.TarjanSCC, which the tests compare it with, without the recursion: on a
// million states that one takes 0.6 GB of stack and maps and 3.6 s. Its memory
// is kept between calls.
type tarjan struct {
	index, low []int32 // order of discovery from 1, 0 before; smallest such reached
	stack      []int32
	path       []tarjanFrame
}

type tarjanFrame struct {
	v    int32
	rest []int32
}

// components writes the component of each vertex, numbered so that no component
// leads to one with a larger number, and returns their count.
func (t *tarjan) components(component []int, successors func(int) []int32) (count int) {
	n := len(component)
	t.index, t.low = resize(t.index, n), resize(t.low, n)
	clear(t.index)
	t.stack = t.stack[:0]
	found := int32(0)
	for root := range n {
		if t.index[root] != 0 {
			continue
		}
		for v := int32(root); ; {
			if v >= 0 { // enter v
				found++
				t.index[v], t.low[v] = found, found
				component[v] = -1 // on the stack
				t.stack = append(t.stack, v)
				t.path = append(t.path, tarjanFrame{v, successors(int(v))})
			}
			top := &t.path[len(t.path)-1]
			v = -1
			for len(top.rest) > 0 && v < 0 {
				w := top.rest[0]
				top.rest = top.rest[1:]
				if t.index[w] == 0 {
					v = w
				} else if component[w] < 0 {
					t.low[top.v] = min(t.low[top.v], t.index[w])
				}
			}
			if v >= 0 {
				continue
			}
			u := top.v
			t.path = t.path[:len(t.path)-1]
			if t.low[u] == t.index[u] {
				for w := int32(-1); w != u; {
					w = t.stack[len(t.stack)-1]
					t.stack = t.stack[:len(t.stack)-1]
					component[w] = count
				}
				count++
			}
			if len(t.path) == 0 {
				break
			}
			parent := t.path[len(t.path)-1].v
			t.low[parent] = min(t.low[parent], t.low[u])
		}
	}
	return count
}

// resize returns a slice of length n, reusing b's memory; its content is
// arbitrary.
func resize[E any](b []E, n int) []E {
	if cap(b) < n {
		return make([]E, n)
	}
	return b[:n]
}
