package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"reflect"
	"slices"
)

// walker goes through the memory of an agent. It writes the state or, if reads is set, reads it.
type walker struct {
	b     []byte // what was written, or what is left to read
	reads bool
	held  []reflect.Type        // that interfaces may hold where those of the fresh agent hold nothing
	told  map[reflect.Type]bool // structs whose layout was passed

	numbers map[object]uint64 // of pointers and slices that were written
	seen    []reflect.Value   // pointers and slices that were read
	taken   map[object]bool   // of the fresh agent: what has been given its contents
}

// object identifies what a pointer or slice leads to.
type object struct {
	at  uintptr
	len int // of a slice, else -1
	of  reflect.Type
}

func identify(v reflect.Value) object {
	o := object{v.Pointer(), -1, v.Type()}
	if v.Kind() == reflect.Slice {
		o.len = v.Len()
	}
	return o
}

// What is written before a pointer, slice or interface says what follows.
const (
	isNil   = iota
	isSame  // the fresh one's, as it is; of an interface: of the same type, whose value follows
	isSeen  // one before, whose number follows
	isNew   // its contents follow; of a slice, first its length; of an interface, first its type
	isEmpty // a slice of length 0
)

// errVersion is for states of other layouts.
var errVersion = errors.New("the state was saved by another version of rlrun, whose agents were made differently")

// failure ends a walk. It is recovered in take and restore.
type failure struct{ error }

func (w *walker) require(ok bool) {
	if !ok {
		panic(failure{errDamaged})
	}
}

// end returns the error of a walk.
func end(err *error) {
	switch x := recover().(type) {
	case nil:
	case failure:
		*err = x.error
	default:
		panic(x)
	}
}

// take appends what agent has and fresh does not share.
func take(b []byte, agent, fresh any, held []reflect.Type) (state []byte, err error) {
	defer end(&err)
	w := walker{b: b, held: held, told: map[reflect.Type]bool{}, numbers: map[object]uint64{}}
	w.value(reflect.ValueOf(agent), reflect.ValueOf(fresh))
	return w.b, nil
}

// restore gives what fresh points to the state that take wrote.
func restore(fresh any, b []byte, held []reflect.Type) (err error) {
	defer end(&err)
	w := walker{b: b, reads: true, held: held, told: map[reflect.Type]bool{}, taken: map[object]bool{}}
	v := reflect.New(reflect.TypeOf(fresh)).Elem()
	v.Set(reflect.ValueOf(fresh))
	w.value(v, reflect.Value{})
	w.require(len(w.b) == 0 && v.Interface() == fresh)
	return nil
}

// number writes x, or reads and returns another.
func number[T any](w *walker, x T, write func([]byte, T) []byte, read func([]byte) (T, int)) T {
	if !w.reads {
		w.b = write(w.b, x)
		return x
	}
	x, k := read(w.b)
	w.require(k > 0)
	w.b = w.b[k:]
	return x
}

func (w *walker) uint(x uint64) uint64 { return number(w, x, binary.AppendUvarint, binary.Uvarint) }

func (w *walker) int(x int64) int64 { return number(w, x, binary.AppendVarint, binary.Varint) }

// word is uint in eight bytes.
func (w *walker) word(x uint64) uint64 {
	return number(w, x, binary.LittleEndian.AppendUint64, func(b []byte) (uint64, int) {
		if len(b) < 8 {
			return 0, 0
		}
		return binary.LittleEndian.Uint64(b), 8
	})
}

func (w *walker) text(s string) string {
	if !w.reads {
		w.b = appendString(w.b, s)
		return s
	}
	s, rest, err := cutString(w.b)
	w.require(err == nil)
	w.b = rest
	return s
}

// value writes v, or reads into v, which can be set. f is the counterpart of what is written in
// the fresh agent, invalid if it has none.
func (w *walker) value(v, f reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		x := uint64(0)
		if v.Bool() {
			x = 1
		}
		if x = w.uint(x); w.reads {
			v.SetBool(x != 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if x := w.int(v.Int()); w.reads {
			w.require(!v.OverflowInt(x))
			v.SetInt(x)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if x := w.uint(v.Uint()); w.reads {
			w.require(!v.OverflowUint(x))
			v.SetUint(x)
		}
	case reflect.Float32, reflect.Float64:
		if x := w.word(math.Float64bits(v.Float())); w.reads {
			v.SetFloat(math.Float64frombits(x))
		}
	case reflect.String:
		if s := w.text(v.String()); w.reads {
			v.SetString(s)
		}
	case reflect.Array:
		w.elements(v, f)
	case reflect.Struct:
		w.fields(v, f)
	case reflect.Pointer, reflect.Slice:
		if w.reads {
			w.readReference(v)
		} else {
			w.writeReference(v, f)
		}
	case reflect.Interface:
		if w.reads {
			w.readDynamic(v)
		} else {
			w.writeDynamic(v, f)
		}
	case reflect.Map:
		w.entries(v)
	case reflect.Func:
	default:
		panic(failure{fmt.Errorf("a %s cannot be stored", v.Type())})
	}
}

func (w *walker) elements(v, f reflect.Value) {
	switch bytes := v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8; {
	case bytes && !w.reads:
		w.b = append(w.b, v.Bytes()...)
		return
	case bytes:
		w.b = w.b[copy(v.Bytes(), w.b):]
		return
	}
	for i := range v.Len() {
		var g reflect.Value
		if f.IsValid() && i < f.Len() {
			g = f.Index(i)
		}
		w.value(v.Index(i), g)
	}
}

// entries writes or reads a map whose keys are strings, in their order.
func (w *walker) entries(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		panic(failure{fmt.Errorf("a %s cannot be stored", v.Type())})
	}
	entries := map[string]reflect.Value{}
	for i := v.MapRange(); i.Next(); {
		entries[i.Key().String()] = i.Value()
	}
	if keys := slices.Sorted(maps.Keys(entries)); !w.reads {
		w.uint(uint64(len(keys)))
		for _, key := range keys {
			w.text(key)
			w.value(entries[key], reflect.Value{})
		}
		return
	}
	n := w.uint(0)
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, x := reflect.ValueOf(w.text("")).Convert(v.Type().Key()), reflect.New(v.Type().Elem()).Elem()
		w.value(x, reflect.Value{})
		v.SetMapIndex(key, x)
	}
}

