package plugin_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// What is started is what was digested. The file of a plugin is exchanged between the two, at
// the time at which a slow execve would leave room for it: Check is called then.
func TestWhatIsStartedIsWhatWasDigested(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux starts open files, and tells which program runs")
	}
	const changed = "changed while it was started"
	program := must.Get(os.ReadFile(os.Args[0]))(t)
	script := "#!/bin/sh\nGORACE=atexit_sleep_ms=0 exec " + os.Args[0] + " \"$@\"\n"
	hostile := func(dir string) string {
		return "#!/bin/sh\ntouch " + dir + "/ran\nGORACE=atexit_sleep_ms=0 exec " + os.Args[0] + " \"$@\"\n"
	}
	for name, c := range map[string]struct {
		original string
		exchange func(t *testing.T, dir string) // in the middle
		after    func(t *testing.T, dir string) // when the process has begun
		mayRun   bool                           // the hostile program, until it is refused
		want     string                         // error; empty: the original is started
	}{
		"another program of its name": {original: string(program), want: changed,
			exchange: func(t *testing.T, dir string) {
				must.Do(t, os.Rename(dir+"/hostile/plugin", dir+"/bin/plugin"))
			}},
		"other content": {original: string(program), want: changed, mayRun: true,
			exchange: func(t *testing.T, dir string) {
				must.Do(t, os.WriteFile(dir+"/bin/plugin", []byte(hostile(dir)), 0o755))
			}},
		"another directory of its name, for a while": {original: string(program),
			exchange: func(t *testing.T, dir string) {
				must.Do(t, errors.Join(os.Rename(dir+"/bin", dir+"/kept"), os.Rename(dir+"/hostile", dir+"/bin")))
			},
			after: func(t *testing.T, dir string) {
				must.Do(t, errors.Join(os.Rename(dir+"/bin", dir+"/hostile"), os.Rename(dir+"/kept", dir+"/bin")))
			}},
		"another script, for a while": {original: script, want: changed, mayRun: true,
			exchange: func(t *testing.T, dir string) {
				must.Do(t, errors.Join(os.Rename(dir+"/bin/plugin", dir+"/kept"), os.Rename(dir+"/hostile/plugin", dir+"/bin/plugin")))
			},
			after: func(t *testing.T, dir string) { must.Do(t, os.Rename(dir+"/kept", dir+"/bin/plugin")) }},
		"nothing": {original: string(program), exchange: func(*testing.T, string) {}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for at, text := range map[string]string{"bin": c.original, "hostile": hostile(dir)} {
				must.Do(t, errors.Join(os.Mkdir(filepath.Join(dir, at), 0o755), os.WriteFile(filepath.Join(dir, at, "plugin"), []byte(text), 0o755)))
			}
			log := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: writerFunc(func(line []byte) {
				if c.after != nil && bytes.Contains(line, []byte("waiting for RPC address")) {
					c.after(t, dir)
				}
			})})
			p, err := plugin.Launch(t.Context(), plugin.LaunchConfig{
				Command: dir + "/bin/plugin", Args: []string{"serve-environment"}, Env: []string{"GORACE=atexit_sleep_ms=0"},
				Check:  func(map[string]string) error { c.exchange(t, dir); return nil },
				Logger: log,
			})
			if err == nil {
				t.Cleanup(func() { _ = p.Close() })
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Stat(dir + "/ran"); err == nil && !c.mayRun {
				t.Error("the hostile program has run")
			}
		})
	}
}

// Of a script the interpreter counts, and of a program that becomes another one, the other.
func TestTheProgramThatRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which program runs")
	}
	script := filepath.Join(t.TempDir(), "rlrun-plugin-wrapped")
	must.Do(t, os.WriteFile(script, []byte("#!/bin/sh\nGORACE=atexit_sleep_ms=0 exec "+os.Args[0]+" \"$@\"\n"), 0o755))
	launched := func(command string) map[string]string {
		p := must.Get(plugin.Launch(t.Context(), plugin.LaunchConfig{Command: command, Args: []string{"serve-environment"}, Env: []string{"GORACE=atexit_sleep_ms=0"}}))(t)
		defer p.Close()
		return p.Digests()
	}
	digests := launched(script)
	want := must.Get(plugin.Found{Command: os.Args[0]}.Digests())(t)
	name := filepath.Base(os.Args[0])
	if len(digests) != 2 || digests["process "+name] != want[name] {
		t.Errorf("got %v, want the script and the program %s %s", digests, name, want[name])
	}
	if own := launched(os.Args[0]); len(own) != 1 || own[name] != want[name] {
		t.Errorf("got %v, want %v", own, want)
	}
}
