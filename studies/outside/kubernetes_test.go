package outside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/rlrun/rlrun/internal/must"
)

// The manifests have no key that the published types of Kubernetes lack, and mean what
// they should.
func TestKubernetesManifests(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "exp.yaml"), []byte("{name: exp, runs: 50, steps: 10, environments: [{plugin: riverswim}], agents: [{plugin: q-learning}]}"), 0o600))
	printed := command(t, dir, "submit", "exp.yaml", "--to", "kubernetes", "--tasks", "50", "--cpus", "4", "--time", "2h", "--image", "registry.example/rlrun:1",
		"--claim", "results", "--rlrun", "/opt/$(USER)/rlrun", "--out", "it's", "--print")
	_, first, _ := strings.Cut(printed, "job.yaml\n")
	first, second, ok := strings.Cut(first, "\n# ")
	_, second, _ = strings.Cut(second, "\n")
	documents := strings.Split(first, "---\n")
	if len(documents) != 2 || !ok {
		t.Fatalf("%d documents, want 2: %s", len(documents), printed)
	}
	var config corev1.ConfigMap
	var job, report batchv1.Job
	for text, into := range map[string]any{documents[0]: &config, documents[1]: &job, second: &report} {
		must.Do(t, yaml.UnmarshalStrict([]byte(text), into))
	}
	if !strings.Contains(config.Data["config.yaml"], "plugin: riverswim\n") {
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
	for _, want := range []string{"--out /results/it-s ", "--shard $(JOB_COMPLETION_INDEX)/50 "} {
		if !strings.Contains(args, want) {
			t.Errorf("args are %s, without %s", args, want)
		}
	}
	const program = "/opt/$$(USER)/rlrun" // which Kubernetes does not replace
	if container.Command[0] != program || report.Spec.Template.Spec.Containers[0].Command[0] != program {
		t.Errorf("command is %q", container.Command)
	}
	if report.Name != "" || report.GenerateName != "rlrun-it-s-report-" { // a report can be made again
		t.Errorf("the report is named %q, %q", report.Name, report.GenerateName)
	}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(documents[1], "completions", "completion", 1)), &batchv1.Job{}); err == nil {
		t.Error("a wrong key is accepted")
	}
}
