package submitcmd

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the files of testdata")

// example is a submission with what is hard to quote.
func example(to string) *submission {
	return &submission{
		To: to, Name: "exp", Tasks: 50, Cpus: 4, Time: 2 * time.Hour, Dir: "/home/ada/50% done/it's", WorkDir: "/home/ada/my work",
		Rlrun: "/opt/rlrun", Lock: "/home/ada/rlrun.lock.yaml", Scratch: "/scratch", Slurm: []string{"partition=cpu", "exclusive"},
		Image: "registry.example/rlrun:1", Claim: "results", config: "name: exp\nruns: 3\n", shards: "0-3,7",
	}
}

func TestGolden(t *testing.T) {
	for to, target := range targets {
		for _, f := range target.files(example(to)) {
			path := filepath.Join("testdata", to+"-"+f.name)
			if *update {
				if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
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
	s.Lock = ""
	files := kubernetes{}.files(s)
	documents := strings.Split(files[0].text, "---\n")
	if len(documents) != 2 {
		t.Fatalf("%d documents, want 2", len(documents))
	}
	var config corev1.ConfigMap
	var job, report batchv1.Job
	for text, into := range map[string]any{documents[0]: &config, documents[1]: &job, files[1].text: &report} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
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
	if args := strings.Join(job.Spec.Template.Spec.Containers[0].Args, " "); !strings.Contains(args, "--shard $(JOB_COMPLETION_INDEX)/50 ") {
		t.Errorf("args are %s", args)
	}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(documents[1], "completions", "completion", 1)), &batchv1.Job{}); err == nil {
		t.Error("a wrong key is accepted")
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
