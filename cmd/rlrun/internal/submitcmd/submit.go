// Package submitcmd is the command rlrun submit.
package submitcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/runcmd"
	"github.com/rlrun/rlrun/internal/inputfile"
)

const help = `Submit an experiment to a scheduler: N shards (rlrun run --shard) in one output
directory that all machines see, and then the report.

  --to slurm        a job array, and a job that makes the report when it has ended
  --to kubernetes   an indexed Job and a Job for the report; needs --image, and a
                    claim that many pods can write to (--claim)
  --to parallel     GNU parallel on this machine, or over ssh on the machines of --hosts

Scripts and manifests are written to DIR/submit, with a copy of the config: later
changes of the config file have no effect. --print prints the scripts and does nothing
else. The default of --tasks comes from a short measurement on this machine: as many
tasks as take ten minutes or more each, at most 200.

With compare: {until: decided} the shards make the runs of a stage. The job after them
calls rlrun decide, which begins the next stage or makes the report (slurm and
parallel).

Slurm takes arrays of up to MaxArraySize tasks: more tasks become several arrays. With
--at-once each array waits for the one before.

--missing submits again the shards that lack runs: repeat the command of the first
submission and add it. Shards that are still in Slurm's queue are left out.

--json:
  output, to, tasks    the output directory; the scheduler; N
  shards               submitted shards, such as 0-3,7
  files                written files, in DIR/submit
  jobs                 the scheduler's identifiers of the jobs; empty if none
  watch                commands that show the progress`

// submission is what a user asked for.
type submission struct {
	To      string
	Name    string
	Cpus    int
	Time    time.Duration
	AtOnce  int    // tasks at a time; 0: any number
	Dir     string // output directory, absolute
	WorkDir string // of rlrun submit: relative paths of plugins begin here
	Rlrun   string
	Lock    string
	Slurm   []string
	Hosts   string
	Image   string
	Claim   string
	Mixed   bool
	Yes     bool
	Trust   bool
	Staged  bool     // until: decided: rlrun decide after every stage
	Env     []string // NAME=VALUE: where plugins are found, for ssh, which passes no variables
	kept

	config  string   // text of the resolved config
	shards  []int    // to submit, increasing
	largest int      // number of tasks that an array of Slurm may have
	queued  []string // of Jobs, those that are in the queue; they do other shards
	missing bool     // whether it is --missing
}

// kept is what DIR/submit keeps of a submission for --missing.
type kept struct {
	Tasks int      `json:"tasks"`
	Jobs  []string `json:"jobs,omitempty"` // that the scheduler was given, the arrays and reports in turn
	// First is the shard that index 0 of a job array stands for, by job, where it is not shard 0.
	First map[string]int `json:"first_shards,omitempty"`
}

// file is one that a target writes into DIR/submit.
type file struct {
	name string
	text string
}

// target is a way to have shards done.
type target interface {
	// check refuses a submission that cannot work, by its flags.
	check(ctx context.Context, s *submission) error
	files(s *submission) []file
	// queue says which shards are waiting or running still, and in which jobs.
	queue(ctx context.Context, s *submission) (shards []int, jobs []string, err error)
	// submit hands the files over, and returns identifiers of jobs and commands to
	// watch them.
	submit(ctx context.Context, s *submission, out, stderr io.Writer) (jobs, watch []string, err error)
}

// targets are the schedulers that are known. A new one is a type and a line here.
var targets = map[string]target{"slurm": slurm{}, "kubernetes": kubernetes{}, "parallel": parallel{}}