func (w *walker) fields(v, f reflect.Value) {
	of := v.Type()
	if !w.told[of] {
		w.told[of] = true
		if sum := layout(of); w.word(sum) != sum {
			panic(failure{errVersion})
		}
	}
	for i := range v.NumField() {
		if scratch(of.Field(i)) {
			continue
		}
		field := v.Field(i)
		if w.reads { // fields that are not exported can be set by their address only
			field = reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
		}
		var g reflect.Value
		if f.IsValid() {
			g = f.Field(i)
		}
		w.value(field, g)
	}
}

// scratch reports whether a field is not stored.
func scratch(f reflect.StructField) bool { return f.Tag.Get("snapshot") == "-" }

// layout sums up the fields of a struct, which another version may have changed.
func layout(of reflect.Type) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, of)
	for f := range of.Fields() {
		fmt.Fprintln(h, f.Name, f.Type, scratch(f))
	}
	return h.Sum64()
}

// writeReference writes a pointer or slice.
func (w *walker) writeReference(v, f reflect.Value) {
	if f.IsValid() && f.IsNil() {
		f = reflect.Value{}
	}
	many := v.Kind() == reflect.Slice
	switch {
	case v.IsNil():
		w.uint(isNil)
		return
	case many && v.Len() == 0:
		w.uint(isEmpty)
		return
	case f.IsValid() && identify(v) == identify(f):
		w.uint(isSame)
		return
	}
	if n, ok := w.numbers[identify(v)]; ok {
		w.uint(isSeen)
		w.uint(n)
		return
	}
	w.numbers[identify(v)] = uint64(len(w.numbers))
	w.uint(isNew)
	if many {
		w.uint(uint64(v.Len()))
		w.elements(v, f)
		return
	}
	if f.IsValid() {
		f = f.Elem()
	}
	w.value(v.Elem(), f)
}

// readReference reads a pointer or slice: into what the fresh agent has there, unless that is
// too short or has been given something else already.
func (w *walker) readReference(v reflect.Value) {
	tag, many := w.uint(0), v.Kind() == reflect.Slice
	switch {
	case tag == isNil:
		v.SetZero()
	case tag == isSame && !v.IsNil():
	case tag == isEmpty && many:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		v.SetLen(0)
	case tag == isSeen:
		n := w.uint(0)
		w.require(n < uint64(len(w.seen)) && w.seen[n].Type() == v.Type())
		v.Set(w.seen[n])
	case tag == isNew && many:
		n := w.uint(0)
		w.require(n <= uint64(len(w.b))) // an element takes at least a byte
		first := object{at: v.Pointer()}
		if n > uint64(v.Cap()) || w.taken[first] {
			v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		}
		v.SetLen(int(n))
		w.taken[first] = true
		w.remember(v)
		w.elements(v, reflect.Value{})
	case tag == isNew:
		if v.IsNil() || w.taken[identify(v)] {
			v.Set(reflect.New(v.Type().Elem()))
		}
		w.taken[identify(v)] = true
		w.remember(v)
		w.value(v.Elem(), reflect.Value{})
	default:
		w.require(false)
	}
}

// remember numbers a pointer or slice that was read.
func (w *walker) remember(v reflect.Value) {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	w.seen = append(w.seen, c)
}

// writeDynamic writes an interface.
func (w *walker) writeDynamic(v, f reflect.Value) {
	if v.IsNil() {
		w.uint(isNil)
		return
	}
	v = v.Elem()
	if f.IsValid() && !f.IsNil() && f.Elem().Type() == v.Type() {
		w.uint(isSame)
		w.value(v, f.Elem())
		return
	}
	name := v.Type().String()
	if w.known(name) != v.Type() {
		panic(failure{fmt.Errorf("a %s is not known here", name)})
	}
	w.uint(isNew)
	w.text(name)
	w.value(v, reflect.Value{})
}

// readDynamic reads an interface.
func (w *walker) readDynamic(v reflect.Value) {
	var x reflect.Value
	switch tag := w.uint(0); {
	case tag == isNil:
		v.SetZero()
		return
	case tag == isSame && !v.IsNil():
		x = reflect.New(v.Elem().Type()).Elem()
		x.Set(v.Elem())
	default:
		w.require(tag == isNew)
		of := w.known(w.text(""))
		w.require(of != nil && of.Implements(v.Type()))
		x = reflect.New(of).Elem()
	}
	w.value(x, reflect.Value{})
	v.Set(x)
}

// known returns one of the types that interfaces may hold, by name.
func (w *walker) known(name string) reflect.Type {
	for _, of := range w.held {
		if of.String() == name {
			return of
		}
	}
	return nil
}
