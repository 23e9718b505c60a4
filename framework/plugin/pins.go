package plugin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/internal/inputfile"
)

// Pins holds the digests of the files of plugins: the content of a lock file. A
// plugin's files are its executable and every argument that names a file, such as
// the script that an interpreter runs. Of a plugin in Python, the modules of the
// project and the versions of the packages that it imports are pinned too (Process.Sources).
// Files that other programs load are not pinned.
type Pins struct {
	// Version of the format: 1.
	Version int `yaml:"version" json:"version"`
	// Plugins maps the command line of a plugin, as configs have it, to the
	// digests of its files: "sha256:" and hexadecimal digits, by name. Among them are
	// modules and packages, "module maze" and "package numpy"; these have versions. "reports id"
	// has the id that its processes report. "later " precedes what a process has not imported before it opens anything.
	Plugins map[string]map[string]string `yaml:"plugins" json:"plugins"`
}

// ErrNotPinned says that a plugin is not, or not as it is now, in a lock file.
var ErrNotPinned = errors.New("not as locked")

const (
	pinsVersion = 1
	pinsHeader  = "# Plugins as rlrun plugin lock found them. rlrun run refuses one that is not as it\n# is here.\n"
	digestKind  = "sha256:"
	moduleKind  = "module "
)

// ReadPins reads a lock file. The error wraps fs.ErrNotExist if there is none.
func ReadPins(path string) (*Pins, error) {
	data, err := inputfile.Read(path, 64*inputfile.MiB)
	if err != nil {
		return nil, err
	}
	return parsePins(path, data)
}

// parsePins reads the content of a lock file.
func parsePins(path string, data []byte) (*Pins, error) {
	var p Pins
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(&p)
	if err == nil && !errors.Is(dec.Decode(new(yaml.Node)), io.EOF) {
		err = errors.New("something follows its end")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no lock file: %s; write it with rlrun plugin lock", path, strings.Join(strings.Fields(strings.NewReplacer("yaml: ", "", " in type plugin.Pins", "").Replace(err.Error())), " "))
	}
	if p.Version != pinsVersion {
		return nil, fmt.Errorf("%s has version %d, this rlrun reads version %d", path, p.Version, pinsVersion)
	}
	return &p, nil
}

// Encode writes a lock file.
func (p *Pins) Encode(w io.Writer) error {
	if _, err := io.WriteString(w, pinsHeader); err != nil {
		return err
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(p), enc.Close())
}

// Pin records what a plugin is made of in place of what it was: the digests of its files
// and of what its process reports (Process.Digests, Process.Sources). reference and args are
// the arguments of Resolve.
func (p *Pins) Pin(digests map[string]string, reference string, args ...string) {
	if p.Plugins == nil {
		p.Plugins = map[string]map[string]string{}
	}
	p.Version = pinsVersion
	digests = maps.Clone(digests)
	maps.DeleteFunc(digests, isFact)
	p.Plugins[commandLine(reference, args)] = digests
}

// CheckFiles returns an error wrapping ErrNotPinned, in one line, if a plugin is not
// made of the files that it was made of when it was pinned. It needs no process, so
// that a changed program is not started. files are Found.Digests, and lock is the lock
// file's name.
func (p *Pins) CheckFiles(lock string, files map[string]string, reference string, args ...string) error {
	return p.check(lock, files, false, reference, args)
}

// CheckProcess is CheckFiles for all that a process is made of: Process.Digests and
// Process.Sources.
func (p *Pins) CheckProcess(lock string, digests map[string]string, reference string, args ...string) error {
	return p.check(lock, digests, true, reference, args)
}

// Has says whether a plugin is pinned.
func (p *Pins) Has(reference string, args ...string) bool {
	_, ok := p.Plugins[commandLine(reference, args)]
	return ok
}

// ofProcess begins the name of the program that runs in a process in place of the file
// that was started, such as the interpreter of a script.
const ofProcess = "process "

// Later begins the name of what a process has not imported before it opens anything.
const Later = "later "

// ReportedID is the name of the id that the processes of a plugin report.
const ReportedID = "reports id"

