package snapshot

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
)

// What is written before a pointer, slice or interface says what follows.
const (
	isNil   = iota
	isSame  // the fresh one's, as it is; of an interface: of the same type, whose value follows
	isSeen  // one before, whose number follows
	isNew   // its contents follow; of a slice, first its length; of an interface, first its type
	isEmpty // a slice of length 0
)

// object identifies what a pointer or slice leads to.
type object struct {
	at  uintptr
	len int // of a slice, else -1
	of  reflect.Type
}

type taker struct {
	b    []byte
	seen map[object]uint64
	told map[reflect.Type]bool // structs whose layout was written
}

// take appends what agent has and fresh does not share.
func take(b []byte, agent, fresh any) ([]byte, error) {
	t := taker{b: b, seen: map[object]uint64{}, told: map[reflect.Type]bool{}}
	err := t.value(reflect.ValueOf(agent), reflect.ValueOf(fresh))
	return t.b, err
}

func (t *taker) uint(x uint64) { t.b = binary.AppendUvarint(t.b, x) }

func (t *taker) float(x float64) { t.b = binary.LittleEndian.AppendUint64(t.b, math.Float64bits(x)) }

// value writes v. f is its counterpart in the fresh agent, invalid if it has none.
func (t *taker) value(v, f reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		t.b = append(t.b, b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		t.b = binary.AppendVarint(t.b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		t.uint(v.Uint())
	case reflect.Float32, reflect.Float64:
		t.float(v.Float())
	case reflect.String:
		t.b = appendString(t.b, v.String())
	case reflect.Array:
		return t.elements(v, f, f.IsValid())
	case reflect.Struct:
		return t.fields(v, f)
	case reflect.Pointer, reflect.Slice:
		return t.reference(v, f)
	case reflect.Interface:
		return t.dynamic(v, f)
	case reflect.Func:
	default:
		return fmt.Errorf("a %s cannot be stored", v.Type())
	}
	return nil
}

func (t *taker) elements(v, f reflect.Value, fresh bool) error {
	if v.Type().Elem().Kind() == reflect.Float64 {
		for i := range v.Len() {
			t.float(v.Index(i).Float())
		}
		return nil
	}
	for i := range v.Len() {
		var g reflect.Value
		if fresh && i < f.Len() {
			g = f.Index(i)
		}
		if err := t.value(v.Index(i), g); err != nil {
			return err
		}
	}
	return nil
}

func (t *taker) fields(v, f reflect.Value) error {
	of := v.Type()
	if !t.told[of] {
		t.told[of] = true
		t.b = binary.LittleEndian.AppendUint64(t.b, layout(of))
	}
	for i := range v.NumField() {
		if scratch(of.Field(i)) {
			continue
		}
		var g reflect.Value
		if f.IsValid() {
			g = f.Field(i)
		}
		if err := t.value(v.Field(i), g); err != nil {
			return err
		}
	}
	return nil
}

// reference writes a pointer or slice.
func (t *taker) reference(v, f reflect.Value) error {
	if f.IsValid() && f.IsNil() {
		f = reflect.Value{}
	}
	many := v.Kind() == reflect.Slice
	switch {
	case v.IsNil():
		t.uint(isNil)
		return nil
	case many && v.Len() == 0:
		t.uint(isEmpty)
		return nil
	case f.IsValid() && identify(v) == identify(f):
		t.uint(isSame)
		return nil
	}
	if n, ok := t.seen[identify(v)]; ok {
		t.uint(isSeen)
		t.uint(n)
		return nil
	}
	t.seen[identify(v)] = uint64(len(t.seen))
	t.uint(isNew)
	if many {
		t.uint(uint64(v.Len()))
		return t.elements(v, f, f.IsValid())
	}
	if f.IsValid() {
		f = f.Elem()
	}
	return t.value(v.Elem(), f)
}

func identify(v reflect.Value) object {
	o := object{v.Pointer(), -1, v.Type()}
	if v.Kind() == reflect.Slice {
		o.len = v.Len()
	}
	return o
}

// dynamic writes an interface.
func (t *taker) dynamic(v, f reflect.Value) error {
	if v.IsNil() {
		t.uint(isNil)
		return nil
	}
	v = v.Elem()
	if f.IsValid() && !f.IsNil() && f.Elem().Type() == v.Type() {
		t.uint(isSame)
		return t.value(v, f.Elem())
	}
	name := v.Type().String()
	if known(name) != v.Type() {
		return fmt.Errorf("a %s is not known here", name)
	}
	t.uint(isNew)
	t.b = appendString(t.b, name)
	return t.value(v, reflect.Value{})
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
