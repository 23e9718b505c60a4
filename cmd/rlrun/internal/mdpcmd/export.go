package mdpcmd

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const exportHelp = `Write the model of an environment as JSON, in the format that rlrun mdp --model and
the environment "model" read (plugin: model, params: {file: FILE}). A limit on
the steps of an episode is its key episode_steps. Of an environment that draws its task
in every run, such as bernoulli-bandit, it is the model of one draw, always the same.`

func newExport(app *host.App) *cobra.Command {
	var f mdpFlags
	var out string
	cmd := &cobra.Command{
		Use:   "export --env NAME",
		Short: "Write the model of an environment to a file",
		Long:  exportHelp,
		Example: `  rlrun mdp export --env riverswim --param states=8 --out river8.json
  rlrun mdp export --env family --param kind=lock | rlrun mdp solve --model -`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.env == "" {
				return cli.Usagef("%s needs --env (see %[1]s --help)", cmd.CommandPath())
			}
			f.policy = "uniform"
			p := process{stderr: cmd.ErrOrStderr()}
			if err := p.open(app, cmd, &f); err != nil {
				return err
			}
			p.notice(cmd.ErrOrStderr())
			write := func(w io.Writer) error { return json.NewEncoder(w).Encode(p.model) }
			if out == "" {
				return write(cmd.OutOrStdout())
			}
			if err := cli.WriteFile(out, write); err != nil {
				return cli.Usage(err)
			}
			return nil
		},
	}
	f.addSource(app, cmd)
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE`, not to the standard output")
	return cmd
}