// New returns the command rlrun submit.
func New(app *host.App) *cobra.Command {
	var s submission
	var onlyPrint, asJSON bool
	cmd := &cobra.Command{
		Use:   "submit CONFIG --to slurm|kubernetes|parallel",
		Short: "Submit an experiment to a cluster",
		Long:  help,
		Example: `  rlrun submit exp.yaml --to slurm --tasks 50 --cpus 4 --time 2h --slurm partition=cpu
  rlrun submit exp.yaml --to slurm --print
  rlrun submit exp.yaml --to slurm --tasks 50 --cpus 4 --missing
  rlrun submit exp.yaml --to parallel --hosts hosts.txt`,
		Args: cli.Arguments(1, "a config file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Abandon(cmd.Context(), func() error { return s.prepare(app, cmd, args[0]) }); err != nil {
				return err
			}
			if len(s.shards) == 0 {
				return s.nothing(cmd, asJSON)
			}
			t := targets[s.To]
			if err := t.check(cmd.Context(), &s); err != nil {
				return err
			}
			if onlyPrint {
				for _, f := range t.files(&s) {
					fmt.Fprintf(cmd.OutOrStdout(), "# %s\n%s\n", filepath.Join(s.Dir, "submit", f.name), f.text)
				}
				return nil
			}
			return s.do(cmd, t, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&s.To, "to", "", "`SCHEDULER`: slurm, kubernetes or parallel")
	fs.IntVar(&s.Tasks, "tasks", 0, "number `N` of shards (default from a short measurement)")
	fs.IntVar(&s.Cpus, "cpus", 1, "number `N` of cores, and so of workers, of each task")
	fs.Var((*timeLimit)(&s.Time), "time", "time limit of each task, a `TIME` such as 2h, or as Slurm writes it: 90, 1:30:00, 2-12 or UNLIMITED (default the scheduler's)")
	fs.IntVar(&s.AtOnce, "at-once", 0, "at most `K` tasks at a time; for parallel, on each machine (default any number; with parallel, one per core)")
	fs.StringArrayVar(&s.Slurm, "slurm", nil, "option of sbatch, `KEY=VALUE` such as partition=cpu; may be repeated")
	fs.StringVar(&s.Hosts, "hosts", "", "for parallel: `FILE` that lists machines to reach by ssh, one per line (parallel --sshloginfile)")
	fs.StringVar(&s.Image, "image", "", "for kubernetes: container `IMAGE` with rlrun and the plugins")
	fs.StringVar(&s.Claim, "claim", "rlrun", "for kubernetes: persistent volume `CLAIM` for results, ReadWriteMany")
	fs.StringVar(&s.Rlrun, "rlrun", "", "`PROGRAM` to run on the machines (default this one)")
	fs.BoolVar(&s.Mixed, "mixed", false, "accept runs of other programs (rlrun run --mixed)")
	fs.BoolVar(&s.Yes, "yes", false, "allow more than 10,000 pairs of environment and agent (rlrun run --yes)")
	fs.BoolVar(&s.Trust, "trust", false, "read pickled agents in shards, which runs code")
	fs.BoolVar(&onlyPrint, "print", false, "print the scripts; write and submit nothing")
	fs.BoolVar(&s.missing, "missing", false, "submit again the shards that lack runs")
	fs.StringVar(&s.Lock, "lock", "", "lock `FILE` that plugins must agree with (default as rlrun run)")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	config.Flags(fs)
	cli.Must(cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"slurm", "kubernetes", "parallel"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// checkFlags checks what all targets need.
func (s *submission) checkFlags(cmd *cobra.Command) error {
	for flag, to := range map[string]string{"slurm": "slurm", "hosts": "parallel", "image": "kubernetes", "claim": "kubernetes"} {
		if cmd.Flags().Changed(flag) && s.To != "" && s.To != to {
			return cli.Usagef("--%s is for --to %s, and this is --to %s", flag, to, s.To)
		}
	}
	switch {
	case cmd.Flags().Changed("workers"):
		return cli.Usagef("--workers: a task has as many workers as cores: give --cpus")
	case s.To == "":
		return cli.Usagef("rlrun submit needs --to: slurm, kubernetes or parallel")
	case targets[s.To] == nil:
		return cli.Usagef("--to must be slurm, kubernetes or parallel, not %q%s", s.To, cli.Suggest(s.To, []string{"slurm", "kubernetes", "parallel"}, ""))
	case s.Tasks < 0 || s.Tasks == 0 && cmd.Flags().Changed("tasks"):
		return cli.Usagef("--tasks must be positive, not %d", s.Tasks)
	case s.Tasks > plan.MostShards:
		return cli.Usagef("--tasks must be %d or less, not %d", plan.MostShards, s.Tasks)
	case s.Cpus < 1:
		return cli.Usagef("--cpus must be positive, not %d", s.Cpus)
	case s.AtOnce < 0 || s.AtOnce == 0 && cmd.Flags().Changed("at-once"):
		return cli.Usagef("--at-once must be positive, not %d", s.AtOnce)
	case s.Time < time.Minute && s.Time != 0 && s.Time != unlimited:
		return cli.Usagef("--time must be a minute or more, not %v", s.Time)
	}
	return nil
}

// prepare prepares the submission of a config.
func (s *submission) prepare(app *host.App, cmd *cobra.Command, name string) (err error) {
	if err := s.checkFlags(cmd); err != nil {
		return err
	}
	x, err := runcmd.Check(app, cmd, name, s.Lock, s.Yes)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }() // plugins that end change nothing
	s.Staged = x.Plan.Sequential() != nil
	if err := s.locate(cmd, x.Dir.Path, name); err != nil {
		return err
	}
	s.Name = result.Slug(x.Plan.Config.Name)
	if s.missing {
		err = s.again(cmd)
	} else {
		err = s.setTasks(cmd, x)
	}
	if err != nil {
		return err
	}
	if x.Plan.Config.Checkpoint != nil && len(x.Pickled) > 0 && !s.Trust {
		return cli.Usagef("checkpoint: those of %s are pickles, and a task that is requeued reads them only with --trust, as this runs code in them: add --trust, or leave checkpoint out", strings.Join(x.Pickled, ", "))
	}
	if err := runcmd.CheckShards(x, s.Tasks, s.Mixed); err != nil {
		return err
	}
	resolved := x.Plan.Config
	resolved.Output = s.Dir
	if s.To == "kubernetes" {
		resolved.Output = s.inClaim()
	}
	text, err := resolved.YAML()
	if err != nil {
		return err
	}
	s.config = string(text)
	if err := s.checkSize(); err != nil {
		return err
	}
	if s.missing {
		return s.lack(cmd)
	}
	s.shards = count(s.Tasks)
	return nil
}

// locate fills in the directories, files and variables with which shards run. name is the
// config's file.
func (s *submission) locate(cmd *cobra.Command, dir, name string) (err error) {
	if s.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if s.WorkDir, err = os.Getwd(); err != nil {
		return err
	}
	if s.Rlrun == "" && s.To == "kubernetes" {
		s.Rlrun = "rlrun" // of the image
	}
	if s.Rlrun == "" {
		if s.Rlrun, err = os.Executable(); err != nil {
			return err
		}
	}
	if lock, _ := host.FindLock(s.Lock, name); lock != "" && s.To != "kubernetes" {
		s.Lock = lock
	} else if lock != "" && s.Lock == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: %s is checked here, and not in pods: their plugins are those of the image\n", lock)
	}
	for _, name := range []string{"RLRUN_PLUGIN_PATH", "RLRUN_PYTHON"} {
		if value := os.Getenv(name); value != "" {
			s.Env = append(s.Env, name+"="+value)
		}
	}
	if s.Lock != "" { // shards run in another directory
		s.Lock, err = filepath.Abs(s.Lock)
	}
	return err
}

// Default numbers of tasks: each takes taskTime or longer.
const (
	taskTime  = 10 * time.Minute
	mostTasks = 200
)

// setTasks chooses the number of tasks, and warns if a run does not fit one.
func (s *submission) setTasks(cmd *cobra.Command, x *run.Runner) error {
	all := len(x.Plan.Cells) * x.Plan.Config.Runs
	given := s.Tasks > 0
	if given && s.Time <= 0 {
		s.Tasks = min(s.Tasks, all)
		return nil
	}
	run, longest, err := x.MeasureRuns(cmd.Context())
	if err != nil {
		return err
	}
	work := run * time.Duration(x.Plan.Config.Runs) / time.Duration(s.Cpus)
	if !given {
		s.Tasks = int(min(max(work/taskTime, 1), mostTasks))
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: about %s of work for a task of %d %s by a short measurement here: %d %s (--tasks)\n", cli.Clock(work), s.Cpus, cli.Plural(s.Cpus, "core", "cores"), s.Tasks, cli.Plural(s.Tasks, "task", "tasks"))
	}
	s.Tasks = min(s.Tasks, all)
	if s.Time > 0 && longest > s.Time {
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: a run takes about %s by a short measurement here, and --time is %s: a run that is stopped begins anew\n", cli.Clock(longest), cli.Clock(s.Time))
	}
	return nil
}

func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Files of DIR/submit that every target has.
const (
	configName     = "config.yaml"
	submissionName = "submission.json"
)

// path names a file in DIR/submit.
func (s *submission) path(name string) string { return filepath.Join(s.Dir, "submit", name) }

// again reads what DIR/submit keeps of the submission before.
func (s *submission) again(cmd *cobra.Command) error {
	path := s.path(submissionName)
	data, err := inputfile.Read(path, result.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("%s was not submitted: leave out --missing", s.Dir)
	}
	if err != nil {
		return err
	}
	before, err := parseSubmission(data)
	if err != nil {
		return cli.Usagef("%s is not as rlrun submit writes it (%w). If rlrun submit was killed, remove %s and submit again", path, err, filepath.Dir(path))
	}
	if cmd.Flags().Changed("tasks") && s.Tasks != before.Tasks {
		return cli.Usagef("%s was submitted as %d tasks: --missing keeps this number", s.Dir, before.Tasks)
	}
	s.kept = before
	return nil
}

func parseSubmission(data []byte) (before kept, err error) {
	err = json.Unmarshal(data, &before)
	if err == nil && (before.Tasks < 1 || before.Tasks > plan.MostShards) {
		err = fmt.Errorf("it has %d tasks", before.Tasks)
	}
	return before, err
}

// lack finds the shards that lack runs and are not in the queue. Those that are there read the
// config in DIR/submit, so it must be the same.
func (s *submission) lack(cmd *cobra.Command) error {
	before, err := inputfile.Read(s.path(configName), result.MaxFile)
	if err == nil && string(before) != s.config {
		return cli.Usagef("%s was submitted with another config, %s: repeat its keys and flags, or choose another output directory with --out", s.Dir, s.path(configName))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	list, err := lacking(s.Dir, s.Tasks)
	if err != nil {
		return err
	}
	var queued []int
	if queued, s.queued, err = targets[s.To].queue(cmd.Context(), s); err != nil {
		return err
	}
	queued = slices.DeleteFunc(queued, func(shard int) bool { return !slices.Contains(list, shard) })
	if len(queued) > 0 {
		list = slices.DeleteFunc(list, func(shard int) bool { return slices.Contains(queued, shard) })
		fmt.Fprintf(cmd.ErrOrStderr(), "rlrun: the queue still has %s%s (%s %s): left out; scancel %s to submit %[5]s again\n",
			cli.Plural(len(queued), "shard ", "shards "), plan.Ranges(queued), cli.Plural(len(s.queued), "job", "jobs"), strings.Join(s.queued, ", "), cli.Plural(len(queued), "it", "them"))
	}
	s.shards = list
	return nil
}

// lacking lists the shards without a record for every run of the stage; all if none has
// begun.
func lacking(dir string, tasks int) (list []int, err error) {
	e, err := store.Dir{Path: dir}.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return count(tasks), nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := e.Dir.Records(context.Background(), e.Plan)
	if err == nil {
		err = runs.Check(e.Plan.Meta())
	}
	if err != nil {
		return nil, err
	}
	shards, err := e.Dir.CountShards(e.Plan, tasks, runs.Entries)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		// Failed runs are tried again, but not those that a test has looked at.
		if s.Missing() > 0 || s.Failed > 0 && e.Plan.Sequential() == nil {
			list = append(list, s.Index)
		}
	}
	return list, nil
}

func (s *submission) nothing(cmd *cobra.Command, asJSON bool) error {
	w := cmd.OutOrStdout()
	if asJSON {
		return cli.WriteJSON(w, s.answer(nil, nil, nil))
	}
	if len(s.queued) > 0 {
		_, err := fmt.Fprintf(w, "Nothing to submit: all other runs of %s are recorded\n", s.Dir)
		return err
	}
	if s.Staged {
		_, err := fmt.Fprintf(w, "All runs of a stage of %s are recorded: rlrun decide %s\n", s.Dir, quote(s.Dir))
		return err
	}
	_, err := fmt.Fprintf(w, "All runs of %s are recorded: rlrun report %s\n", s.Dir, quote(s.Dir))
	return err
}

// answer is that of --json.
func (s *submission) answer(files, jobs, watch []string) map[string]any {
	return map[string]any{"output": s.Dir, "to": s.To, "tasks": s.Tasks, "shards": plan.Ranges(s.shards),
		"files": append([]string{}, files...), "jobs": append([]string{}, jobs...), "watch": append([]string{}, watch...)}
}

// do writes the files and submits them. Of two first submissions at once, one does.
func (s *submission) do(cmd *cobra.Command, t target, asJSON bool) error {
	if err := (store.Dir{Path: s.Dir}).CheckLinks(); err != nil {
		return cli.Usage(err)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "submit"), 0o777); err != nil {
		return cli.Usagef("cannot write to %s: %w; choose another output directory with --out", s.Dir, inputfile.Cause(err))
	}
	if !s.missing {
		f, err := os.OpenFile(s.path(submissionName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return cli.Usagef("%s was submitted already: add --missing to submit what it lacks, or choose another output directory with --out", s.Dir)
		}
		if err == nil {
			_, err = f.Write(s.record())
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", s.path(submissionName), inputfile.Cause(err))
		}
	}
	names, err := s.write(t)
	var jobs, watch []string
	w := cmd.OutOrStdout()
	if err == nil {
		if asJSON { // what a scheduler says must not mix with it
			w = cmd.ErrOrStderr()
		}
		jobs, watch, err = t.submit(cmd.Context(), s, w, cmd.ErrOrStderr())
		if err != nil && len(jobs) == 0 {
			err = fmt.Errorf("%w; what would be submitted is in %s", err, filepath.Join(s.Dir, "submit"))
		}
	}
	if err == nil || len(jobs) > 0 {
		s.Jobs = append(s.queued, jobs...)
		err = errors.Join(err, s.keep())
	} else if !s.missing {
		_ = os.Remove(s.path(submissionName)) // nothing was submitted
	}
	if err != nil {
		return err
	}
	if s.To != "kubernetes" { // whose results are in a claim
		watch = append([]string{"rlrun status " + quote(s.Dir) + " --watch"}, watch...)
	}
	slices.Sort(names)
	if asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), s.answer(names, jobs, watch))
	}
	fmt.Fprintf(w, "Submitted shards %s of %d to %s", plan.Ranges(s.shards), s.Tasks, s.To)
	if len(jobs) > 0 {
		fmt.Fprintf(w, " (jobs %s)", strings.Join(jobs, ", "))
	}
	_, err = fmt.Fprintf(w, ". Watch:\n  %s\n", strings.Join(watch, "\n  "))
	return err
}

