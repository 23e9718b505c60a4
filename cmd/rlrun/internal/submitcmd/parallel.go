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
	var numbers []string
	for part := range strings.SplitSeq(plan.Ranges(s.shards), ",") {
		first, last, _ := strings.Cut(part, "-")
		numbers = append(numbers, "$(seq "+first+" "+cmp.Or(last, first)+")")
	}
	data := map[string]any{
		"Shards": strings.Join(numbers, " "), "WorkDir": quote(s.WorkDir), "Run": s.run(fmt.Sprintf(`"$shard/%d"`, s.Tasks), strconv.Itoa(s.Cpus)),
		"Jobs": jobs, "JobLog": quote(s.path("parallel.log")), "Seconds": max(0, int(s.Time.Seconds())),
		"Staged": s.Staged, "Decide": s.decide(), "Open": cli.StatusOpen, "Report": s.report(),
	}
	if s.Hosts != "" {
		data["Hosts"] = quote(s.Hosts)
	}
	return []file{render("parallel", "parallel.sh", data)}
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
		return []string{"parallel"}, nil, fmt.Errorf("%w: go on with the same command and --missing", cause)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, nil, err
	}
	left := ""
	if list, err := lacking(s.Dir, s.Tasks); err == nil && len(list) > 0 {
		left = fmt.Sprintf(": %s of %d lack or failed runs", plan.Ranges(list), s.Tasks)
	}
	return []string{"parallel"}, nil, fmt.Errorf("not all shards were done (%s)%s; go on with the same command and --missing", s.path("parallel.log"), left)
}
