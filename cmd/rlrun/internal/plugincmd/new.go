package plugincmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/rlrun/rlrun/cmd/rlrun/scaffold"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// created is the answer of rlrun plugin new as JSON.
type created struct {
	Dir    string   `json:"dir"`
	Files  []string `json:"files"`
	Plugin string   `json:"plugin"`
	Next   []string `json:"next"`
}

func newNew(app *host.App) *cobra.Command {
	var asJSON bool
	var kind, language, namespace, replace string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write the project of a new environment, agent, rule or source of options",
		Long: `Write a project into the new directory NAME: an environment, an agent, an exploration rule or
a source of options that builds, has tests, and keeps every rule. Change it into your own. NAME consists of lower-case
letters, digits and hyphens.

Projects require the version of this rlrun. With --replace DIR they use a checkout of
rlrun. This is the default if this rlrun was built from a checkout that still exists.

--json: dir, files, plugin (its name in a config in that directory), next (the
commands to try there).`,
		Example: "  rlrun plugin new corridor --kind environment --lang go\n  rlrun plugin new learner --kind agent --lang python",
		Args:    cli.Arguments(1, "a name for the plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := scaffold.Project{Name: args[0], Namespace: namespace, Kind: vector.Kind(kind), Language: scaffold.Language(language)}
			if err := p.Validate(); err != nil {
				return cli.Usage(err)
			}
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			if _, taken := c.Bundled[p.Name]; taken {
				return cli.Usagef("rlrun has a plugin %s of its own, which would hide yours: choose another name", p.Name)
			}
			if err := scaffold.Free(p.Name); err != nil {
				return cli.Usage(err)
			}
			p.Version, p.Replace, err = source(replace)
			// A project in Python takes the package that pip finds or that is there.
			if err != nil && (p.Language == scaffold.Go || replace != "") {
				return cli.Usage(err)
			}
			out, err := create(cmd.Context(), p)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), out)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: an %s in %s. Next:\n\n  cd %s\n  %s\n",
				p.Name, p.What(), map[scaffold.Language]string{scaffold.Go: "Go", scaffold.Python: "Python"}[p.Language],
				out.Dir, strings.Join(out.Next, "\n  "))
			return err
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&kind, "kind", string(vector.KindEnvironment), "`KIND` of plugin: environment, agent, rule or options")
	fs.StringVar(&language, "lang", string(scaffold.Go), "programming language `LANG`: go or python")
	fs.StringVar(&namespace, "namespace", "me", "first part of the plugin's id, `NS`/NAME@VERSION")
	fs.StringVar(&replace, "replace", "", "use the checkout of rlrun in `DIR`")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Must(cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{"environment", "agent", "rule", "options"}, cobra.ShellCompDirectiveNoFileComp)))
	cli.Must(cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions([]string{"go", "python"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// create writes the project and makes it whole.
func create(ctx context.Context, p scaffold.Project) (created, error) {
	files, err := p.Write(p.Name)
	if err != nil {
		return created{}, err
	}
	out := created{Dir: p.Name, Files: files, Plugin: p.Command()}
	check := "rlrun plugin check " + p.Command()
	if p.Language == scaffold.Python {
		out.Next = []string{"pip install -e '.[dev]'", "pytest", check, "rlrun run experiment.yaml"}
		return out, nil
	}
	switch err := tidy(ctx, p.Name); {
	case errors.Is(err, exec.ErrNotFound):
		return out, fmt.Errorf("%s is written, but it needs Go %s or newer, which is not in your path: get it from https://go.dev/dl/, then run go mod tidy in %[1]s", p.Name, p.Go())
	case err != nil:
		return out, fmt.Errorf("%s is written, but its dependencies could not be found; run go mod tidy in it: %w", p.Name, err)
	}
	out.Files = append(out.Files, "go.sum")
	out.Next = []string{"go test ./...", "go build", check, "rlrun run experiment.yaml"}
	return out, nil
}

// tidy runs go mod tidy in a directory.
func tidy(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Errorf("go mod tidy: %s", strings.TrimSpace(lines[len(lines)-1]))
	}
	return err
}

// source says which rlrun a project is to build against: a version and, if that is
// no release, a checkout. replace is what the user asked for.
func source(replace string) (version, checkout string, err error) {
	if replace != "" {
		dir, err := filepath.Abs(replace)
		if err != nil {
			return "", "", err
		}
		if !isSource(dir) {
			return "", "", fmt.Errorf("--replace %s: this is not a checkout of rlrun", replace)
		}
		return "v0.0.0", dir, nil
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Sum != "" { // of go install
		return info.Main.Version, "", nil
	}
	_, file, _, _ := runtime.Caller(0)
	if dir := filepath.Join(file, "../../../../.."); filepath.IsAbs(dir) && isSource(dir) {
		return "v0.0.0", dir, nil
	}
	if ok && published(info.Main.Version) { // of a wheel or an archive
		return info.Main.Version, "", nil
	}
	return "", "", errors.New("this rlrun is not a release, and the checkout that it was built from is not here: name a checkout with --replace DIR. A project in Go also needs Go (https://go.dev/dl/); with --lang python a project needs neither")
}

// published reports whether a version names a commit, as tags and pseudo-versions do.
func published(version string) bool {
	return semver.IsValid(version) && !strings.HasSuffix(version, "+dirty")
}

// isSource reports whether dir is the top of a checkout of rlrun.
func isSource(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(data, []byte("module github.com/rlrun/rlrun\n"))
}