// write writes the target's files and the config. It returns their names.
func (s *submission) write(t target) (names []string, err error) {
	for _, f := range append(t.files(s), file{configName, s.config}) {
		names = append(names, f.name)
		if err := result.WriteFile(s.path(f.name), func(w io.Writer) error { _, err := io.WriteString(w, f.text); return err }); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// record is what --missing reads.
func (s *submission) record() []byte {
	text, err := json.MarshalIndent(s.kept, "", "  ")
	cli.Must(err)
	return append(text, '\n')
}

// keep writes the record in place of an earlier one.
func (s *submission) keep() error {
	return result.WriteFile(s.path(submissionName), func(w io.Writer) error { _, err := w.Write(s.record()); return err })
}

// call runs a scheduler's program and returns what it prints. name is the program in
// messages, absent what to do where there is none.
func call(ctx context.Context, stderr io.Writer, name, absent, program string, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	// A process that the program started may keep its output open when the program has ended.
	cmd.WaitDelay = time.Second / 10
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well
		err = nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", cli.Usagef("there is no %s on this machine: %s", program, absent)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %s (%w)", name, strings.Join(strings.Fields(said.String()), " "), err)
	}
	_, _ = stderr.Write(said.Bytes()) // warnings
	return strings.TrimSpace(out.String()), nil
}

