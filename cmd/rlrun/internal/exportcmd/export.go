// Package exportcmd is the command rlrun export.
package exportcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/kinds"
)

// New returns the command rlrun export.
func New(*host.App) *cobra.Command {
	var formats []string
	var out string
	var asJSON bool
	var names []string
	long := `Write the results in an output directory for other programs.

Formats:
`
	for _, f := range kinds.Export {
		names = append(names, f.Name)
		long += fmt.Sprintf("  %-12s %s\n", f.Name, f.Doc)
	}
	long += `
Tables are in long format. They have one row for each run (runs), run and metric
(outcomes), run, metric and recorded step (curves), and decision of the host
(decisions). The table of runs has the programs of each: rlrun, the environment's and
the agent's, or one where they are the same. Files are written to DIR/export/FORMAT, or with --out to OUT/FORMAT. They
replace the files of an earlier export.

--json:
  exports              format, dir, files
  mixed                the programs that differ between runs (--mixed); absent if none do`
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write results for pandas, TensorBoard, LaTeX and others",
		Long:  long,
		Example: `  rlrun export results/quickstart --format parquet
  rlrun export results/quickstart --format tensorboard --out /tmp/boards
  tensorboard --logdir /tmp/boards/tensorboard`,
		Args: cli.Arguments(1, "an output directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(formats) == 0 {
				return cli.Usagef("%s needs --format: %s", cmd.CommandPath(), strings.Join(names, ", "))
			}
			for i, f := range formats {
				switch {
				case slices.Contains(formats[:i], f):
					return cli.Usagef("--format has %s twice: remove one", f)
				case !slices.Contains(names, f):
					return cli.Usagef("--format must be one of %s, not %q%s", strings.Join(names, ", "), f, cli.Suggest(f, names, ""))
				}
			}
			return run(cmd, args[0], formats, cmp.Or(out, filepath.Join(args[0], output.ExportDir)), asJSON)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&formats, "format", nil, "`FORMAT`, or several with commas: "+strings.Join(names, ", "))
	fs.StringVar(&out, "out", "", "write to `DIR`/FORMAT (default DIR/export of the experiment)")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	cli.Must(cmd.MarkFlagDirname("out"))
	return cmd
}

// exported is the answer for one format.
type exported struct {
	Format string   `json:"format"`
	Dir    string   `json:"dir"`
	Files  []string `json:"files"`
}

func run(cmd *cobra.Command, dir string, formats []string, out string, asJSON bool) error {
	r, err := host.ReadResults(dir, true)
	if err != nil {
		return err
	}
	if absolute, err := filepath.Abs(dir); err != nil {
		return err
	} else if to, err := filepath.Abs(out); err != nil {
		return err
	} else if in, err := filepath.Rel(absolute, to); err == nil && filepath.IsLocal(in) {
		if err := r.Dir.CheckLinks(); err != nil {
			return err
		}
	}
	answer := []exported{}
	for _, o := range kinds.Export {
		if !slices.Contains(formats, o.Name) {
			continue
		}
		directory := filepath.Join(out, o.Name)
		if err := os.MkdirAll(directory, 0o777); err != nil {
			return err
		}
		files, err := o.Write(r, directory)
		if err != nil {
			return err
		}
		answer = append(answer, exported{o.Name, directory, append([]string{}, files...)})
	}
	w := cmd.OutOrStdout()
	if asJSON {
		answer := map[string]any{"exports": answer}
		if r.Summary.Mixed != "" {
			answer["mixed"] = r.Summary.Mixed
		}
		return cli.WriteJSON(w, answer)
	}
	if note := r.Summary.MixedNote(); note != "" {
		if _, err := fmt.Fprintln(w, note+"."); err != nil {
			return err
		}
	}
	for _, e := range answer {
		if _, err := fmt.Fprintf(w, "%s: %d %s in %s\n", e.Format, len(e.Files), cli.Plural(len(e.Files), "file", "files"), e.Dir); err != nil {
			return err
		}
	}
	return nil
}
