package result

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
)

// AppendJSON appends the record as one line of JSON without the line feed. Equal
// records give equal bytes. It never fails; it exists because reflection costs
// several times as much on long curves.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"environment":`...), r.Environment)
	dst = appendString(append(dst, `,"agent":`...), r.Agent)
	dst = strconv.AppendInt(append(dst, `,"run":`...), int64(r.Run), 10)
	dst = appendString(append(dst, `,"status":`...), string(r.Status))
	if r.Error != "" {
		dst = appendString(append(dst, `,"error":`...), r.Error)
	}
	dst = strconv.AppendInt(append(dst, `,"steps":`...), int64(r.Steps), 10)
	dst = strconv.AppendInt(append(dst, `,"episodes":`...), int64(r.Episodes), 10)
	if len(r.Curves) > 0 {
		dst = append(dst, `,"curves":{`...)
		for i, m := range slices.Sorted(maps.Keys(r.Curves)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, string(m)), ':')
			dst = Values(r.Curves[m]).appendJSON(dst)
		}
		dst = append(dst, '}')
	}
	if infinite := r.infinite(); len(infinite) > 0 {
		dst = append(dst, `,"infinite":[`...)
		for i, m := range infinite {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, string(m))
		}
		dst = append(dst, ']')
	}
	if len(r.Decisions) > 0 {
		dst = append(dst, `,"decisions":[`...)
		for i := range r.Decisions {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = r.Decisions[i].appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	if r.Experiment != "" {
		dst = appendString(append(dst, `,"experiment":`...), r.Experiment)
	}
	return append(dst, '}')
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

// UnmarshalJSON reads a line as WriteRecords writes it, or AppendJSON. It refuses all other
// JSON.
func (r *Record) UnmarshalJSON(data []byte) error {
	if _, err := splitChecksum(data); errors.Is(err, errChecksum) {
		return err
	}
	if !parseRecord(data, r, true) {
		return errNotOurs
	}
	return nil
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
	var numbers []*float64
	if err := json.Unmarshal(data, &numbers); err != nil {
		return err
	}
	*v = make(Values, len(numbers))
	for i, x := range numbers {
		if (*v)[i] = math.NaN(); x != nil {
			(*v)[i] = *x
		}
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

func appendString(dst []byte, s string) []byte {
	b, _ := json.Marshal(s) // a string always has JSON
	return append(dst, b...)
}
