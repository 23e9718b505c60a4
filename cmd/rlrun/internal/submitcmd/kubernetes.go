package submitcmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/result"
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

func (kubernetes) check(_ context.Context, s *submission) error {
	switch {
	case s.Image == "":
		return cli.Usagef("--to kubernetes needs --image: a container image with rlrun and the plugins (docs/machines.md)")
	case s.Staged:
		return cli.Usagef("--to kubernetes cannot be used with compare.until: decided, because a pod cannot submit the next stage; leave out until, or use rlrun run")
	case s.Lock != "":
		return cli.Usagef("--to kubernetes: the image has the plugins, so there is no lock file to check; leave out --lock")
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

// claimed names the directory of the results in the claim, after the output directory.
func (s *submission) claimed() string { return result.Slug(filepath.Base(s.Dir)) }

// inClaim is the output directory as pods see it.
func (s *submission) inClaim() string { return resultsMount + "/" + s.claimed() }

// notLabel are the characters that a name of Kubernetes cannot have.
var notLabel = regexp.MustCompile(`[^a-z0-9-]`)

// label is the name of the objects: a DNS label, another one for every directory.
func (s *submission) label() string {
	const most = 40
	dir := s.claimed()
	name := notLabel.ReplaceAllString(dir, "")
	if name != dir || len(name) > most {
		sum := sha256.Sum256([]byte(dir))
		name = fmt.Sprintf("%s-%x", name[:min(len(name), most)], sum[:3])
	}
	return "rlrun-" + strings.TrimLeft(name, "-")
}

// literal writes a word of a container's command, in which Kubernetes would replace $(NAME).
func literal(word string) string { return strings.ReplaceAll(word, "$", "$$") }

// mostConfig is the largest size of a config, as JSON, in bytes. kubectl apply repeats an
// object in an annotation, and annotations may have 262,144 bytes.
const mostConfig = 260_000

// checkSize refuses a config that kubectl would refuse.
func (s *submission) checkSize() error {
	if s.To != "kubernetes" {
		return nil
	}
	text, err := json.Marshal(s.config)
	if err == nil && len(text) > mostConfig {
		err = cli.Usagef("the config, with its sweeps written out, would be %d bytes of a ConfigMap, and kubectl apply takes at most %d: divide the agents or environments over several experiments", len(text), mostConfig)
	}
	return err
}

func (k kubernetes) files(s *submission) []file {
	out := s.inClaim()
	args := list("run", configMount+"/"+configName, "--out", out, "--quiet", "--shard", fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", s.Tasks), "--workers", fmt.Sprint(s.Cpus))
	if s.Mixed {
		args.Content = append(args.Content, value("--mixed"))
	}
	if s.Yes {
		args.Content = append(args.Content, value("--yes"))
	}
	configMap := obj("apiVersion", "v1", "kind", "ConfigMap", "metadata", obj("name", s.label()), "data", obj(configName, s.config))
	spec := obj("completionMode", "Indexed", "completions", s.Tasks, "parallelism", min(s.Tasks, cmp.Or(s.AtOnce, s.Tasks)),
		"backoffLimitPerIndex", 3,
		"podFailurePolicy", obj("rules", list(
			obj("action", "Ignore", "onPodConditions", list(obj("type", "DisruptionTarget", "status", "True"))),
			obj("action", "FailIndex", "onExitCodes", obj("containerName", "rlrun", "operator", "In", "values", list(2))),
		)),
		"template", k.pod(s, args, true))
	shards := obj("apiVersion", "batch/v1", "kind", "Job", "metadata", obj("name", s.label()), "spec", spec)
	report := obj("apiVersion", "batch/v1", "kind", "Job", "metadata", obj("generateName", s.label()+"-report-"),
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
	container := obj("name", "rlrun", "image", s.Image, "command", list(literal(s.Rlrun)), "args", args,
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

// queue knows no earlier pods: a submission takes the place of the Job before.
func (kubernetes) queue(context.Context, *submission) ([]int, []string, error) { return nil, nil, nil }

func (kubernetes) submit(ctx context.Context, s *submission, _, stderr io.Writer) (jobs, watch []string, err error) {
	there, err := kubectl(ctx, stderr, "get", "job", s.label(), "--ignore-not-found", "--output=name")
	if err != nil {
		return nil, nil, err
	}
	if there != "" && !s.resubmit {
		return nil, nil, cli.Usagef("Kubernetes has a Job %s already: choose another output directory with --out, or remove it with kubectl delete job %[1]s", s.label())
	}
	if there != "" { // a Job's template cannot be changed, and shards that are done end at once
		if _, err := kubectl(ctx, stderr, "delete", "job", s.label()); err != nil {
			return nil, nil, err
		}
	}
	if _, err := kubectl(ctx, stderr, "apply", "-f", s.path("job.yaml")); err != nil {
		return nil, nil, err
	}
	// A Job that fails is never complete, so kubectl wait would not end.
	ended := "kubectl get job " + s.label() + ` -o 'jsonpath={.status.conditions[*].type}' | grep -E 'Complete|Failed'`
	return []string{s.label()}, []string{
		"kubectl get pods -l job-name=" + s.label(),
		"kubectl exec job/" + s.label() + " -- " + quote(s.Rlrun, "status", s.inClaim()),
		"until " + ended + "; do sleep 10; done; kubectl create -f " + quote(s.path("report.yaml")),
	}, nil
}

// kubectl returns what a call of kubectl prints.
func kubectl(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	return call(ctx, stderr, "kubectl "+args[0], "apply the manifest from one that has it", "kubectl", args...)
}
