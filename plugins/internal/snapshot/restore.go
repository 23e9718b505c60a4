package snapshot

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// known returns a type that may be found where the fresh agent has none, by name.
func known(name string) reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[mdp.Deterministic](), reflect.TypeFor[mdp.Uniform](),
		reflect.TypeFor[options.Markov](), reflect.TypeFor[options.Deviation](), reflect.TypeFor[*options.Repeat](),
	}
	for _, kind := range append(options.Kinds, options.Declared) {
		types = append(types, reflect.TypeOf(kind))
	}
	for _, of := range types {
		if of.String() == name {
			return of
		}
	}
	return nil
}

// errVersion is for states of other layouts.
var errVersion = errors.New("the state was saved by another version of rlrun, whose agents were made differently")

type restorer struct {
	b     []byte
	seen  []reflect.Value // pointers and slices
	taken map[object]bool // of the fresh agent: what has been given its contents
	told  map[reflect.Type]bool
}

// restore gives what fresh points to the state that take wrote.
func restore(fresh any, b []byte) error {
	r := restorer{b: b, taken: map[object]bool{}, told: map[reflect.Type]bool{}}
	v := reflect.New(reflect.TypeOf(fresh)).Elem()
	v.Set(reflect.ValueOf(fresh))
	if err := r.value(v); err != nil {
		return err
	}
	if len(r.b) > 0 || v.Interface() != fresh {
		return errDamaged
	}
	return nil
}

func (r *restorer) uint() (uint64, error) {
	x, k := binary.Uvarint(r.b)
	if k <= 0 {
		return 0, errDamaged
	}
	r.b = r.b[k:]
	return x, nil
}

func (r *restorer) word() (uint64, error) {
	if len(r.b) < 8 {
		return 0, errDamaged
	}
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x, nil
}

// value reads into v, which can be set.
func (r *restorer) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		x, err := r.uint()
		v.SetBool(x != 0)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, k := binary.Varint(r.b)
		if k <= 0 || v.OverflowInt(x) {
			return errDamaged
		}
		r.b = r.b[k:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := r.uint()
		if err != nil || v.OverflowUint(x) {
			return errDamaged
		}
		v.SetUint(x)
	case reflect.Float32, reflect.Float64:
		x, err := r.word()
		v.SetFloat(math.Float64frombits(x))
		return err
	case reflect.String:
		s, rest, err := cutString(r.b)
		r.b = rest
		v.SetString(s)
		return err
	case reflect.Array:
		return r.elements(v)
	case reflect.Struct:
		return r.fields(v)
	case reflect.Pointer, reflect.Slice:
		return r.reference(v)
	case reflect.Interface:
		return r.dynamic(v)
	}
	return nil
}

func (r *restorer) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := r.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) fields(v reflect.Value) error {
	of := v.Type()
	if !r.told[of] {
		r.told[of] = true
		if sum, err := r.word(); err != nil {
			return err
		} else if sum != layout(of) {
			return errVersion
		}
	}
	for i := range v.NumField() {
		if scratch(of.Field(i)) {
			continue
		}
		// Fields that are not exported can be set by their address only.
		field := reflect.NewAt(of.Field(i).Type, v.Field(i).Addr().UnsafePointer()).Elem()
		if err := r.value(field); err != nil {
			return err
		}
	}
	return nil
}

// reference reads a pointer or slice: into what the fresh agent has there,
// unless that is too short or has been given something else already.
func (r *restorer) reference(v reflect.Value) error {
	tag, err := r.uint()
	if err != nil {
		return err
	}
	kind := v.Kind()
	switch {
	case tag == isNil:
		v.SetZero()
	case tag == isSame && !v.IsNil():
	case tag == isEmpty && kind == reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		v.SetLen(0)
	case tag == isSeen:
		n, err := r.uint()
		if err != nil || n >= uint64(len(r.seen)) || r.seen[n].Type() != v.Type() {
			return errDamaged
		}
		v.Set(r.seen[n])
	case tag == isNew && kind == reflect.Slice:
		n, err := r.uint()
		if err != nil || n > uint64(len(r.b)) { // an element takes at least a byte
			return errDamaged
		}
		first := object{at: v.Pointer()}
		if n > uint64(v.Cap()) || r.taken[first] {
			v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		}
		v.SetLen(int(n))
		r.taken[first] = true
		r.remember(v)
		return r.elements(v)
	case tag == isNew && kind == reflect.Pointer:
		if v.IsNil() || r.taken[identify(v)] {
			v.Set(reflect.New(v.Type().Elem()))
		}
		r.taken[identify(v)] = true
		r.remember(v)
		return r.value(v.Elem())
	default:
		return errDamaged
	}
	return nil
}

// remember numbers a pointer or slice.
func (r *restorer) remember(v reflect.Value) {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	r.seen = append(r.seen, c)
}

// dynamic reads an interface.
func (r *restorer) dynamic(v reflect.Value) error {
	tag, err := r.uint()
	if err != nil {
		return err
	}
	var x reflect.Value
	switch {
	case tag == isNil:
		v.SetZero()
		return nil
	case tag == isSame && !v.IsNil():
		x = reflect.New(v.Elem().Type()).Elem()
		x.Set(v.Elem())
	case tag == isNew:
		name, rest, err := cutString(r.b)
		if err != nil {
			return err
		}
		r.b = rest
		of := known(name)
		if of == nil || !of.Implements(v.Type()) {
			return errDamaged
		}
		x = reflect.New(of).Elem()
	default:
		return errDamaged
	}
	if err := r.value(x); err != nil {
		return err
	}
	v.Set(x)
	return nil
}
