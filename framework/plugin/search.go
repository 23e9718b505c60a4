package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/internal/spelling"
)

// Prefix begins the name of every plugin's executable on the search path.
const Prefix = "rlrun-plugin-"

// bridge begins a reference to an environment of Gymnasium: gymnasium:ID.
const bridge = "gymnasium:"

// Search says where plugins are found.
type Search struct {
	// Bundled names the plugins that ship with rlrun.
	Bundled []string
	// Dirs are searched in order for executables named rlrun-plugin-NAME; see
	// DefaultDirs. Only absolute ones are: the working directory may be somebody else's.
	Dirs []string
	// Python is the interpreter that serves environments of Gymnasium, a path or a
	// name in $PATH. Default: python3.
	Python string
}

// Found is what a reference to a plugin stands for.
type Found struct {
	Name    string   `json:"name"`              // to be shown
	Bundled bool     `json:"bundled,omitempty"` // it ships with rlrun; there is no command
	Command string   `json:"command,omitempty"` // path of the executable
	Args    []string `json:"args,omitempty"`    // arguments of the program
}

// DefaultDirs returns the directories of $RLRUN_PLUGIN_PATH, then those of $PATH. getenv is
// os.Getenv.
func DefaultDirs(getenv func(string) string) []string {
	own := slices.DeleteFunc(filepath.SplitList(getenv("RLRUN_PLUGIN_PATH")), isEmpty)
	for i, directory := range own {
		if path, err := filepath.Abs(directory); err == nil {
			own[i] = path
		}
	}
	return slices.DeleteFunc(append(own, filepath.SplitList(getenv("PATH"))...), isEmpty)
}

func isEmpty(text string) bool { return text == "" }

// serveGymnasium is a program of Python that serves an environment of Gymnasium. With -m, or
// with the empty path that -c begins with, a module of the working directory could take the
// place of any that it imports, and the working directory may be somebody else's.
const serveGymnasium = "import sys; sys.path[:] = filter(None, sys.path); from rlrun.from_gymnasium import main; main()"

// Resolve finds the plugin that a config names:
//
//   - the name of a bundled plugin;
//   - gymnasium:ID, an environment of Gymnasium;
//   - a NAME whose executable rlrun-plugin-NAME is in one of the directories, or rlrun-plugin-NAME;
//   - the path of an executable, recognised by a slash, or of a .py file, which runs in Python;
//   - with args, any command in $PATH, such as python.
//
// A command line in one string, "python grid.py --fast", is split at spaces.
func (s Search) Resolve(reference string, args ...string) (Found, error) {
	if words := strings.Fields(reference); len(words) > 1 && !isFile(reference) {
		reference, args = words[0], slices.Concat(words[1:], args)
	}
	found := Found{Name: reference, Args: args}
	switch {
	case reference == "":
		return found, errors.New("no plugin is named")
	case slices.Contains(s.Bundled, reference):
		if len(args) > 0 {
			return found, fmt.Errorf("plugin %s ships with rlrun and takes no arguments: put them into params", reference)
		}
		found.Bundled = true
		return found, nil
	case strings.HasPrefix(reference, bridge):
		python := cmp.Or(s.Python, "python3")
		path, err := exec.LookPath(python)
		if err != nil {
			return found, fmt.Errorf("plugin %s needs Python, and there is no %s: install Python 3.10 or newer, or name an interpreter in RLRUN_PYTHON", reference, python)
		}
		found.Command = path
		found.Args = slices.Concat([]string{"-c", serveGymnasium, strings.TrimPrefix(reference, bridge)}, args)
		return found, nil
	case strings.ContainsRune(filepath.ToSlash(reference), '/'):
		path, err := filepath.Abs(reference)
		if err != nil {
			return found, err
		}
		if filepath.Ext(path) == ".py" && isFile(path) && executable(path) != nil {
			script := reference
			if reference, err = exec.LookPath(cmp.Or(s.Python, "python3")); err != nil {
				return found, fmt.Errorf("plugin %s needs Python 3.10 or newer: install it, or name an interpreter in RLRUN_PYTHON", script)
			}
			found.Name, found.Command, found.Args = strings.TrimSuffix(filepath.Base(path), ".py"), reference, slices.Concat([]string{script}, args)
			return found, nil
		}
		if err := executable(path); err != nil {
			return found, fmt.Errorf("plugin %s: %w", reference, err)
		}
		found.Name, found.Command = strings.TrimPrefix(filepath.Base(path), Prefix), path
		return found, nil
	}
	name := strings.TrimPrefix(reference, Prefix)
	for _, directory := range s.Dirs {
		path := filepath.Join(directory, Prefix+name)
		if filepath.IsAbs(path) && executable(path) == nil {
			found.Name, found.Command = name, path
			return found, nil
		}
	}
	if len(args) > 0 {
		if path, err := exec.LookPath(reference); err == nil {
			found.Name, found.Command = strings.Join(append([]string{reference}, args...), " "), path
			return found, nil
		}
	}
	return found, s.missing(name)
}

