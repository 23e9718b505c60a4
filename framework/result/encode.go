package result

import (
	"cmp"
	stdjson "encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plain is a record without the methods for encoding/json.
type plain Record

var (
	writing = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
	reading = json.JoinOptions(json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
)

// AppendJSON appends the record as one line of JSON without the line feed. Equal
// records give equal bytes. It never fails.
func (r *Record) AppendJSON(dst []byte) []byte {
	p := plain(*r)
	p.Infinite = r.infinite()
	data, err := json.Marshal(&p, writing)
	if err != nil {
		panic(err) // a record always has JSON
	}
	return append(dst, data...)
}

// decode reads a record without its checksum.
func (r *Record) decode(data []byte) error {
	*r = Record{}
	return json.Unmarshal(data, (*plain)(r), reading)
}

// infinite returns the metrics with an infinite value.
func (r *Record) infinite() []Metric {
	out := slices.Clone(r.Infinite)
	for m, curve := range r.Curves {
		if slices.ContainsFunc(curve, func(x float64) bool { return math.IsInf(x, 0) }) {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// MarshalJSON is AppendJSON for encoding/json.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// UnmarshalJSON reads a line as WriteRecords writes it, or AppendJSON. It refuses unknown keys.
func (r *Record) UnmarshalJSON(data []byte) error {
	body, err := splitChecksum(data)
	if errors.Is(err, errChecksum) {
		return err
	}
	if err == nil {
		data = append(slices.Clone(body), '}')
	}
	return r.decode(data)
}

// Curves holds one value a grid point for every recorded metric.
type Curves map[Metric][]float64

// MarshalJSONTo writes the metrics in order.
func (c Curves) MarshalJSONTo(e *jsontext.Encoder) error {
	err := e.WriteToken(jsontext.BeginObject)
	for _, m := range slices.Sorted(maps.Keys(c)) {
		err = cmp.Or(err, e.WriteToken(jsontext.String(string(m))), e.WriteValue(Values(c[m]).appendJSON(e.AvailableBuffer())))
	}
	return cmp.Or(err, e.WriteToken(jsontext.EndObject))
}

// UnmarshalJSONFrom reads null as NaN.
func (c *Curves) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := read(d, '{'); err != nil {
		return err
	}
	*c = Curves{}
	var room []float64
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		m := Metric(name.String())
		if err := read(d, '['); err != nil {
			return err
		}
		room = room[:0]
		for d.PeekKind() != ']' {
			x, err := readNumber(d)
			if err != nil {
				return err
			}
			room = append(room, x)
		}
		if err := read(d, ']'); err != nil {
			return err
		}
		(*c)[m] = slices.Clone(room)
	}
	return read(d, '}')
}

// read reads a token of a kind.
func read(d *jsontext.Decoder, kind jsontext.Kind) error {
	t, err := d.ReadToken()
	if err == nil && t.Kind() != kind {
		err = errNotOurs
	}
	return err
}

// readNumber reads a number, or null as NaN.
func readNumber(d *jsontext.Decoder) (x float64, err error) {
	t, err := d.ReadToken()
	switch {
	case err != nil:
		return 0, err
	case t.Kind() == 'n':
		return math.NaN(), nil
	case t.Kind() == '0':
		return t.Float()
	}
	return 0, errNotOurs
}

// Number is a float64 that JSON shows as null where it is not finite, and that
// reads null as NaN.
type Number float64

// MarshalJSON writes the shortest digits that read back as the same number.
func (x Number) MarshalJSON() ([]byte, error) { return appendFloat(nil, float64(x)), nil }

// UnmarshalJSON reads a number or null.
func (x *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*x = Number(math.NaN())
		return nil
	}
	f, err := strconv.ParseFloat(string(data), 64)
	*x = Number(f)
	return err
}

// Values are float64s with the JSON of Number.
type Values []float64

// MarshalJSON writes an array of numbers and nulls.
func (v Values) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

func (v Values) appendJSON(dst []byte) []byte {
	dst = append(slices.Grow(dst, 20*len(v)+2), '[')
	for i, x := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, x)
	}
	return append(dst, ']')
}

// UnmarshalJSON reads an array of numbers and nulls.
func (v *Values) UnmarshalJSON(data []byte) error {
	var numbers []Number
	if err := stdjson.Unmarshal(data, &numbers); err != nil {
		return err
	}
	*v = make(Values, len(numbers))
	for i, x := range numbers {
		(*v)[i] = float64(x)
	}
	return nil
}

// appendFloat writes the shortest digits that read back as x, as encoding/json
// does: with an exponent only where it is shorter; null if x is not finite.
func appendFloat(dst []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, x, format, -1, 64)
}