// CheckSources returns an error wrapping ErrNotPinned if a process has loaded code, in a step for
// example, that is other than when the plugin was pinned, or modules of the plugin that were not
// pinned.
func (p *Pins) CheckSources(lock string, sources map[string]string, reference string, args ...string) error {
	name := commandLine(reference, args)
	known := maps.Clone(sources)
	maps.DeleteFunc(known, func(source, _ string) bool {
		return p.Plugins[name][source] == "" && p.Plugins[name][Later+source] == ""
	})
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		if known[source] == "" && strings.HasPrefix(source, moduleKind) {
			return fmt.Errorf("plugin %s is %w: it has loaded %s, which %s does not have; run rlrun plugin lock CONFIG, which opens it and plays some steps, or import the module at the top of the program and lock that",
				name, ErrNotPinned, source, lock)
		}
	}
	return p.same(lock, known, name)
}

// isSource tells what only a process can report from a file.
func isSource(name string) bool {
	return strings.HasPrefix(name, moduleKind) || strings.HasPrefix(name, "class ") || strings.HasPrefix(name, "package ") || strings.HasPrefix(name, ofProcess) || name == ReportedID
}

// isFact tells what a process says of its machine: no code, and so not pinned.
func isFact(name, _ string) bool { return strings.HasPrefix(name, "fact ") }

func (p *Pins) check(lock string, now map[string]string, process bool, reference string, args []string) error {
	name := commandLine(reference, args)
	pinned, ok := p.Plugins[name]
	if !ok {
		return fmt.Errorf("plugin %s is %w: %s does not have it; add it with %s", name, ErrNotPinned, lock, p.renew(name))
	}
	if err := p.same(lock, now, name); err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(pinned)) {
		unknown := isSource(file) && !process || strings.HasPrefix(file, ofProcess) && !seesPrograms || strings.HasPrefix(file, Later)
		if now[file] == "" && !unknown {
			return fmt.Errorf("plugin %s is %w: %s has a file %s, which is not there; if that is meant, run %s",
				name, ErrNotPinned, lock, file, p.renew(name))
		}
	}
	return nil
}

// same compares digests with those that are pinned.
func (p *Pins) same(lock string, now map[string]string, name string) error {
	pinned := p.Plugins[name]
	for _, file := range slices.Sorted(maps.Keys(now)) {
		if isFact(file, "") {
			continue
		}
		if was := cmp.Or(pinned[file], pinned[Later+file]); was != now[file] {
			what := "the digest of " + file
			if file == ReportedID {
				what = "the id that it reports"
			}
			return fmt.Errorf("plugin %s is %w: %s is %s, in %s it is %s; if the change is meant, run %s",
				name, ErrNotPinned, what, now[file], lock, cmp.Or(was, "none"), p.renew(name))
		}
	}
	return nil
}

// renew is the command that pins a plugin anew.
func (p *Pins) renew(name string) string {
	for file := range p.Plugins[name] {
		if strings.HasPrefix(file, Later) {
			return "rlrun plugin lock CONFIG, with the config that it was locked with"
		}
	}
	if strings.ContainsRune(name, ' ') {
		name = "'" + name + "'"
	}
	return "rlrun plugin lock " + name
}

// commandLine is a reference with its arguments in one string, however a config
// divides them.
func commandLine(reference string, args []string) string {
	if words := strings.Fields(reference); len(words) > 1 && !isFile(reference) {
		reference = strings.Join(words, " ")
	}
	return strings.Join(append([]string{reference}, args...), " ")
}

// Digests returns the SHA-256 digests of a plugin's files, by name. The
// executable's name has no directories; an argument's name is the argument as
// given. pip writes the Python of a virtual environment into the first line of a script. The
// digest of such a script leaves out the directory of this Python, and the Python is one of the
// files. So a plugin that pip installed has the same digests in any directory. A bundled
// plugin has none.
func (f Found) Digests() (map[string]string, error) {
	if f.Bundled {
		return map[string]string{}, nil
	}
	files, err := openStart(f.Command, f.Args)
	if err != nil {
		return nil, err
	}
	files.close()
	return files.digests(), nil
}