// noModule is how Python says that it lacks a module.
var noModule = regexp.MustCompile(`No module named '([^'.]+)`)

// Explain returns the error of a plugin that could not be launched or, where
// what it lacks is known, one that says how to get it.
func (f Found) Explain(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	for _, line := range e.Stderr {
		m := noModule.FindStringSubmatch(line)
		switch {
		case m == nil:
		case !strings.HasPrefix(f.Name, bridge):
			return fmt.Errorf("%w\n%s has no module %s: start rlrun where the virtual environment that has it is active, or install it with %s -m pip install",
				err, f.Command, m[1], f.Command)
		case m[1] == "rlrun" || m[1] == "gymnasium":
			return fmt.Errorf("plugin %s needs the Python package %s, which %s does not have: in rlrun's source, %s -m pip install './python[gymnasium]'; or name another interpreter in RLRUN_PYTHON",
				f.Name, m[1], f.Command, f.Command)
		}
	}
	return err
}

// packaged are the plugins that rlrun's Python package installs, and the extras that they need.
var packaged = map[string]string{
	"cartpole-swingup": "", "catch": "", "distribution-bandit": "", "minatar": "",
	"classification-bandit": "[contexts]", "deep-bootstrap-q": "[deep]", "deep-q": "[deep]", "gymnax": "[gymnax]", "pqn": "[deep]",
}

// gymnasiumID matches names such as CartPole-v1 and ALE/Pong-v5.
var gymnasiumID = regexp.MustCompile(`^[\w./:-]+-v\d+$`)

// missing says where a plugin was looked for and what there is instead.
func (s Search) missing(name string) error {
	var names, similar []string
	for _, f := range s.List() {
		names = append(names, f.Name)
		if strings.Contains(f.Name, name) {
			similar = append(similar, f.Name)
		}
	}
	if near := spelling.Closest(name, names); near != "" {
		similar = []string{near}
	}
	hint := "bundled are " + strings.Join(s.Bundled, ", ")
	if extra, ok := packaged[name]; ok {
		hint = fmt.Sprintf("it comes with Python's package: pip install 'rlrun%s' and start rlrun where its virtual environment is active", extra)
	} else if isFile(name) {
		hint = fmt.Sprintf("%s is a file here: name it as %q", name, asCommand(name))
	} else if len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	} else if len(s.Bundled) == 0 {
		hint = "none is bundled"
	}
	if gymnasiumID.MatchString(name) {
		hint = fmt.Sprintf("an environment of Gymnasium is named %q; ", "gymnasium:"+name) + hint
	}
	return fmt.Errorf("no plugin %q: it is not bundled, and there is no executable %s%s in %s; %s",
		name, Prefix, name, where(s.Dirs), hint)
}

// asCommand is what a config calls a file of the working directory: with the interpreter of
// its language, or as a path.
func asCommand(file string) string {
	if interpreter := map[string]string{".py": "python", ".js": "node"}[filepath.Ext(file)]; interpreter != "" {
		return interpreter + " " + file
	}
	return "./" + file
}

// where lists directories, in brief.
func where(directories []string) string {
	const shown = 3
	for i, d := range directories {
		if !filepath.IsAbs(d) {
			directories = slices.Clone(directories)
			directories[i] = d + " (which is not searched: it is no absolute path)"
		}
	}
	switch {
	case len(directories) == 0:
		return "any directory (there is none to search)"
	case len(directories) > shown:
		return fmt.Sprintf("%s and %d more directories", strings.Join(directories[:shown], ", "), len(directories)-shown)
	}
	return strings.Join(directories, ", ")
}

// List returns all plugins that a name can stand for, the bundled ones first,
// then by name. Of several executables of one name the first found counts.
func (s Search) List() []Found {
	var list []Found
	seen := map[string]bool{}
	for _, name := range s.Bundled {
		list = append(list, Found{Name: name, Bundled: true})
		seen[name] = true
	}
	bundled := len(list)
	for _, directory := range s.Dirs {
		entries, err := os.ReadDir(directory)
		if err != nil {
			continue // $PATH may name directories that do not exist
		}
		for _, e := range entries {
			name, ok := strings.CutPrefix(e.Name(), Prefix)
			path := filepath.Join(directory, e.Name())
			if !ok || name == "" || seen[name] || !filepath.IsAbs(path) || executable(path) != nil {
				continue
			}
			seen[name] = true
			list = append(list, Found{Name: name, Command: path})
		}
	}
	slices.SortFunc(list[bundled:], func(a, b Found) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// executable returns why path cannot be executed.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", path)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory", path)
	}
	if _, err := exec.LookPath(path); err != nil {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return fmt.Errorf("%s has data and is no program: exploration.options takes files of options, which rlrun plugin check checks, and the environment model takes a model in params.file", path)
		}
		return fmt.Errorf("%s is not executable (chmod +x it)", path)
	}
	return nil
}
