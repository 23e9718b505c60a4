// Package footprint measures how much memory a value holds.
package footprint

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// Of returns the bytes that x points to, directly or not: variables, arrays behind slices with
// their spare room, and the entries of maps, without what the runtime needs for these. Memory
// that several pointers share counts once. What closures, channels, strings and unsafe pointers
// hold does not count. Nothing else may write to it meanwhile.
func Of(x any) int64 {
	w := walker{seen: map[visit]bool{}}
	w.value(reflect.ValueOf(x))
	slices.SortFunc(w.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var end uintptr
	for _, s := range w.spans {
		if s.to > end {
			w.entries += int64(s.to - max(s.from, end))
			end = s.to
		}
	}
	return w.entries
}

type walker struct {
	seen    map[visit]bool
	spans   []span
	entries int64 // bytes in maps
}

// visit is memory that was walked as a type.
type visit struct {
	at  uintptr
	of  reflect.Type
	len int
}

// span is memory from one address to another.
type span struct{ from, to uintptr }

// block notes n elements of a type at an address, and reports whether they are to be walked.
func (w *walker) block(at unsafe.Pointer, of reflect.Type, n, room int) bool {
	v := visit{uintptr(at), of, n}
	if at == nil || w.seen[v] {
		return false
	}
	w.seen[v] = true
	w.spans = append(w.spans, span{v.at, v.at + uintptr(room)*of.Size()})
	return pointers(of)
}

func (w *walker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if w.block(v.UnsafePointer(), v.Type().Elem(), 1, 1) {
			w.value(v.Elem())
		}
	case reflect.Interface:
		if e := v.Elem(); e.IsValid() && e.Type().PkgPath() != "reflect" {
			w.value(e)
		}
	case reflect.Slice:
		if w.block(v.UnsafePointer(), v.Type().Elem(), v.Len(), v.Cap()) {
			for i := range v.Len() {
				w.value(v.Index(i))
			}
		}
	case reflect.Array:
		for i := 0; i < v.Len() && pointers(v.Type().Elem()); i++ {
			w.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(v.Field(i))
		}
	case reflect.Map:
		if !w.block(v.UnsafePointer(), v.Type(), 1, 1) {
			return
		}
		w.entries += int64(v.Len()) * int64(v.Type().Key().Size()+v.Type().Elem().Size())
		for entries := v.MapRange(); entries.Next(); {
			w.value(entries.Key())
			w.value(entries.Value())
		}
	}
}

// pointers reports whether values of a type lead to more memory that counts.
func pointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return pointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if pointers(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
