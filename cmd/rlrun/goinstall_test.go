package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/rlrun/rlrun/internal/must"
)

// A module proxy is all that is needed, without a checkout. go install makes the program,
// and its scaffolds require the version that made them. A plugin that is published as a
// module is installed by name. The proxy is a directory with this source in it.
func TestGoInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles rlrun and a plugin anew; make ci does it")
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go to build with")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("no git to list the source with:", err)
	}
	source := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	cache := must.Get(exec.Command(gotool, "env", "GOMODCACHE").Output())(t)
	s := session{T: t, dir: t.TempDir(), cache: strings.TrimSpace(string(cache))}
	proxy := filepath.Join(s.dir, "proxy")
	bin := filepath.Join(s.dir, "bin")
	s.env = append(os.Environ(), "HOME="+s.dir, "RLRUN_PLUGIN_PATH=", "GOBIN="+bin, "GOMODCACHE="+s.cache, "GOCACHE="+s.goEnv("GOCACHE"),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(s.cache)+"/cache/download,"+s.goEnv("GOPROXY"), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	// A version of its own each time: Go's build cache keeps what it knows of one.
	rlrun := module.Version{Path: "github.com/rlrun/rlrun", Version: fmt.Sprintf("v0.1.0-proxytest.%d", time.Now().UnixNano())}
	s.publish(proxy, rlrun, root, source)
	s.run(s.dir, gotool, "install", rlrun.Path+"/cmd/rlrun@"+rlrun.Version)
	program := filepath.Join(bin, "rlrun")
	if got := s.run(s.dir, program, "version", "--json"); !strings.Contains(got, `"version": "`+rlrun.Version+`"`) {
		t.Errorf("rlrun version says %s", got)
	}

	s.run(s.dir, program, "plugin", "new", "corridor")
	project := filepath.Join(s.dir, "corridor")
	written := must.Get(os.ReadFile(filepath.Join(project, "go.mod")))(t)
	if !bytes.Contains(written, []byte(rlrun.Path+" "+rlrun.Version)) || bytes.Contains(written, []byte("replace")) {
		t.Errorf("the project's go.mod is\n%s", written)
	}
	s.run(project, gotool, "vet", "./...")

	// A project that uses a checkout is made one that requires a release (docs/publishing.md).
	s.run(s.dir, program, "plugin", "new", "local", "--replace", root)
	local := filepath.Join(s.dir, "local")
	s.run(local, gotool, "mod", "edit", "-dropreplace", rlrun.Path, "-droprequire", rlrun.Path)
	s.run(local, gotool, "mod", "tidy")
	released := must.Get(os.ReadFile(filepath.Join(local, "go.mod")))(t)
	if !bytes.Contains(released, []byte(rlrun.Path+" "+rlrun.Version)) || bytes.Contains(released, []byte("replace")) {
		t.Errorf("after go mod tidy the project's go.mod is\n%s", released)
	}

	mine := module.Version{Path: "example.test/ada/rlrun-plugin-corridor", Version: fmt.Sprintf("v1.2.%d", time.Now().UnixNano())}
	written = bytes.Replace(written, []byte("module rlrun-plugin-corridor"), []byte("module "+mine.Path), 1)
	must.Do(t, os.WriteFile(filepath.Join(project, "go.mod"), written, 0o666))
	s.publish(proxy, mine, project, []string{"go.mod", "go.sum", "main.go"})
	s.run(s.dir, gotool, "install", mine.Path+"@"+mine.Version)
	if got := s.run(s.dir, program, "plugin", "list"); !strings.Contains(got, filepath.Join(bin, "rlrun-plugin-corridor")) {
		t.Errorf("the plugin is not listed:\n%s", got)
	}
	s.run(s.dir, program, "plugin", "lock", "corridor")
	if lock, err := os.ReadFile(filepath.Join(s.dir, "rlrun.lock.yaml")); err != nil || !bytes.Contains(lock, []byte("rlrun-plugin-corridor: sha256:")) {
		t.Errorf("the lock file is %s (%v)", lock, err)
	}
	if got := s.run(s.dir, program, "plugin", "inspect", "corridor"); !strings.HasPrefix(got, "me/corridor@0.1, environment\n") {
		t.Errorf("it says of itself %s", got)
	}
}

// session is a user with an own module proxy.
type session struct {
	*testing.T
	dir, cache string
	env        []string
}

func (s session) goEnv(name string) string {
	out := must.Get(exec.Command("go", "env", name).Output())(s)
	return strings.TrimSpace(string(out))
}

// run runs a command that must succeed, and returns what it prints.
func (s session) run(dir, name string, args ...string) string {
	s.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// publish puts a module into a proxy. Go extracts it into the module cache, from which
// it is removed in the end: the cache is the user's own, since another one would mean
// to compile all dependencies.
func (s session) publish(proxy string, m module.Version, root string, names []string) {
	s.Helper()
	forget := func() {
		downloaded := must.Get(filepath.Glob(filepath.Join(s.cache, "cache", "download", filepath.FromSlash(m.Path), "@v", m.Version+".*")))(s)
		for _, path := range append(downloaded, filepath.Join(s.cache, filepath.FromSlash(m.Path)+"@"+m.Version)) {
			if err := os.RemoveAll(path); err != nil {
				s.Error(err)
			}
		}
	}
	forget()
	s.Cleanup(forget)
	var files []zip.File
	for _, name := range names {
		files = append(files, sourceFile{root, name})
	}
	dir := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	must.Do(s, os.MkdirAll(dir, 0o777))
	var archive bytes.Buffer
	must.Do(s, zip.Create(&archive, m, files))
	gomod := must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(s)
	for name, content := range map[string][]byte{
		"list": []byte(m.Version + "\n"), m.Version + ".mod": gomod, m.Version + ".zip": archive.Bytes(),
		m.Version + ".info": []byte(`{"Version": "` + m.Version + `", "Time": "2026-01-01T00:00:00Z"}`),
	} {
		must.Do(s, os.WriteFile(filepath.Join(dir, name), content, 0o666))
	}
}

// sourceFile is a file of a module.
type sourceFile struct{ root, name string }

func (f sourceFile) Path() string                 { return f.name }
func (f sourceFile) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f sourceFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }
