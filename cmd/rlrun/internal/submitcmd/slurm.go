package submitcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// slurm submits a job array, and a job for the report that depends on it.
type slurm struct{}

var slurmKey = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// ownKeys are options of sbatch that rlrun sets.
var ownKeys = []string{"array", "output", "signal", "requeue", "no-requeue", "open-mode", "cpus-per-task", "time", "dependency", "parsable", "wrap", "chdir"}

func (slurm) check(s *submission) error {
	if strings.ContainsAny(s.Dir, "\\\n\r") {
		return cli.Usagef("Slurm cannot write logs to %q, since the name has a backslash or a line break: choose another output directory with --out", s.Dir)
	}
	for _, option := range s.Slurm {
		key, value, _ := strings.Cut(option, "=")
		switch {
		case !slurmKey.MatchString(key) || strings.ContainsAny(value, "\n\r"):
			return cli.Usagef("--slurm takes an option of sbatch as KEY=VALUE, such as partition=cpu, not %q", option)
		case slices.Contains(ownKeys, key):
			return cli.Usagef("--slurm %s: rlrun sets --%s itself (see --tasks, --cpus, --time)", key, key)
		}
	}
	return nil
}

// directive is a line of #SBATCH. Slurm reads quotes as a shell does, but a backslash also
// escapes within quotes.
func directive(key, value string) string {
	if value == "" {
		return "#SBATCH --" + key + "\n"
	}
	return "#SBATCH --" + key + "=" + quote(strings.ReplaceAll(value, `\`, `\\`)) + "\n"
}

func (slurm) files(s *submission) []file {
	var options strings.Builder
	for _, option := range s.Slurm {
		key, value, _ := strings.Cut(option, "=")
		options.WriteString(directive(key, value))
	}
	head := func(name, log string) string {
		// In names of logs Slurm reads %; check refuses what cannot be written there.
		path := strings.ReplaceAll(s.path(""), "%", "%%")
		return "#!/bin/bash\n" + directive("job-name", name) + directive("output", path+"/"+log) + directive("open-mode", "append") + options.String()
	}
	limit := ""
	if s.Time > 0 {
		limit = directive("time", slurmTime(s.Time))
	}
	shards := head("rlrun-"+s.Name, "shard-%a.log") +
		directive("array", s.shards) +
		directive("cpus-per-task", fmt.Sprint(s.Cpus)) +
		limit +
		"#SBATCH --requeue\n" +
		fmt.Sprintf("#SBATCH --signal=B:TERM@%d\n", int(s.limit().Seconds())) +
		"# exec: the signal reaches rlrun itself. The number of shards is written out, as\n" +
		"# SLURM_ARRAY_TASK_COUNT is that of one submission.\n" +
		"cd " + quote(s.WorkDir) + " || exit 1\n" +
		"exec " + s.run(fmt.Sprintf(`"$SLURM_ARRAY_TASK_ID/%d"`, s.Tasks), `"$SLURM_CPUS_PER_TASK"`) + "\n"
	merge := head("rlrun-"+s.Name+"-report", "report.log")
	if s.Staged {
		merge += "cd " + quote(s.WorkDir) + " || exit 1\n" +
			s.decide() + "\n" +
			"status=$?\n" +
			fmt.Sprintf("if [ $status = %d ]; then exec %s; fi\n", cli.StatusOpen, quote(s.Rlrun, "submit", "--missing", s.Dir, "--trust")) +
			s.report() + " && exit $status\n"
	} else {
		merge += "exec " + s.report() + "\n"
	}
	return []file{{"shards.sh", shards}, {"report.sh", merge}}
}

// slurmTime writes hours:minutes:seconds.
func slurmTime(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

func (slurm) submit(ctx context.Context, s *submission, _, stderr io.Writer) (jobs, watch []string, err error) {
	ctx, cancel := late(ctx)
	defer cancel(nil)
	array, err := sbatch(ctx, stderr, s.path("shards.sh"))
	if err != nil && strings.Contains(err.Error(), "job array") {
		return nil, nil, fmt.Errorf("%w; the largest array is MaxArraySize of scontrol show config: take fewer --tasks, and more --cpus", err)
	}
	if err != nil {
		return nil, nil, err
	}
	jobs = append(jobs, array)
	// afterany: after one task that failed, afterok would never be satisfied.
	report, err := sbatch(ctx, stderr, "--dependency=afterany:"+strings.Join(append([]string{array}, s.queued...), ":"), s.path("report.sh"))
	if err != nil {
		return jobs, nil, fmt.Errorf("the array is job %s, but its report was not submitted: %w", array, err)
	}
	return append(jobs, report), []string{"squeue -j " + array + "," + report, "tail -f " + quote(s.path("")) + "/shard-*.log"}, nil
}

// queue asks Slurm for the tasks of earlier arrays that wait or run.
func (slurm) queue(ctx context.Context, s *submission) (shards []int, jobs []string, err error) {
	if len(s.Jobs) == 0 {
		return nil, nil, nil
	}
	said, err := exec.CommandContext(ctx, "squeue", "--noheader", "--array", "--user="+strconv.Itoa(os.Getuid()), "--format=%F %K %T").Output()
	if err != nil {
		return nil, nil, nil // sbatch tells what is wrong
	}
	for line := range strings.Lines(string(said)) {
		var job, task, state string
		_, _ = fmt.Sscan(line, &job, &task, &state) // a line without these is none of ours
		shard, err := strconv.Atoi(task)            // N/A: no array
		if err != nil || state == "COMPLETING" || !slices.Contains(s.Jobs, job) {
			continue
		}
		shards = append(shards, shard)
		if !slices.Contains(jobs, job) {
			jobs = append(jobs, job)
		}
	}
	slices.Sort(shards)
	return shards, jobs, nil
}

// late returns a context that ends a second after ctx: an array that is being submitted is
// to be known, with its report, unless Slurm does not answer.
func late(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, func() { cancel(context.Cause(ctx)) }) })
	return later, cancel
}

// jobNumber is what sbatch --parsable prints: ID, or ID;CLUSTER.
var jobNumber = regexp.MustCompile(`(?m)^([0-9]+)(;.*)?\s*\z`)

// sbatch submits a script and returns the job's number.
func sbatch(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	said, err := call(ctx, stderr, "sbatch", "call rlrun submit on a login node of the cluster", "sbatch", append([]string{"--parsable"}, args...)...)
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("%w while sbatch was at work; see with squeue whether Slurm has the job", context.Cause(ctx))
	}
	if err != nil {
		return "", err
	}
	id := jobNumber.FindStringSubmatch(said)
	if id == nil {
		return "", fmt.Errorf("sbatch answered %.100q, which is no number of a job; see with squeue whether Slurm has the job", said)
	}
	return id[1], nil
}
