package outside

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rlrun/rlrun/internal/must"
)

// rlrun is the program, built once.
var rlrun = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rlrun-tests")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "rlrun")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/rlrun")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	return program, cmd.Run()
})

func TestMain(m *testing.M) {
	status := m.Run()
	if program, err := rlrun(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(status)
}

// command runs rlrun in a directory and returns what it prints.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(must.Get(rlrun())(t), args...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("rlrun %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// The page of rlrun serve changes by itself when records come.
func TestServe(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "exp.yaml"), []byte(`{name: served, runs: 30, steps: 50,
  environments: [{plugin: riverswim}], agents: [{plugin: q-learning}, {plugin: psrl}], compare: {metric: reward}}`), 0o600))
	command(t, dir, "run", "exp.yaml", "--out", "results", "--shard", "0/2", "--quiet")
	cmd := exec.Command(must.Get(rlrun())(t), "serve", "--json", "--addr", "127.0.0.1:0", "results")
	cmd.Dir = dir
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	var answer struct{ URL string }
	must.Do(t, json.NewDecoder(out).Decode(&answer))
	base, _, _ := strings.Cut(answer.URL, "?")
	ctx := browser(t, base)
	must.Do(t, chromedp.Run(ctx, chromedp.EmulateViewport(1400, 900), chromedp.Navigate(answer.URL), chromedp.WaitVisible("#scores figure svg"),
		chromedp.Poll(`document.querySelector("#live").textContent === "unfinished"`, nil)))
	command(t, dir, "run", "exp.yaml", "--out", "results", "--shard", "1/2", "--quiet")
	must.Do(t, chromedp.Run(ctx, chromedp.Poll(`document.querySelector("#live").textContent === "finished" && document.querySelectorAll("#comparison-table tbody tr").length === 1`, nil)))
}
