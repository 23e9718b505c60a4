package submitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// kubernetes submits an indexed Job whose index is the shard. Kubernetes has no jobs
// that wait for others: the report is a second Job, to be applied when the first is
// complete.
type kubernetes struct{}

// Dirs in a container.
const (
	resultsMount = "/results" // the claim
	configMount  = "/config"
)

func (kubernetes) check(s *submission) error {
	switch {
	case s.Image == "":
		return cli.Usagef("--to kubernetes needs --image: a container image with rlrun and the plugins (docs/machines.md)")
	case s.Staged:
		return cli.Usagef("--to kubernetes does not go with compare.until: decided, because a pod cannot submit the next stage; leave it out, or use rlrun run")
	case s.Lock != "":
		return cli.Usagef("--to kubernetes: the image has the plugins, so there is no lock file to check; leave out %s", s.Lock)
	}
	return nil
}

// object is a part of a manifest, with keys in the order in which they are written.
type object = yaml.Node

func obj(pairs ...any) *object {
	n := &object{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		n.Content = append(n.Content, value(pairs[i]), value(pairs[i+1]))
	}
	return n
}

func list(items ...any) *object {
	n := &object{Kind: yaml.SequenceNode}
	for _, item := range items {
		n.Content = append(n.Content, value(item))
	}
	return n
}

// value makes a node of a node, a string, a number or a truth value.
func value(v any) *object {
	if n, ok := v.(*object); ok {
		return n
	}
	n := &object{}
	cli.Must(n.Encode(v))
	return n
}

// name is the name of the objects: a DNS label.
func (s *submission) label() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s.Name)
	return "rlrun-" + strings.Trim(name[:min(len(name), 40)], "-")
}

// inClaim is the output directory as pods see it.
func (s *submission) inClaim() string { return resultsMount + "/" + s.Name }

func (k kubernetes) files(s *submission) []file {
	out := s.inClaim()
	args := list("run", configMount+"/"+configName, "--out", out, "--quiet", "--shard", fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", s.Tasks), "--workers", fmt.Sprint(s.Cpus))
	if s.Scratch != "" {
		args.Content = append(args.Content, value("--scratch"), value(s.Scratch))
	}
	if s.Mixed {
		args.Content = append(args.Content, value("--mixed"))
	}
	configMap := obj("apiVersion", "v1", "kind", "ConfigMap", "metadata", obj("name", s.label()), "data", obj(configName, s.config))
	spec := obj("completionMode", "Indexed", "completions", s.Tasks, "parallelism", s.Tasks,
		"backoffLimitPerIndex", 3,
		"podFailurePolicy", obj("rules", list(
			obj("action", "Ignore", "onPodConditions", list(obj("type", "DisruptionTarget", "status", "True"))),
			obj("action", "FailIndex", "onExitCodes", obj("containerName", "rlrun", "operator", "In", "values", list(2))),
		)),
		"template", k.pod(s, args, true))
	shards := obj("apiVersion", "batch/v1", "kind", "Job", "metadata", obj("name", s.label()), "spec", spec)
	report := obj("apiVersion", "batch/v1", "kind", "Job", "metadata", obj("name", s.label()+"-report"),
		"spec", obj("backoffLimit", 3, "template", k.pod(s, list("report", out), false)))
	return []file{{"job.yaml", document(configMap, shards)}, {"report.yaml", document(report)}}
}

// pod is the template of a job's pods.
func (kubernetes) pod(s *submission, args *object, config bool) *object {
	mounts := list(obj("name", "results", "mountPath", resultsMount))
	volumes := list(obj("name", "results", "persistentVolumeClaim", obj("claimName", s.Claim)))
	if config {
		mounts.Content = append(mounts.Content, obj("name", "config", "mountPath", configMount))
		volumes.Content = append(volumes.Content, obj("name", "config", "configMap", obj("name", s.label())))
	}
	container := obj("name", "rlrun", "image", s.Image, "args", args,
		"resources", obj("requests", obj("cpu", fmt.Sprint(s.Cpus)), "limits", obj("cpu", fmt.Sprint(s.Cpus))),
		"volumeMounts", mounts)
	pod := obj("restartPolicy", "Never", "terminationGracePeriodSeconds", 120)
	if s.Time > 0 && config {
		pod.Content = append(pod.Content, value("activeDeadlineSeconds"), value(int(s.Time.Seconds())))
	}
	pod.Content = append(pod.Content, value("containers"), list(container), value("volumes"), volumes)
	return obj("spec", pod)
}

// document writes objects as YAML.
func document(objects ...*object) string {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	for _, o := range objects {
		cli.Must(enc.Encode(o))
	}
	cli.Must(enc.Close())
	return buf.String()
}

func (kubernetes) submit(ctx context.Context, s *submission, _, stderr io.Writer) (jobs, watch []string, err error) {
	// A Job's template cannot be changed: an earlier one of the name makes room. Shards
	// that are done end at once.
	for _, args := range [][]string{{"delete", "job", s.label(), "--ignore-not-found"}, {"apply", "-f", s.path("job.yaml")}} {
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, "kubectl", args...)
		cmd.Stderr = &said
		if err := cmd.Run(); errors.Is(err, exec.ErrNotFound) {
			return nil, nil, cli.Usagef("there is no kubectl on this machine: apply the manifest from one that has it")
		} else if err != nil {
			return nil, nil, fmt.Errorf("kubectl %s: %s (%w)", args[0], strings.Join(strings.Fields(said.String()), " "), err)
		}
		_, _ = stderr.Write(said.Bytes()) // warnings
	}
	return []string{s.label()}, []string{
		"kubectl get pods -l job-name=" + s.label(),
		"kubectl wait --for=condition=complete --timeout=-1s job/" + s.label() + " && kubectl apply -f " + quote(s.path("report.yaml")),
	}, nil
}
