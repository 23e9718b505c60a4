package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/spelling"
)

// setting is a key of the config that a flag or an environment variable of the
// host may override.
type setting struct{ key, flag, env, kind, usage string }

func settings() []setting {
	return []setting{
		{"runs", "runs", "RLRUN_RUNS", "N", "independent runs of each environment × agent pair"},
		{"steps", "steps", "RLRUN_STEPS", "N", "steps of each run"},
		{"seed", "seed", "RLRUN_SEED", "N", "root of every random stream"},
		{"workers", "workers", "RLRUN_WORKERS", "N", "batches run at the same time; 0: one per core"},
		{"lanes", "lanes", "RLRUN_LANES", "N", "runs stepped together; 0: automatic"},
		{"transport", "transport", "RLRUN_TRANSPORT", "T", "inprocess or process"},
		{"output", "out", "RLRUN_OUTPUT", "DIR", "directory that receives the results"},
	}
}

// text is a flag whose value is checked with the rest of the config.
type text struct{ value, kind string }

func (t *text) String() string     { return t.value }
func (t *text) Set(s string) error { t.value = s; return nil }
func (t *text) Type() string       { return t.kind }

// Variables returns the environment variables that override keys of a config.
func Variables() []string { return each.Of(settings(), func(s setting) string { return s.env }) }

// Overrides tells whether an entry of os.Environ overrides a key of the config.
func Overrides(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return slices.Contains(Variables(), name)
}

// Flags adds the flags that override keys of a config: --runs, --steps, --seed,
// --workers, --lanes, --transport, --out and --set.
func Flags(fs *pflag.FlagSet) {
	for _, s := range settings() {
		fs.Var(&text{kind: s.kind}, s.flag, s.usage+" ("+s.env+")")
	}
	fs.StringArray("set", nil, "set any key of the config, `PATH=VALUE`, such as agents.0.params.gamma=0.9; may be repeated")
}

// apply lets flags and environment variables override the document: --set and
// the flags override variables, and these override the file. viper does the
// layering. The values stay as they were written, and the schema checks them.
func (d *document) apply(fs *pflag.FlagSet) error {
	var problems Problems
	sets := fs.Lookup("set").Value.(pflag.SliceValue).GetSlice() // GetStringArray loses an empty one
	v := viper.New()
	file := map[string]any{}
	for _, s := range settings() {
		if err := v.BindPFlag(s.key, fs.Lookup(s.flag)); err != nil {
			return err
		}
		if err := v.BindEnv(s.key, s.env); err != nil {
			return err
		}
		if _, n := child(d.root, s.key); n != nil {
			file[s.key] = n
		}
	}
	if err := v.MergeConfigMap(file); err != nil {
		return err
	}
	for _, s := range settings() {
		given, ok := v.Get(s.key).(string)
		if !ok || given == "" && !fs.Changed(s.flag) {
			continue // absent, or the file's own node won
		}
		setBy := "environment variable " + s.env
		if fs.Changed(s.flag) {
			setBy = "--" + s.flag
		}
		n, err := d.setting(s, given, setBy)
		if given == "" {
			err = errors.New("has no value")
		}
		if err != nil {
			problems = append(problems, &Problem{Where: setBy, Message: err.Error()})
			continue
		}
		setKey(d.root, s.key, n, true)
		if key, _ := child(d.root, s.key); key.Line == 0 {
			d.setBy[key] = setBy
		}
	}
	problems = append(problems, misspelt(os.Environ())...)
	for _, expr := range sets {
		if path, _, err := splitSet(expr); err == nil && len(path) == 1 {
			for _, s := range settings() {
				if s.key == path[0] && fs.Changed(s.flag) {
					problems = append(problems, &Problem{Where: "--set " + shorten(expr), Message: fmt.Sprintf("--%s sets the same key; give one of the two", s.flag)})
				}
			}
		}
		if p := d.set(expr); p != nil {
			problems = append(problems, p)
		}
	}
	if problems != nil {
		return problems
	}
	return nil
}

// misspelt refuses environment variables that are nearly one of a setting, or named after a key that
// has none: they would change nothing.
func misspelt(environ []string) (problems Problems) {
	var flags []string
	for _, s := range settings() {
		flags = append(flags, s.flag, strings.TrimPrefix(s.env, "RLRUN_"))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		word, ours := strings.CutPrefix(name, "RLRUN_")
		if !ours || Overrides(entry) || strings.Contains(word, "_") { // rlrun's other variables have two words or are far off
			continue
		}
		if key := strings.ToLower(word); isKey(key) {
			problems = append(problems, &Problem{Where: "environment variable " + name, Message: fmt.Sprintf("is unknown: give %s in the config, or with --set %s=VALUE", key, key)})
		} else if meant := spelling.Closest(word, flags); meant != "" {
			i := slices.Index(flags, meant) / 2
			problems = append(problems, &Problem{Where: "environment variable " + name, Message: "is unknown; did you mean " + settings()[i].env + "?"})
		}
	}
	return problems
}

// isKey says whether a config has a key of this name at its top.
func isKey(name string) bool {
	return slices.ContainsFunc(reflect.VisibleFields(reflect.TypeFor[plan.Config]()), func(f reflect.StructField) bool {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return key == name
	})
}

// setting reads a flag or variable: words as they are, numbers as YAML.
func (d *document) setting(s setting, given, setBy string) (*yaml.Node, error) {
	if s.kind == "N" {
		return d.value(given, setBy)
	}
	if !utf8.ValidString(given) {
		return nil, fmt.Errorf("%q is not text in UTF-8", given)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: given}
	d.claim(n, setBy)
	return n, nil
}
