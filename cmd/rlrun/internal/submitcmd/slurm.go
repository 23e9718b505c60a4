package submitcmd

import (
	"context"
	"errors"
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
	"github.com/rlrun/rlrun/framework/plan"
)

// slurm submits job arrays, and a job for the report that depends on them.
type slurm struct{}

var slurmKey = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// ownKeys are options of sbatch that rlrun sets.
var ownKeys = []string{"array", "output", "signal", "requeue", "no-requeue", "open-mode", "cpus-per-task", "time", "dependency", "parsable", "wrap", "chdir"}

func (slurm) check(ctx context.Context, s *submission) error {
	if strings.ContainsAny(s.Dir, "\\\n\r") {
		return cli.Usagef("Slurm cannot write logs to %q, since the name has a backslash or a line break: choose another output directory with --out", s.Dir)
	}
	for _, option := range s.Slurm {
		key, value, _ := strings.Cut(option, "=")
		switch {
		case !slurmKey.MatchString(key) || strings.ContainsAny(value, "\n\r"):
			return cli.Usagef("--slurm takes an option of sbatch as KEY=VALUE, such as partition=cpu, not %q", option)
		case slices.Contains(ownKeys, key):
			return cli.Usagef("--slurm %s: rlrun sets --%s itself (see --tasks, --at-once, --cpus, --time)", key, key)
		}
	}
	s.largest = largestArray(ctx)
	if last := s.shards[len(s.shards)-1]; last >= s.largest && s.largest < 10 {
		if s.largest < 1 {
			return cli.Usagef("this Slurm takes no job arrays (MaxArraySize = %d): choose --to parallel", s.largest)
		}
		return cli.Usagef("arrays of this Slurm have at most %d tasks (MaxArraySize), and more tasks become arrays of ten, a hundred and so on, as the names of their logs end in digits of the shard: take --tasks %[1]d, and more --cpus", s.largest)
	}
	return nil
}

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([0-9]+)\s*$`)

// largestArray is MaxArraySize of the cluster, or Slurm's default if the cluster does not say.
// Indices of tasks are smaller.
func largestArray(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	said, _ := exec.CommandContext(ctx, "scontrol", "show", "config").Output()
	if found := maxArraySize.FindSubmatch(said); found != nil {
		if n, err := strconv.Atoi(string(found[1])); err == nil {
			return n
		}
	}
	return 1001
}

// array is a job array of some of the shards.
type array struct {
	first   int   // the shard that index 0 stands for
	indices []int // of its tasks, increasing
	log     string
}

func (a *array) script() string {
	if a.first == 0 {
		return "shards.sh"
	}
	return fmt.Sprintf("shards-%d.sh", a.first)
}

// arrays divides the shards into job arrays. If one array cannot have all, an array has a power
// of ten, so that the name of a log can end in an index and yet have the number of the shard.
func (s *submission) arrays() (list []array) {
	size, digits := s.largest, 0
	if s.shards[len(s.shards)-1] >= s.largest {
		for size = 1; size*10 <= s.largest; size *= 10 {
			digits++
		}
	}
	for _, shard := range s.shards {
		first := shard - shard%size
		if n := len(list); n == 0 || list[n-1].first != first {
			a := array{first: first, log: "shard-%a.log"}
			if first > 0 {
				a.log = fmt.Sprintf("shard-%d%%%da.log", first/size, digits)
			}
			list = append(list, a)
		}
		a := &list[len(list)-1]
		a.indices = append(a.indices, shard-first)
	}
	return list
}

// directive is a line of #SBATCH. Slurm reads quotes as a shell does, but a backslash also
// escapes within quotes.
func directive(key, value string) string {
	if value == "" {
		return "#SBATCH --" + key
	}
	return "#SBATCH --" + key + "=" + quote(strings.ReplaceAll(value, `\`, `\\`))
}

func (slurm) files(s *submission) (files []file) {
	var options []string
	for _, option := range s.Slurm {
		key, value, _ := strings.Cut(option, "=")
		options = append(options, directive(key, value))
	}
	// In names of logs Slurm reads %; check refuses what cannot be written there.
	logs := strings.ReplaceAll(s.path(""), "%", "%%") + "/"
	data := map[string]any{
		"Name": "rlrun-" + s.Name, "Options": options, "Cpus": fmt.Sprint(s.Cpus), "Time": slurmTime(s.Time), "Signal": int(s.limit().Seconds()),
		"WorkDir": quote(s.WorkDir), "Staged": s.Staged, "Decide": s.decide(), "Open": cli.StatusOpen, "Report": s.report(),
		"Again": s.nextStage(),
	}
	for _, a := range s.arrays() {
		shard, indices := "$SLURM_ARRAY_TASK_ID", plan.Ranges(a.indices)
		if a.first > 0 {
			shard = fmt.Sprintf("$((SLURM_ARRAY_TASK_ID + %d))", a.first)
		}
		if s.AtOnce > 0 {
			indices += fmt.Sprintf("%%%d", s.AtOnce)
		}
		data["Log"], data["Indices"] = logs+a.log, indices
		data["Run"] = s.run(fmt.Sprintf(`"%s/%d"`, shard, s.Tasks), `"$SLURM_CPUS_PER_TASK"`)
		files = append(files, file{a.script(), render("slurm", "shards.sh", data).text})
	}
	data["Name"], data["Log"] = "rlrun-"+s.Name+"-report", logs+"report.log"
	return append(files, render("slurm", "report.sh", data))
}

// nextStage is the command line that submits the shards of the next stage.
func (s *submission) nextStage() string {
	flags := []string{"--missing", "--to", "slurm", "--rlrun", s.Rlrun, "--cpus", strconv.Itoa(s.Cpus)}
	if s.Time != 0 {
		flags = append(flags, "--time", (*timeLimit)(&s.Time).String())
	}
	if s.AtOnce > 0 {
		flags = append(flags, "--at-once", strconv.Itoa(s.AtOnce))
	}
	for _, option := range s.Slurm {
		flags = append(flags, "--slurm", option)
	}
	return s.command("submit", flags...)
}

// timeLimit is a flag's value: a time as Go or as Slurm writes it. It may be unlimited.
type timeLimit time.Duration

// unlimited asks for no time limit, and 0 for the scheduler's.
const unlimited = -time.Second

var slurmTimes = regexp.MustCompile(`^(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?$`)

// Set reads 1h30m, or Slurm's forms: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours, days-hours:minutes and days-hours:minutes:seconds. UNLIMITED, INFINITE and 0 are no limit.
func (t *timeLimit) Set(text string) error {
	d, err := time.ParseDuration(text)
	if upper := strings.ToUpper(text); upper == "UNLIMITED" || upper == "INFINITE" {
		d, err = 0, nil
	}
	if found := slurmTimes.FindStringSubmatch(text); err != nil && found != nil {
		unit := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
		parts := found[1:]
		if found[1] == "" && found[4] == "" { // minutes first
			parts = []string{"", "", found[2], found[3]}
		}
		total := 0.0
		for i, part := range parts {
			n, _ := strconv.Atoi(part)                 // digits, or none
			whole := strings.Join(parts[:i], "") == "" // the first part may be any number
			if most := []int{0, 23, 59, 59}[i]; !whole && n > most {
				return fmt.Errorf("has %s %s, and after days, hours or minutes there are at most %d", part, []string{"days", "hours", "minutes", "seconds"}[i], most)
			}
			total += float64(n) * unit[i].Seconds()
		}
		if total > longest.Seconds() {
			return fmt.Errorf("must be %.0f days or less", longest.Hours()/24)
		}
		d, err = time.Duration(total)*time.Second, nil
	}
	if err != nil {
		return errors.New("must be a duration such as 1h30m, or a time as Slurm writes it: 90 (minutes), 90:30, 1:30:00, 2-12 (days and hours), 2-12:30, 2-12:30:00 or UNLIMITED")
	}
	if d == 0 {
		d = unlimited
	}
	*t = timeLimit(d)
	return nil
}

// longest is the longest time limit: longer ones are mistakes.
const longest = 10 * 365 * 24 * time.Hour

// String is empty for none.
func (t *timeLimit) String() string {
	switch time.Duration(*t) {
	case 0:
		return ""
	case unlimited:
		return "UNLIMITED"
	}
	return time.Duration(*t).String()
}

// Type is the word for it in a usage text.
func (t *timeLimit) Type() string { return "time limit" }

// slurmTime writes hours:minutes:seconds; nothing for the scheduler's limit.
func slurmTime(d time.Duration) string {
	if d == 0 || d == unlimited {
		return (*timeLimit)(&d).String()
	}
	seconds := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

func (slurm) submit(ctx context.Context, s *submission, _, stderr io.Writer) (jobs, watch []string, err error) {
	ctx, cancel := late(ctx)
	defer cancel(nil)
	// afterany: after one task that failed, afterok would never be satisfied.
	after := func(jobs []string) string { return "--dependency=afterany:" + strings.Join(jobs, ":") }
	before := s.queued
	for _, a := range s.arrays() {
		args := []string{s.path(a.script())}
		if s.AtOnce > 0 && len(before) > 0 {
			args = append([]string{after(before)}, args...)
		}
		job, err := sbatch(ctx, stderr, args...)
		if err != nil && strings.Contains(err.Error(), "job array") {
			err = fmt.Errorf("%w; the largest array is MaxArraySize of scontrol show config: take fewer --tasks, and more --cpus", err)
		}
		if err != nil && len(jobs) > 0 {
			err = fmt.Errorf("the shards before %d are submitted (jobs %s), the others are not: %w; go on with the same command and --missing", a.first+a.indices[0], strings.Join(jobs, ", "), err)
		}
		if err != nil {
			return jobs, nil, err
		}
		if jobs, before = append(jobs, job), []string{job}; a.first > 0 {
			if s.First == nil {
				s.First = map[string]int{}
			}
			s.First[job] = a.first
		}
	}
	report, err := sbatch(ctx, stderr, after(slices.Concat(jobs, s.queued)), s.path("report.sh"))
	if err != nil {
		return jobs, nil, fmt.Errorf("the arrays are jobs %s, but their report was not submitted: %w", strings.Join(jobs, ", "), err)
	}
	jobs = append(jobs, report)
	return jobs, []string{"squeue -j " + strings.Join(jobs, ","), "tail -f " + quote(s.path("")) + "/shard-*.log"}, nil
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
		shards = append(shards, s.First[job]+shard)
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
