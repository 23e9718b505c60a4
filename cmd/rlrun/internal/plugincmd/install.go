package plugincmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/lockfile"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// installed is a plugin that was installed.
type installed struct {
	Name    string      `json:"name"`
	Command string      `json:"command"`
	ID      string      `json:"id"`
	Kind    vector.Kind `json:"kind"`
}

func newInstall(app *host.App) *cobra.Command {
	var lock string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "install SOURCE",
		Short: "Install a published plugin",
		Long: `Install the plugins of SOURCE into rlrun/plugins in the user's data directory
($XDG_DATA_HOME, ~/.local/share), where configs find them by name, and write their
digests into the lock file. SOURCE is

  a Go module     github.com/ada/rlrun-plugin-grid@v1.2.0, the path of a package of
                  type main and a version; @latest is the newest. It needs Go.
  a PyPI package  rlrun-plugin-grid, with rlrun-plugin-grid==1.2.0 for a version. Its
                  commands rlrun-plugin-NAME are the plugins. It gets a virtual
                  environment of its own, made by python3 or the interpreter that
                  $RLRUN_PYTHON names.
  a path          an executable, or the directory of a Go module or a Python project.

A plugin is started once before it is installed. It is refused if it does not start
or requires a newer rlrun; an older version of it then stays. Else it replaces a
plugin of the same name.

--json: a list of {name, command, id, kind}.`,
		Example: "  rlrun plugin install github.com/ada/rlrun-plugin-grid@latest\n  rlrun plugin install rlrun-plugin-grid==1.2.0\n  rlrun plugin install ./rlrun-plugin-grid",
		Args:    cli.Arguments(1, "a Go module with a version, a PyPI package or a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			list, err := install(cmd.Context(), c, args[0], app.Stderr)
			if err != nil {
				return err
			}
			names := each.Of(list, func(p installed) string { return p.Name })
			pins, err := pin(cmd.Context(), c, lock, names, cmd.InOrStdin(), app.Stderr)
			if err != nil {
				return err
			}
			if err := cli.WriteFile(lock, pins.Encode); err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			for _, p := range list {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s, in %s; its digest is in %s\n", p.Name, p.ID, p.Kind, p.Command, lock); err != nil {
					return err
				}
			}
			return nil
		},
	}
	app.TimeoutFlag(cmd.Flags())
	cmd.Flags().StringVar(&lock, "lock", host.LockName, "the lock `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

var (
	goPackage   = regexp.MustCompile(`^[^/@\s]+\.[^/@\s]+(/[^@\s]+)*@[^@\s]+$`)
	pypiPackage = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9,._-]+\])?((==|~=|>=|<=|<|>)[A-Za-z0-9.*+!]+)?$`)
	pluginName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// install puts the plugins of a source into the user's directory. Nothing there changes
// before each of them has been started. said gets a line per command that is run.
func install(ctx context.Context, c *host.Catalogue, source string, said io.Writer) ([]installed, error) {
	if _, bundled := c.Bundled[source]; bundled {
		return nil, cli.Usagef("rlrun brings the plugin %s: there is nothing to install", source)
	}
	directory := plugin.UserDir(os.Getenv)
	if directory == "" {
		return nil, errors.New("there is no directory for plugins: set XDG_DATA_HOME or HOME")
	}
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return nil, err
	}
	sweep(directory)
	stage, done, err := newStage(directory)
	if err != nil {
		return nil, err
	}
	kept := false // stage is a virtual environment that plugins need
	defer func() {
		if kept {
			sweep(directory) // what it replaces
		} else {
			done()
		}
	}()
	r := runner{ctx, said}
	programs, python, err := r.build(source, stage, cmp.Or(c.Search.Python, "python3"))
	if err != nil {
		return nil, err
	}
	var list []installed
	for _, path := range programs {
		p := installed{Name: nameOf(path)}
		if !pluginName.MatchString(p.Name) {
			return nil, cli.Usagef("%s cannot be the name of a plugin: it must have letters, digits, dots and hyphens only", p.Name)
		}
		if _, taken := c.Bundled[p.Name]; taken {
			return nil, cli.Usagef("rlrun has a plugin %s of its own, which would hide this one", p.Name)
		}
		p.Command = filepath.Join(directory, plugin.Prefix+p.Name)
		d, err := describeFile(ctx, c, path)
		if err != nil {
			return nil, fmt.Errorf("%s is not installed: %w", source, err)
		}
		p.ID, p.Kind = d.ID, d.Kind
		list = append(list, p)
	}
	for i, p := range list {
		if err := place(programs[i], p.Command, python); err != nil {
			return nil, err
		}
		kept = kept || python
		if found, err := c.Search.Resolve(p.Name); err == nil && found.Command != p.Command {
			return nil, fmt.Errorf("%s is installed, but %s is found first under its name: remove one of them", p.Command, found.Command)
		}
	}
	return list, nil
}

// nameOf is the name under which configs find an executable.
func nameOf(path string) string {
	name := filepath.Base(path)
	for _, extension := range []string{".exe", ".py", ".sh"} {
		name = strings.TrimSuffix(name, extension)
	}
	return strings.TrimPrefix(name, plugin.Prefix)
}

func describeFile(ctx context.Context, c *host.Catalogue, path string) (vector.Description, error) {
	p, closePlugin, err := c.Open(ctx, plan.Component{Plugin: path})
	if err != nil {
		return vector.Description{}, err
	}
	d, err := p.Describe(ctx)
	return d, errors.Join(err, closePlugin())
}

// place makes a staged executable the plugin to. Programs in a virtual environment
// stay where they are and are linked.
func place(from, to string, python bool) error {
	if python {
		next := to + ".new"
		if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(from, next); err != nil {
			return err
		}
		from = next
	}
	return os.Rename(from, to)
}

// A stage is a directory beside the plugins, in which one is built. It holds a lock of
// rlrun, which tells it from directories of others, and what is built.
const (
	stagePrefix = ".install-"
	stageLock   = ".rlrun.lock"
	stageBuilt  = "built"
)

// newStage makes a stage and returns its directory for what is built. done removes it. A
// stage that is kept also keeps its lock's file: it is removed when no plugin leads to it.
func newStage(directory string) (built string, done func(), err error) {
	stage, err := os.MkdirTemp(directory, stagePrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := lockfile.Take(filepath.Join(stage, stageLock))
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(stage))
	}
	built = filepath.Join(stage, stageBuilt)
	done = func() {
		_ = os.RemoveAll(built) // at worst, the next installation does
		_ = lock.Release()
		_ = os.Remove(stage)
	}
	if err := os.Mkdir(built, 0o777); err != nil {
		done()
		return "", nil, err
	}
	return built, done, nil
}

// sweep removes stages that no process uses and no plugin leads to: a kill has left them,
// or their plugins were replaced or removed.
func sweep(directory string) {
	entries, _ := os.ReadDir(directory)
	for _, e := range entries {
		stage := filepath.Join(directory, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), stagePrefix) {
			continue
		}
		lock := filepath.Join(stage, stageLock)
		held, err := lockfile.Left(lock)
		if err != nil {
			continue
		}
		if !leads(directory, stage) {
			if os.RemoveAll(filepath.Join(stage, stageBuilt)) == nil {
				_ = os.Remove(lock)
				_ = os.Remove(stage) // unless somebody put something there
			}
		}
		held.Close()
	}
}

// leads tells whether a plugin in directory is a link into a stage, or may be one.
func leads(directory, stage string) bool {
	entries, err := os.ReadDir(directory)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		to, linkErr := os.Readlink(filepath.Join(directory, e.Name()))
		err = errors.Join(err, linkErr)
		if strings.HasPrefix(to, stage+string(filepath.Separator)) {
			return true
		}
	}
	return err != nil
}

// stopDelay is how long tools that an interrupt stopped may keep their output open.
const stopDelay = 500 * time.Millisecond

// runner runs the tools that build plugins.
type runner struct {
	ctx  context.Context
	said io.Writer
}

// build makes executables in stage. python says that they are in a virtual
// environment, which stage has become.
func (r runner) build(source, stage, interpreter string) (programs []string, python bool, err error) {
	info, statErr := os.Stat(source)
	switch {
	case statErr == nil && info.IsDir():
		dir, err := filepath.Abs(source)
		if err != nil {
			return nil, false, err
		}
		if isFile(filepath.Join(dir, "go.mod")) {
			programs, err = r.goInstall(dir, stage, ".")
			return programs, false, err
		}
		if isFile(filepath.Join(dir, "pyproject.toml")) {
			programs, err = r.pipInstall(interpreter, stage, dir)
			return programs, true, err
		}
		return nil, false, cli.Usagef("the directory %s has no go.mod and no pyproject.toml", source)
	case statErr == nil:
		if _, err := exec.LookPath("./" + filepath.ToSlash(source)); err != nil && !filepath.IsAbs(source) {
			return nil, false, notExecutable(source)
		} else if _, err := exec.LookPath(source); err != nil && filepath.IsAbs(source) {
			return nil, false, notExecutable(source)
		}
		to := filepath.Join(stage, filepath.Base(source))
		return []string{to}, false, copyFile(source, to)
	case goPackage.MatchString(source):
		programs, err = r.goInstall(stage, stage, source)
		return programs, false, err
	case strings.ContainsAny(source, `/\`) && !strings.Contains(source, "@"):
		hint := ""
		if goPackage.MatchString(source + "@latest") {
			hint = fmt.Sprintf("; a Go module needs a version, such as %s@latest", source)
		}
		return nil, false, cli.Usagef("there is no file %s%s", source, hint)
	case pypiPackage.MatchString(source):
		programs, err = r.pipInstall(interpreter, stage, source)
		return programs, true, err
	}
	return nil, false, cli.Usagef("%s is not a Go module with a version (github.com/ada/grid@v1.2.0), a PyPI package (rlrun-plugin-grid, rlrun-plugin-grid==1.2.0) or a path", source)
}

func notExecutable(source string) error {
	return cli.Usagef("%s is not executable: chmod +x it; a script also needs a first line such as #!/usr/bin/env python3", source)
}

// goInstall builds a package of type main into bin.
func (r runner) goInstall(dir, bin, pkg string) ([]string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("a Go module needs Go to be built: install it from https://go.dev/dl, or ask the author for an executable")
	}
	if err := r.run(dir, []string{"GOBIN=" + bin}, "go", "install", pkg); err != nil {
		return nil, err
	}
	programs, err := filepath.Glob(filepath.Join(bin, "*"))
	if err == nil && len(programs) == 0 {
		err = cli.Usagef("%s has no program: name the package whose main serves the plugin", pkg)
	}
	return programs, err
}

// pipInstall makes a virtual environment with a package in it.
func (r runner) pipInstall(interpreter, venv, pkg string) ([]string, error) {
	if _, err := exec.LookPath(interpreter); err != nil {
		return nil, fmt.Errorf("a Python package needs Python, and there is no %s: install Python 3.10 or newer, or name an interpreter in RLRUN_PYTHON", interpreter)
	}
	if err := r.run(venv, nil, interpreter, "-m", "venv", venv); err != nil {
		return nil, err
	}
	bin := filepath.Join(venv, "bin")
	if runtime.GOOS == "windows" {
		bin = filepath.Join(venv, "Scripts")
	}
	if err := r.run(venv, nil, filepath.Join(bin, "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", pkg); err != nil {
		return nil, whereRlrunIs(err)
	}
	programs, err := filepath.Glob(filepath.Join(bin, plugin.Prefix+"*"))
	if err == nil && len(programs) == 0 {
		err = fmt.Errorf("the package %s has no command %sNAME: its author adds one to [project.scripts] in pyproject.toml", pkg, plugin.Prefix)
	}
	return programs, err
}

// whereRlrunIs adds to an error of pip what helps if it did not find the Python package
// rlrun, on which plugins depend.
func whereRlrunIs(err error) error {
	if lacksRlrun.MatchString(err.Error()) {
		return fmt.Errorf("%w\nThe package index has no package rlrun. If you have its wheel, set PIP_FIND_LINKS to the directory of the wheel and try again", err)
	}
	return err
}

var lacksRlrun = regexp.MustCompile(`the requirement rlrun[ <>=!~\[]`)

// run runs a command in a directory, with further variables.
func (r runner) run(dir string, environ []string, words ...string) error {
	line := strings.Join(words, " ")
	fmt.Fprintln(r.said, line)
	cmd := exec.CommandContext(r.ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cli.StopTogether(cmd)
	cmd.WaitDelay = stopDelay
	err := cmd.Run()
	if cause := context.Cause(r.ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w:\n\t%s", line, err, strings.ReplaceAll(strings.TrimSpace(output.String()), "\n", "\n\t"))
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o777)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
