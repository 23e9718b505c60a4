package lanefile

import "unsafe"

// Words is the plugin's side. nil has no word for any instance.
type Words struct{ data []byte }

// Of returns the word of the instance with a handle: the number of the lane that it
// is in plus 1, 0 if it is in none. It returns nil if the instance has none.
func (w *Words) Of(handle uint64) *uint32 {
	if w == nil || handle >= uint64(len(w.data)/wordSize) {
		return nil
	}
	return (*uint32)(unsafe.Pointer(&w.data[handle*wordSize]))
}
