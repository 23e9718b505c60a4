package submitcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
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

func (kubernetes) files(s *submission) []file {
	data := map[string]any{
		"Label": s.label(), "ConfigName": configName, "Config": s.config, "ConfigMount": configMount, "ResultsMount": resultsMount, "Out": s.inClaim(),
		"Tasks": s.Tasks, "Parallelism": min(s.Tasks, cmp.Or(s.AtOnce, s.Tasks)), "Seconds": max(0, int(s.Time.Seconds())), "Cpus": fmt.Sprint(s.Cpus),
		"Image": s.Image, "Program": literal(s.Rlrun), "Claim": s.Claim, "Mixed": s.Mixed, "Variables": config.Variables(), "Yes": s.Yes,
	}
	return []file{render("kubernetes", "job.yaml", data), render("kubernetes", "report.yaml", data)}
}

// queue knows no earlier pods: a submission takes the place of the Job before.
func (kubernetes) queue(context.Context, *submission) ([]int, []string, error) { return nil, nil, nil }

func (kubernetes) submit(ctx context.Context, s *submission, _, stderr io.Writer) (jobs, watch []string, err error) {
	there, err := kubectl(ctx, stderr, "get", "job", s.label(), "--ignore-not-found", "--output=name")
	if err != nil {
		return nil, nil, err
	}
	if there != "" && !s.missing {
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
