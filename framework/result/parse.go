package result

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// parser reads lines as AppendJSON writes them, several times as fast as
// encoding/json, for a thousand runs are millions of numbers (docs/performance.md). It
// gives up (bad) on anything else, also on other JSON of the same record.
type parser struct {
	rest []byte
	bad  bool
}

// parseRecord reads a whole line. Without curves it skips their numbers.
func parseRecord(line []byte, r *Record, curves bool) bool {
	p := parser{rest: bytes.TrimRight(line, "\n")}
	*r = Record{}
	key, status := p.head()
	r.Environment, r.Agent, r.Run, r.Status = key.Environment, key.Agent, key.Run, status
	if p.try(`,"error":`) {
		r.Error = p.string()
	}
	p.want(`,"steps":`)
	r.Steps = p.int()
	p.want(`,"episodes":`)
	r.Episodes = p.int()
	if p.try(`,"curves":{`) {
		r.Curves = map[Metric][]float64{}
		for more := true; more && !p.bad; more = p.try(",") {
			m := Metric(p.string())
			p.want(":")
			if curves {
				r.Curves[m] = p.numbers()
			} else if end := bytes.IndexByte(p.rest, ']'); end >= 0 {
				p.rest = p.rest[end+1:]
			} else {
				p.bad = true
			}
		}
		p.want("}")
	}
	if p.try(`,"infinite":[`) {
		for more := true; more && !p.bad; more = p.try(",") {
			r.Infinite = append(r.Infinite, Metric(p.string()))
		}
		p.want("]")
	}
	if p.try(`,"decisions":[`) {
		for more := true; more && !p.bad; more = p.try(",") {
			r.Decisions = append(r.Decisions, p.decision())
		}
		p.want("]")
	}
	if p.try(`,"experiment":`) {
		r.Experiment = p.string()
	}
	if len(p.rest) == checksumLength && p.try(checksumKey) {
		p.rest = p.rest[8:]
		p.want(`"`)
	}
	p.want("}")
	return !p.bad && len(p.rest) == 0
}

// head reads the beginning of a line.
func (p *parser) head() (k Key, s Status) {
	p.want(`{"environment":`)
	k.Environment = p.string()
	p.want(`,"agent":`)
	k.Agent = p.string()
	p.want(`,"run":`)
	k.Run = p.int()
	p.want(`,"status":`)
	return k, Status(p.string())
}

// tail reads the experiment at the end of a line, which stands before the checksum; empty if
// the line has none.
func (p *parser) tail(body []byte) (experiment string) {
	const key = `,"experiment":`
	if !bytes.HasSuffix(body, []byte(`"`)) {
		return ""
	}
	end := parser{rest: body[max(0, bytes.LastIndex(body, []byte(key+`"`))):]}
	end.want(key)
	experiment = end.string()
	p.bad = p.bad || end.bad || len(end.rest) > 0
	return experiment
}

func (p *parser) try(text string) bool {
	if p.bad || len(p.rest) < len(text) || string(p.rest[:len(text)]) != text {
		return false
	}
	p.rest = p.rest[len(text):]
	return true
}

func (p *parser) want(text string) {
	if !p.try(text) {
		p.bad = true
	}
}

// string reads a string; one with escapes through encoding/json.
func (p *parser) string() (s string) {
	if p.bad || len(p.rest) == 0 || p.rest[0] != '"' {
		p.bad = true
		return ""
	}
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\':
			i++
		case c < ' ':
			p.bad = true
			return ""
		case c == '"':
			quoted := p.rest[:i+1]
			p.rest = p.rest[i+1:]
			if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
				return string(quoted[1:i])
			}
			p.bad = json.Unmarshal(quoted, &s) != nil
			return s
		}
	}
	p.bad = true
	return ""
}

func (p *parser) int() int {
	end := 0
	for end < len(p.rest) && (p.rest[end] == '-' || '0' <= p.rest[end] && p.rest[end] <= '9') {
		end++
	}
	n, err := strconv.Atoi(string(p.rest[:end]))
	p.bad = p.bad || err != nil
	p.rest = p.rest[end:]
	return n
}

func (p *parser) bool() bool {
	if p.try("true") {
		return true
	}
	p.want("false")
	return false
}

// number reads a number or null.
func (p *parser) number() float64 {
	end := 0
	for end < len(p.rest) && p.rest[end] != ',' && p.rest[end] != '}' {
		end++
	}
	x, ok := parseNumber(p.rest[:end])
	p.bad = p.bad || !ok
	p.rest = p.rest[end:]
	return x
}

// numbers reads an array of numbers and nulls.
func (p *parser) numbers() []float64 {
	end := bytes.IndexByte(p.rest, ']')
	if p.bad || end < 0 || p.rest[0] != '[' {
		p.bad = true
		return nil
	}
	body := p.rest[1:end]
	p.rest = p.rest[end+1:]
	out := make([]float64, 0, bytes.Count(body, []byte(","))+1)
	for len(body) > 0 {
		token := body
		if i := bytes.IndexByte(body, ','); i >= 0 {
			token, body = body[:i], body[i+1:]
			p.bad = p.bad || len(body) == 0
		} else {
			body = nil
		}
		x, ok := parseNumber(token)
		if !ok {
			p.bad = true
			return nil
		}
		out = append(out, x)
	}
	return out
}

// parseNumber reads what appendFloat writes.
func parseNumber(token []byte) (float64, bool) {
	if string(token) == "null" {
		return math.NaN(), true
	}
	for _, c := range token {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != 'e' && c != '+' {
			return 0, false // what ParseFloat reads besides, such as hexadecimal
		}
	}
	x, err := strconv.ParseFloat(string(token), 64)
	return x, err == nil
}
