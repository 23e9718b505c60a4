package tunecmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// program is what Python runs. Without -m no module of the working directory takes the place
// of another. Its status is 3 where it lacks the package.
const program = `import sys
sys.path[:] = filter(None, sys.path)
try:
    from rlrun._commands import main
except ImportError as e:
    print(f"rlrun: {e}", file=sys.stderr)
    sys.exit(3)
main()`

// answer is what the program prints.
type answer struct {
	Text        string
	JSON        json.RawMessage
	Usage       string // what is wrong with the request
	Failed      string // why the command ended early
	Interrupted bool
}

// ask lets the command of this name in Python (python/src/rlrun/_commands.py) do the work, and
// prints its answer.
func ask(cmd *cobra.Command, name string, arguments map[string]any, asJSON bool) error {
	python, err := exec.LookPath(cmp.Or(os.Getenv("RLRUN_PYTHON"), "python3"))
	if err != nil {
		return fmt.Errorf("rlrun %s needs Python 3.10 or newer: install it, or name an interpreter in RLRUN_PYTHON", name)
	}
	request, err := json.Marshal(map[string]any{"command": name, "arguments": arguments})
	if err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(cmd.Context(), python, "-c", program)
	cli.StopTogether(child)
	child.Stdin, child.Stderr = bytes.NewReader(request), cmd.ErrOrStderr()
	child.Env = append(slices.DeleteFunc(os.Environ(), config.Overrides), "RLRUN="+own) // the config has them already
	child.Env = append(child.Env, host.WithoutHere(name == "sensitivity")...)           // plugins of tune may be there
	out, err := child.Output()
	var a answer
	if json.Unmarshal(out, &a) != nil {
		cure := ""
		if child.ProcessState.ExitCode() == 3 {
			cure = "\nit needs the package rlrun there: pip install 'rlrun[tune]'"
		}
		return fmt.Errorf("rlrun %s ended early in %s: %w%s", name, python, cmp.Or(err, errors.New("no answer")), cure)
	}
	switch {
	case a.Interrupted:
		return fmt.Errorf("%w: the same command goes on", cli.ErrInterrupted)
	case a.Usage != "":
		return cli.Usagef("%s", a.Usage)
	case a.Failed != "":
		return errors.New(a.Failed)
	case asJSON:
		return cli.WriteJSON(cmd.OutOrStdout(), a.JSON)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), a.Text)
	return err
}
