// Package config reads an experiment's config: a YAML file, over it the environment
// variables and flags of the host, and --set. The result is validated as a whole before
// anything is decoded. Every problem has its file and line, its key, and what is allowed
// there.
//
// viper layers the host's settings. It never sees the parameters of plugins,
// because it would lower-case their keys and split them at dots. These go from
// the YAML tree to the plugin as they are written, numbers digit for digit.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// File is a config that has been read and validated.
type File struct {
	plan.Config
	doc *document
}

// Load reads the config in the file called name ("-" is stdin) and lets
// environment variables and the flags of Flags override it. Errors about the
// file's content are Problems.
func Load(name string, stdin io.Reader, flags *pflag.FlagSet) (*File, error) {
	data, err := read(name, stdin)
	if err != nil {
		return nil, err
	}
	label := name
	if name == "-" {
		label = "stdin"
	}
	f, err := Parse(label, data, flags)
	if err == nil && f.Name == "" && name != "-" {
		f.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	return f, err
}

// Parse reads a config as Load does. name is that of its file in messages; empty if
// there is none.
func Parse(name string, data []byte, flags *pflag.FlagSet) (*File, error) {
	doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	if err := doc.apply(flags); err != nil {
		return nil, err
	}
	f := &File{doc: doc}
	if err := f.decode(); err != nil {
		return nil, err
	}
	return f, nil
}

func read(name string, stdin io.Reader) ([]byte, error) {
	fail := func(format string, args ...any) ([]byte, error) {
		return nil, Problems{{Where: name, Message: fmt.Sprintf(format, args...)}}
	}
	if name == "-" {
		data, err := io.ReadAll(io.LimitReader(stdin, maxBytes+1))
		if err != nil {
			name = "stdin"
			return fail("%v", err)
		}
		return data, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("no such file")
	case err != nil:
		return fail("%v", inputfile.Cause(err))
	case info.IsDir():
		return fail("is a directory; name the YAML file in it")
	}
	data, err := inputfile.Read(name, maxBytes)
	if errors.Is(err, inputfile.ErrTooLarge) {
		return fail("%v; an experiment's config is a few lines of YAML", inputfile.Cause(err))
	}
	if err != nil {
		return fail("%v", inputfile.Cause(err))
	}
	return data, nil
}

// decode validates the document and fills in Config.
func (f *File) decode() error {
	data, problems := f.doc.json(f.doc.root, nil)
	if problems != nil {
		return problems
	}
	v, err := configValidator()
	if err != nil {
		return fmt.Errorf("the schema of experiments: %w", err)
	}
	problems, err = v.validate(f.doc, data, slices.Clone[[]string])
	if err != nil {
		return err
	}
	if problems != nil {
		return f.doc.sorted(problems)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f.Config); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) { // a number that fits the schema but not its Go type
			path := strings.Split(te.Field, ".")
			return Problems{f.doc.problem(path, "%s is out of range", strings.TrimPrefix(te.Value, "number "))}
		}
		return err
	}
	problems, err = f.checkExploration()
	if err == nil && problems != nil {
		err = f.doc.sorted(problems)
	}
	return err
}

// sorted puts problems in the order of the file, those from flags first.
func (d *document) sorted(ps Problems) Problems {
	line := func(p *Problem) int {
		n, err := strconv.Atoi(strings.TrimPrefix(p.Where, d.name+":"))
		if err != nil {
			return 0
		}
		return n
	}
	slices.SortStableFunc(ps, func(a, b *Problem) int { return line(a) - line(b) })
	return slices.CompactFunc(ps, func(a, b *Problem) bool { return *a == *b })
}

// CheckParams validates the parameters of a component, list[i] with list
// "environments" or "agents", and every value of its sweep, against the schema
// that its plugin describes. An empty schema allows anything. Errors about the
// parameters are Problems.
func (f *File) CheckParams(list string, i int, schema json.RawMessage) error {
	if len(bytes.TrimSpace(schema)) == 0 {
		return nil
	}
	components := f.Environments
	if list == "agents" {
		components = f.Agents
	}
	c := components[i]
	v, err := newValidator(schema)
	if err != nil {
		return fmt.Errorf("plugin %s describes its parameters with a schema that is not valid: %w", c.Plugin, err)
	}
	base := []string{list, strconv.Itoa(i)}
	var problems Problems
	sweep, _ := splitSweep(c.Sweep)
	for _, variant := range variants(sweep) {
		params, err := variant.params(c.Params)
		if err != nil {
			problems = append(problems, f.doc.problem(slices.Concat(base, []string{"sweep"}), "%v", err))
			continue
		}
		found, err := v.validate(f.doc, params, func(path []string) []string { return variant.relocate(base, path) })
		if err != nil {
			return err
		}
		problems = append(problems, found...)
	}
	if problems != nil {
		return f.doc.sorted(problems)
	}
	return nil
}