func quote(words ...string) string { return cli.ShellQuote(words) }

// command is a command line of rlrun with the config. The config is final: variables of the
// machine that would override it are empty. env becomes rlrun.
func (s *submission) command(verb string, flags ...string) string {
	words := append([]string{"env"}, s.Env...)
	for _, name := range config.Variables() {
		words = append(words, name+"=")
	}
	words = append(words, s.Rlrun, verb, s.path(configName), "--out", s.Dir)
	if s.Lock != "" {
		words = append(words, "--lock", s.Lock)
	}
	if s.Mixed {
		words = append(words, "--mixed")
	}
	if s.Yes {
		words = append(words, "--yes")
	}
	if s.Trust {
		words = append(words, "--trust")
	}
	return quote(append(words, flags...)...)
}

// run is the command line of a shard. The words shard and workers are the shell's.
func (s *submission) run(shard, workers string) string {
	return s.command("run", "--quiet") + " --shard " + shard + " --workers " + workers
}

// report is the command line of the merge.
func (s *submission) report() string { return quote(s.Rlrun, "report", s.Dir) }

// decide is the command line of a look at the runs of a stage.
func (s *submission) decide() string { return quote(s.Rlrun, "decide", s.Dir) }

// limit is the time before the end of a task at which it is told to stop.
func (s *submission) limit() time.Duration {
	return min(2*time.Minute, cmp.Or(max(s.Time, 0), time.Hour)/4)
}
