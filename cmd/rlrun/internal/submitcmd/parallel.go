package submitcmd

import (
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
)

// parallel has GNU parallel do the shards, here or over ssh. It ends with the report.
type parallel struct{}

func (parallel) check(s *submission) error {
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
	options := fmt.Sprintf("--quote --retries 3 --jobs %d%% --joblog %s", max(1, 100/s.Cpus), quote(s.path("parallel.log")))
	if s.Hosts != "" {
		options += " --sshloginfile " + quote(s.Hosts) + " --workdir " + quote(s.WorkDir)
	}
	if s.Time > 0 {
		options += fmt.Sprintf(" --timeout %d", int(s.Time.Seconds()))
	}
	var numbers []string
	for _, part := range strings.Split(s.shards, ",") {
		first, last, _ := strings.Cut(part, "-")
		numbers = append(numbers, "seq "+first+" "+orSame(last, first))
	}
	shards := "{ " + strings.Join(numbers, "; ") + "; } | parallel " + options + " \\\n  " +
		s.run(fmt.Sprintf("{}/%d", s.Tasks), strconv.Itoa(s.Cpus)) + "\n" +
		"status=$?\n"
	if s.Staged {
		shards = "while :; do\n" + shards +
			s.decide() + "\n" +
			fmt.Sprintf("decided=$?\n[ $decided = %d ] || break\ndone\n", cli.StatusOpen) +
			"[ $decided = 0 ] || status=$decided\n"
	}
	script := "#!/bin/bash\n" +
		"# A shard that fails is tried three times; the report is made in any case.\n" +
		"cd " + quote(s.WorkDir) + " || exit 1\n" +
		shards +
		s.report() + " && exit $status\n"
	return []file{{"parallel.sh", script}}
}

func orSame(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (parallel) submit(ctx context.Context, s *submission, out, stderr io.Writer) (jobs, watch []string, err error) {
	if _, err := exec.LookPath("parallel"); err != nil {
		return nil, nil, cli.Usagef("GNU parallel is not on this machine: install it (apt-get install parallel)")
	}
	cmd := exec.CommandContext(ctx, "bash", s.path("parallel.sh"))
	cmd.Stdout, cmd.Stderr = out, stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return []string{"parallel"}, nil, fmt.Errorf("%d shards were not done (%s); go on with rlrun submit --missing %s", exit.ExitCode(), s.path("parallel.log"), quote(s.Dir))
		}
		return nil, nil, err
	}
	return nil, nil, nil
}