// Params makes the parameters of a plugin from KEY=VALUE expressions, as --set
// has them, and validates them against the plugin's schema.
func Params(exprs []string, schema json.RawMessage) (json.RawMessage, error) {
	d := &document{
		name: "--param", flag: "--param ", example: "gamma=0.9",
		root: &yaml.Node{Kind: yaml.MappingNode}, setBy: map[*yaml.Node]string{},
	}
	d.setBy[d.root] = "--param"
	for _, expr := range exprs {
		if p := d.set(expr); p != nil {
			return nil, Problems{p}
		}
	}
	data, problems := d.json(d.root, []string{"", "", "params"})
	if problems != nil {
		return nil, problems
	}
	if len(bytes.TrimSpace(schema)) == 0 {
		return data, nil
	}
	v, err := newValidator(schema)
	if err != nil {
		return nil, fmt.Errorf("the plugin describes its parameters with a schema that is not valid: %w", err)
	}
	problems, err = v.validate(d, data, slices.Clone[[]string])
	if err == nil && problems != nil {
		err = problems
	}
	return data, err
}

// Locate adds file and line to what is wrong with the config: it turns an error that
// consists of *plan.FieldErrors and Problems into Problems. An error that
// merely wraps a *plan.FieldError is not the config's fault; its text gets file
// and line. Any other error is returned as it is.
func (f *File) Locate(err error) error {
	var problems Problems
	switch other := f.collect(err, &problems); {
	case err == nil:
		return nil
	case other == nil:
		return f.doc.sorted(problems)
	default:
		var field *plan.FieldError
		if errors.As(other, &field) && f.doc.name != "" {
			return fmt.Errorf("%s: %w", f.doc.problem(segments(field.Path), "").Where, other)
		}
		return other
	}
}

// collect appends the problems that err consists of. It returns the first error in
// it that is none.
func (f *File) collect(err error, problems *Problems) error {
	switch e := err.(type) {
	case nil:
		return nil
	case Problems:
		*problems = append(*problems, e...)
		return nil
	case *plan.FieldError:
		*problems = append(*problems, f.fieldProblem(e))
		return nil
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if other := f.collect(inner, problems); other != nil {
				if err.Error() != errors.Join(e.Unwrap()...).Error() {
					other = err // which has words of its own
				}
				return other
			}
		}
		return nil
	}
	return err
}

// fieldProblem points at the path of an error. A plugin's message about its
// parameters may begin with a key, as in "prior.low is 2". Then the problem points
// at that key.
func (f *File) fieldProblem(e *plan.FieldError) *Problem {
	path, message := segments(e.Path), e.Err.Error()
	for _, kind := range []error{framework.ErrInvalidParams, framework.ErrUnsupported} {
		if errors.Is(e.Err, kind) {
			message = strings.TrimSuffix(message, ": "+kind.Error()) // the place says that
		}
	}
	if errors.Is(e.Err, framework.ErrInvalidParams) && len(path) > 2 && path[len(path)-1] == "params" {
		return f.paramsProblem(path, message)
	}
	return f.doc.problem(path, "%s", message)
}

func (f *File) paramsProblem(path []string, message string) *Problem {
	said := message
	if _, rest, ok := strings.Cut(message, ": "); ok && strings.HasPrefix(message, "plugin ") {
		said = rest // of a process of its own
	}
	for {
		word, rest, ok := strings.Cut(said, " ")
		deeper := slices.Concat(path, plan.SweptPath(strings.TrimSuffix(word, ":")))
		if _, _, depth := f.doc.find(deeper); !ok || depth < len(deeper) || len(deeper) == len(path) {
			break
		}
		path, message, said = deeper, rest, rest
	}
	_, _, depth := f.doc.find(path)
	return f.doc.problem(path[:depth], "%s", message)
}

// segments returns a path as the document has it.
func segments(path plan.Path) []string {
	return each.Of(path, func(step any) string { return fmt.Sprint(step) })
}
