package submitcmd

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write the files of testdata")

// example is a submission with what is hard to quote.
func example(to string) *submission {
	return &submission{
		To: to, Name: "exp", Tasks: 50, Cpus: 4, Time: 2 * time.Hour, Dir: "/home/ada/50% done/it's", WorkDir: "/home/ada/my work",
		Env: []string{"RLRUN_PLUGIN_PATH=/opt/my plugins"}, Rlrun: "/opt/rlrun", Lock: "/home/ada/rlrun.lock.yaml", Scratch: "/scratch", Slurm: []string{"partition=cpu", "exclusive"},
		Image: "registry.example/rlrun:1", Claim: "results", config: "name: exp\nruns: 3\n", shards: "0-3,7",
	}
}

func TestGolden(t *testing.T) {
	for to, target := range targets {
		for _, f := range target.files(example(to)) {
			path := filepath.Join("testdata", to+"-"+f.name)
			if *update {
				must.Do(t, os.WriteFile(path, []byte(f.text), 0o644))
			}
			want := must.Get(os.ReadFile(path))(t)
			if f.text != string(want) {
				t.Errorf("%s is\n%s\nwant\n%s", path, f.text, want)
			}
		}
	}
}

// The manifests have no key that the published types of Kubernetes lack, and mean what
// they should.
func TestKubernetesSchema(t *testing.T) {
	s := example("kubernetes")
	s.Lock, s.Scratch = "", "/scratch/$(USER)"
	files := kubernetes{}.files(s)
	documents := strings.Split(files[0].text, "---\n")
	if len(documents) != 2 {
		t.Fatalf("%d documents, want 2", len(documents))
	}
	var config corev1.ConfigMap
	var job, report batchv1.Job
	for text, into := range map[string]any{documents[0]: &config, documents[1]: &job, files[1].text: &report} {
		must.Do(t, yaml.UnmarshalStrict([]byte(text), into))
	}
	if config.Data["config.yaml"] != s.config {
		t.Errorf("config is %q", config.Data["config.yaml"])
	}
	if *job.Spec.CompletionMode != batchv1.IndexedCompletion || *job.Spec.Completions != 50 || *job.Spec.BackoffLimitPerIndex != 3 {
		t.Errorf("spec is %+v", job.Spec)
	}
	rules := job.Spec.PodFailurePolicy.Rules
	if rules[0].Action != batchv1.PodFailurePolicyActionIgnore || rules[0].OnPodConditions[0].Type != corev1.DisruptionTarget ||
		rules[1].Action != batchv1.PodFailurePolicyActionFailIndex || rules[1].OnExitCodes.Values[0] != 2 {
		t.Errorf("rules are %+v", rules)
	}
	for _, pod := range []corev1.PodSpec{job.Spec.Template.Spec, report.Spec.Template.Spec} {
		if pod.RestartPolicy != corev1.RestartPolicyNever || *pod.TerminationGracePeriodSeconds != 120 || pod.Containers[0].Name != "rlrun" {
			t.Errorf("pod is %+v", pod)
		}
		mounted := map[string]bool{}
		for _, v := range pod.Volumes {
			mounted[v.Name] = true
		}
		for _, m := range pod.Containers[0].VolumeMounts {
			if !mounted[m.Name] {
				t.Errorf("%s is mounted and no volume", m.Name)
			}
		}
	}
	container := job.Spec.Template.Spec.Containers[0]
	args := strings.Join(container.Args, " ")
	for _, want := range []string{"--out /results/it-s ", "--shard $(JOB_COMPLETION_INDEX)/50 ", "--scratch /scratch/$$(USER)"} { // $$(USER): not replaced
		if !strings.Contains(args, want) {
			t.Errorf("args are %s, without %s", args, want)
		}
	}
	if container.Command[0] != "/opt/rlrun" || report.Spec.Template.Spec.Containers[0].Command[0] != "/opt/rlrun" {
		t.Errorf("command is %q", container.Command)
	}
	if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == s.Scratch }) {
		t.Errorf("no volume is at %s", s.Scratch)
	}
	if report.Name != "" || report.GenerateName != "rlrun-it-s-report-" { // a report can be made again
		t.Errorf("the report is named %q, %q", report.Name, report.GenerateName)
	}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(documents[1], "completions", "completion", 1)), &batchv1.Job{}); err == nil {
		t.Error("a wrong key is accepted")
	}
}

// Objects have valid names, and other ones for other output directories.
func TestKubernetesNames(t *testing.T) {
	valid, taken := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$`), map[string]string{}
	long := strings.Repeat("a", 45)
	for _, dir := range []string{"results/exp", "results/exp_2", "results/exp2", "results/実験", "results/実験2", "results/---", "results/é-", long, long + "b", "v1.2"} {
		label := (&submission{Dir: dir}).label()
		if !valid.MatchString(label) || taken[label] != "" {
			t.Errorf("%s is named %s; taken by %q", dir, label, taken[label])
		}
		taken[label] = dir
	}
	if got := (&submission{Dir: "results/exp-1"}).label(); got != "rlrun-exp-1" {
		t.Errorf("results/exp-1 is named %s", got)
	}
}

// Slurm cannot write logs to every directory.
func TestSlurmDirectories(t *testing.T) {
	for dir, ok := range map[string]bool{"/a b/it's 50% \"q\" $HOME": true, `/a\b`: false, "/a\nb": false} {
		if err := (slurm{}).check(&submission{Dir: dir}); (err == nil) != ok {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// Values that sbatch would not understand are refused.
func TestSlurmOptions(t *testing.T) {
	for option, ok := range map[string]bool{
		"partition=cpu": true, "exclusive": true, "mem-per-cpu=2G": true, "array=0-3": false, "signal=TERM": false, "Partition=x": false, "a\nb=c": false, "a=b\nc": false, "": false,
	} {
		if err := (slurm{}).check(&submission{Slurm: []string{option}}); (err == nil) != ok {
			t.Errorf("%q: %v", option, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "00:01:00", 50*time.Hour + 90*time.Second: "50:01:30"} {
		if got := slurmTime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
