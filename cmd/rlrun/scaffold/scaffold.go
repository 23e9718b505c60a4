// Package scaffold writes the first version of a plugin: a project that builds,
// is tested and keeps every rule as it stands. The projects are in templates, a
// directory for what a language's plugins share and one a kind.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/rlrun/rlrun/framework/vector"
)

//go:embed templates
var templates embed.FS

// Language is what a plugin is written in.
type Language string

// The languages of templates.
const (
	Go     Language = "go"
	Python Language = "python"
)

// Project says what to write.
type Project struct {
	Name      string      // of the plugin: lower-case letters, digits and hyphens
	Namespace string      // the first part of its id; likewise
	Kind      vector.Kind // environment, agent, rule or options
	Language  Language    // of the source code
	// Version is the version of rlrun that the project asks for. Replace is a
	// checkout of rlrun, an absolute path, to be used in its place; none if empty.
	Version, Replace string
}

// Go is the version of Go that projects ask for.
func (Project) Go() string { return "1.26" }

// Module is the name of the Python module.
func (p Project) Module() string { return "rlrun_plugin_" + strings.ReplaceAll(p.Name, "-", "_") }

// PythonRequirement is the Python package of the project's rlrun, as pip wants it. A
// commit between releases stands for the release before it.
func (p Project) PythonRequirement() string {
	if p.Replace != "" {
		return "rlrun @ " + p.PythonURL()
	}
	version := p.Version
	if module.IsPseudoVersion(version) {
		version, _ = module.PseudoVersionBase(version)
	}
	release := strings.TrimSuffix(semver.Canonical(version), semver.Prerelease(version))
	switch {
	case release == "":
		return "rlrun"
	case semver.Prerelease(version) != "":
		return "rlrun>=" + release[1:] + ".dev0"
	}
	return "rlrun>=" + release[1:]
}

// PythonURL is where pip finds the SDK in the checkout.
func (p Project) PythonURL() string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(p.Replace) + "/python"}
	return u.String()
}

// What is what the project makes, in words.
func (p Project) What() string {
	return map[vector.Kind]string{vector.KindEnvironment: "environment", vector.KindAgent: "agent", vector.KindRule: "exploration rule", vector.KindOptions: "option source"}[p.Kind]
}

// Key is how configs name the plugin once it is installed.
func (p Project) Key() string {
	switch p.Kind {
	case vector.KindRule:
		return "rule: rlrun-plugin-" + p.Name
	case vector.KindOptions:
		return "options: [rlrun-plugin-" + p.Name + "]"
	}
	return "plugin: " + p.Name
}

// GoReplace is the checkout as go.mod has it.
func (p Project) GoReplace() string {
	if strings.ContainsAny(p.Replace, " \t\"'`(),[]{}") {
		return strconv.Quote(p.Replace)
	}
	return p.Replace
}

// Command is what a config calls the plugin, in the project's directory.
func (p Project) Command() string {
	if p.Language == Python {
		return "python " + p.Module() + ".py"
	}
	return "./rlrun-plugin-" + p.Name
}

var name = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxName bounds names, which become those of files and sockets.
const maxName = 50

// Validate reports what is wrong with the project.
func (p Project) Validate() error {
	for what, s := range map[string]string{"a name": p.Name, "a namespace": p.Namespace} {
		if !name.MatchString(s) || len(s) > maxName {
			return fmt.Errorf("%q cannot be %s: it must begin with a letter and have at most %d lower-case letters, digits and single hyphens, such as grid-world", s, what, maxName)
		}
	}
	if !slices.Contains(vector.PluginKinds, p.Kind) {
		return fmt.Errorf("--kind must be environment, agent, rule or options, not %q", p.Kind)
	}
	if p.Language != Go && p.Language != Python {
		return fmt.Errorf("--lang must be go or python, not %q; for other languages see docs/protocol.md and examples/node", p.Language)
	}
	return nil
}

// Free reports why no project can be written into dir: there is something.
func Free(dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s is there already, and is no directory", dir)
	case len(entries) > 0:
		return fmt.Errorf("the directory %s is there already, with %s in it: choose another name, or remove it", dir, entries[0].Name())
	}
	return nil
}

// Write writes the project into dir, which must be Free, and returns the files it
// wrote, relative to dir.
func (p Project) Write(dir string) ([]string, error) {
	if err := errors.Join(p.Validate(), Free(dir)); err != nil {
		return nil, err
	}
	var written []string
	for _, directory := range []string{string(p.Language), string(p.Language) + "-" + string(p.Kind)} {
		parts, err := fs.Glob(templates, "templates/"+directory+"/*.tmpl")
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			text, err := p.fill(part)
			if err != nil {
				return nil, err
			}
			file := p.file(strings.TrimSuffix(filepath.Base(part), ".tmpl"))
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o666); err != nil {
				return nil, err
			}
			written = append(written, file)
		}
	}
	slices.Sort(written)
	return written, nil
}

// fill fills in a template.
func (p Project) fill(path string) ([]byte, error) {
	t, err := template.New(filepath.Base(path)).Option("missingkey=error").ParseFS(templates, path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

// file returns the name under which a template's file is written.
func (p Project) file(template string) string {
	switch template {
	case "gitignore":
		return ".gitignore"
	case "module.py":
		return p.Module() + ".py"
	case "module_test.py":
		return "test_" + p.Module() + ".py"
	}
	return template
}
