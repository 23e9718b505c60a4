package submitcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/plan"
)

// parallel has GNU parallel do the shards, here or over ssh. It ends with the report.
type parallel struct{}

func (parallel) check(_ context.Context, s *submission) error {
	if s.Hosts == "" {
		return nil
	}
	path, err := filepath.Abs(s.Hosts)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cli.Usagef("--hosts: there is no file %s", s.Hosts)
	case !info.Mode().IsRegular():
		return cli.Usagef("--hosts: %s is no regular file", s.Hosts)
	}
	s.Hosts = path
	return nil
}

func (parallel) files(s *submission) []file {
	jobs := fmt.Sprintf("%d%%", max(1, 100/s.Cpus)) // of the cores
	if s.AtOnce > 0 {
		jobs = strconv.Itoa(s.AtOnce)
	}
	options := fmt.Sprintf("--null --retries 3 --termseq TERM,60000,KILL --jobs %s --joblog %s", jobs, quote(s.path("parallel.log")))
	if s.Hosts != "" {
		options += " --sshloginfile " + quote(s.Hosts)
	}
	if s.Time > 0 {
		options += fmt.Sprintf(" --timeout %d", int(s.Time.Seconds()))
	}
	var numbers []string
	for part := range strings.SplitSeq(plan.Ranges(s.shards), ",") {
		first, last, _ := strings.Cut(part, "-")
		numbers = append(numbers, "$(seq "+first+" "+cmp.Or(last, first)+")")
	}
	// Commands are parallel's input: in its arguments it would replace {} and the like.
	shards := "for shard in " + strings.Join(numbers, " ") + "; do\n" +
		"  printf 'cd %q && exec' " + quote(s.WorkDir) + "\n" +
		"  printf ' %q' " + s.run(fmt.Sprintf(`"$shard/%d"`, s.Tasks), strconv.Itoa(s.Cpus)) + "\n" +
		"  printf '\\0'\n" +
		"done | parallel " + options + "\n" +
		"status=$?\n"
	if s.Staged {
		shards = "while :; do\n" + shards +
			s.decide() + "\n" +
			fmt.Sprintf("decided=$?\n[ $decided = %d ] || break\ndone\n", cli.StatusOpen) +
			"[ $decided = 0 ] || status=$decided\n"
	}
	script := "#!/bin/bash\n" +
		"# A shard that fails is tried three times; the report is made in any case.\n" +
		shards +
		s.report() + " || exit\n" +
		"exit $status\n"
	return []file{{"parallel.sh", script}}
}

// queue knows no earlier jobs: submit waits for them.
func (parallel) queue(context.Context, *submission) ([]int, []string, error) { return nil, nil, nil }

func (parallel) submit(ctx context.Context, s *submission, out, stderr io.Writer) (jobs, watch []string, err error) {
	if _, err := exec.LookPath("parallel"); err != nil {
		return nil, nil, cli.Usagef("GNU parallel is not on this machine: install it (apt-get install parallel)")
	}
	cmd := exec.CommandContext(ctx, "bash", s.path("parallel.sh"))
	cmd.Stdout, cmd.Stderr = out, stderr
	cli.StopTogether(cmd)
	err = cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return []string{"parallel"}, nil, fmt.Errorf("%w: go on with rlrun submit --missing %s", cause, quote(s.Dir))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, nil, err
	}
	left := ""
	if list, err := lacking(s.Dir, s.Tasks); err == nil && len(list) > 0 {
		left = fmt.Sprintf(": %s of %d lack or failed runs", plan.Ranges(list), s.Tasks)
	}
	return []string{"parallel"}, nil, fmt.Errorf("not all shards were done (%s)%s; go on with rlrun submit --missing %s", s.path("parallel.log"), left, quote(s.Dir))
}
