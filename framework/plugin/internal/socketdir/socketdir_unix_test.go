//go:build unix

package socketdir

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// TestMain lets the test binary be a host that makes a directory, says where, and
// waits to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		f, err := Make()
		if err == nil {
			_, err = net.Listen("unix", filepath.Join(f.Path, Socket))
		}
		fmt.Println(f.Path, err)
		time.Sleep(time.Hour)
		f.Remove()
	}
	os.Exit(m.Run())
}

const thesis = "Chapter 1\n"

// temporary makes an empty directory for temporary files and returns it with this
// user's base in it, and a directory with somebody's file.
func temporary(t *testing.T) (dir, base, victim string) {
	t.Helper()
	short := func() string {
		dir := must.Get(os.MkdirTemp("/tmp", "t"))(t)
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	dir, victim = short(), short()
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", "")
	must.Do(t, os.WriteFile(filepath.Join(victim, "thesis"), []byte(thesis), 0o666))
	return dir, filepath.Join(dir, fmt.Sprintf("rlrun-%d", os.Geteuid())), victim
}

// snapshot lists a tree: names, kinds, sizes, contents of files and links.
func snapshot(t *testing.T, dir string) (list []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line := path + " " + e.Type().String()
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(data)
		}
		if e.Type()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(path)
			line += " " + to
		}
		list = append(list, line)
		return nil
	}))
	return list
}

// made makes a directory and checks that it is private, can hold a socket and goes.
func made(t *testing.T) string {
	t.Helper()
	f := must.Get(Make())(t)
	info, err := os.Lstat(f.Path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	nested := filepath.Join(f.Path, "plugin-dir1234567890") // as go-plugin makes it
	must.Do(t, os.Mkdir(nested, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(f.Path, "plugin12"), nil, 0o600))
	l := must.Get(net.Listen("unix", filepath.Join(nested, "plugin1234567890")))(t)
	defer l.Close()
	f.Remove()
	if _, err := os.Lstat(f.Path); err == nil {
		t.Errorf("%s is left", f.Path)
	}
	return f.Path
}

// Foreign files in the directory for temporary files, under names that rlrun uses
// or has used, are left alone and do no harm.
func TestStrangersInTheTemporaryDir(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, attack := range map[string]func(dir, base, victim string) error{
		"a lock that is a link": func(dir, _, victim string) error {
			dir = filepath.Join(dir, "rlrun-evil")
			return first(os.Mkdir(dir, 0o777), os.Symlink(filepath.Join(victim, "thesis"), filepath.Join(dir, "lock")))
		},
		"a lock that is a pipe": func(dir, _, _ string) error {
			dir = filepath.Join(dir, "rlrun-evil")
			return first(os.Mkdir(dir, 0o777), syscall.Mkfifo(filepath.Join(dir, "lock"), 0o666))
		},
		"a directory with an unlocked lock": func(dir, _, _ string) error {
			dir = filepath.Join(dir, "rlrun-results")
			return first(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "lock"), []byte("process 1 on ada\n"), 0o666))
		},
		"an old hidden directory": func(dir, _, _ string) error {
			dir = filepath.Join(dir, ".rlrun-backup")
			return first(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "thesis"), []byte(thesis), 0o666), os.Chtimes(dir, old, old))
		},
		"a link for a base":       func(_, base, victim string) error { return os.Symlink(victim, base) },
		"a file for a base":       func(_, base, _ string) error { return os.WriteFile(base, []byte(thesis), 0o666) },
		"a pipe for a base":       func(_, base, _ string) error { return syscall.Mkfifo(base, 0o666) },
		"a base that others read": func(_, base, victim string) error { return first(os.Mkdir(base, 0o755), stale(base, victim)) },
		"a base that others write": func(_, base, victim string) error {
			return first(os.Mkdir(base, 0o777), os.Chmod(base, 0o777), stale(base, victim))
		},
		"a base in a directory where others can replace it": func(dir, base, victim string) error {
			return first(os.Chmod(dir, 0o777), os.Mkdir(base, 0o700), stale(base, victim))
		},
		"another user's base": func(_, base, victim string) error {
			return first(os.Mkdir(base, 0o700), stale(base, victim), os.Chown(base, 12345, 12345))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, base, victim := temporary(t)
			if err := attack(dir, base, victim); os.IsPermission(err) {
				t.Skip(err) // only root can give directories away
			} else if err != nil {
				t.Fatal(err)
			}
			before := append(snapshot(t, dir), snapshot(t, victim)...)
			path := made(t)
			after := append(snapshot(t, dir), snapshot(t, victim)...)
			if !slices.Equal(before, after) {
				t.Errorf("there was\n%s\nthere is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
			if strings.HasPrefix(path, base+"/") && slices.ContainsFunc(before, func(s string) bool { return strings.HasPrefix(s, base+" ") }) {
				t.Errorf("%s was used", base)
			}
		})
	}
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stale makes a directory in base that looks like one of a dead host.
func stale(base, _ string) error {
	dir := filepath.Join(base, "123")
	return first(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "lock"), []byte("process 1 on ada\n"), 0o666))
}

// Even in the base itself only the leftovers of a dead host are removed.
func TestStrangersInTheBase(t *testing.T) {
	sub := func(base string) string { return filepath.Join(base, "123") }
	file := func(base, name string) string { return filepath.Join(sub(base), name) }
	for name, attack := range map[string]func(base, victim string) error{
		"a link to a directory": func(base, victim string) error {
			return first(os.WriteFile(filepath.Join(victim, "lock"), []byte("process 1 on ada\n"), 0o666), os.Symlink(victim, sub(base)))
		},
		"a pipe": func(base, _ string) error { return syscall.Mkfifo(sub(base), 0o666) },
		"a file": func(base, _ string) error { return os.WriteFile(sub(base), []byte(thesis), 0o666) },
		"a directory without a lock": func(base, _ string) error {
			return first(os.Mkdir(sub(base), 0o700), os.WriteFile(file(base, "thesis"), []byte(thesis), 0o666))
		},
		"a lock that is a link": func(base, victim string) error {
			return first(os.Mkdir(sub(base), 0o700), os.Symlink(filepath.Join(victim, "thesis"), file(base, "lock")))
		},
		"a lock that is a link to a lock": func(base, victim string) error {
			return first(os.Mkdir(sub(base), 0o700), os.WriteFile(filepath.Join(victim, "lock"), []byte("process 1 on ada\n"), 0o666),
				os.Symlink(filepath.Join(victim, "lock"), file(base, "lock")))
		},
		"a lock that is a hard link": func(base, victim string) error {
			return first(os.Mkdir(sub(base), 0o700), os.Link(filepath.Join(victim, "thesis"), file(base, "lock")))
		},
		"a lock that is a pipe": func(base, _ string) error {
			return first(os.Mkdir(sub(base), 0o700), syscall.Mkfifo(file(base, "lock"), 0o666))
		},
		"a lock that is a directory": func(base, _ string) error {
			return first(os.Mkdir(sub(base), 0o700), os.Mkdir(file(base, "lock"), 0o700))
		},
		"a lock of another program": func(base, _ string) error {
			return first(os.Mkdir(sub(base), 0o700), os.WriteFile(file(base, "lock"), []byte("4711\n"), 0o666))
		},
		"a lock beside other files": func(base, victim string) error {
			return first(stale(base, victim), os.WriteFile(file(base, "thesis"), []byte(thesis), 0o666))
		},
		"a lock beside a directory": func(base, victim string) error {
			return first(stale(base, victim), os.Mkdir(file(base, "chapters"), 0o700))
		},
		"a lock beside a directory with a file": func(base, victim string) error {
			return first(stale(base, victim), os.Mkdir(file(base, "plugin-dir1"), 0o700), os.WriteFile(file(base, "plugin-dir1/thesis"), []byte(thesis), 0o666))
		},
		"a lock beside a link": func(base, victim string) error {
			return first(stale(base, victim), os.Symlink(filepath.Join(victim, "thesis"), file(base, "plugin")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, base, victim := temporary(t)
			must.Do(t, os.Mkdir(base, 0o700))
			must.Do(t, attack(base, victim))
			before := append(snapshot(t, dir), snapshot(t, victim)...)
			if path := made(t); !strings.HasPrefix(path, base+"/") {
				t.Errorf("%s is not in the base", path)
			}
			if after := append(snapshot(t, dir), snapshot(t, victim)...); !slices.Equal(before, after) {
				t.Errorf("there was\n%s\nthere is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
}

// The next host removes the directory of a killed host, but not the directory of a living one.
func TestStaleDirs(t *testing.T) {
	_, base, _ := temporary(t)
	hold := func() (*exec.Cmd, string) {
		host := exec.Command(os.Args[0], "hold")
		out, err := host.StdoutPipe()
		must.Do(t, err)
		must.Do(t, host.Start())
		t.Cleanup(func() { host.Process.Kill(); host.Wait() })
		var path, failed string
		if _, err := fmt.Fscan(out, &path, &failed); err != nil || failed != "<nil>" {
			t.Fatal(path, failed, err)
		}
		return host, path
	}
	dead, stale := hold()
	_, live := hold()
	must.Do(t, dead.Process.Kill())
	dead.Wait()
	if got := snapshot(t, base); len(got) != 7 { // the base, and two directories with a lock and a socket
		t.Fatalf("there are %v", got)
	}
	made(t)
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the dead host's directory is left")
	}
	if _, err := os.Lstat(filepath.Join(live, Socket)); err != nil {
		t.Error(err)
	}
}

// The base is in $XDG_RUNTIME_DIR if that is this user's own; long and relative
// names are passed over.
func TestBase(t *testing.T) {
	dir, base, victim := temporary(t)
	in := func(runtime, temporary, want string) {
		t.Helper()
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		t.Setenv("TMPDIR", temporary)
		if got := filepath.Dir(made(t)); got != want {
			t.Errorf("XDG_RUNTIME_DIR=%s TMPDIR=%s: in %s, want %s", runtime, temporary, got, want)
		}
	}
	long := filepath.Join(dir, strings.Repeat("x", maxBase))
	must.Do(t, os.Mkdir(long, 0o700))
	longest := filepath.Join(dir, strings.Repeat("x", maxBase-len(dir)-len("/")-len("/"+filepath.Base(base))))
	must.Do(t, os.Mkdir(longest, 0o700))
	user := filepath.Join("/tmp", filepath.Base(base))
	in(victim, dir, filepath.Join(victim, "rlrun"))
	in(filepath.Join(victim, "none"), dir, base)
	in(".", dir, base)
	in(long, dir, base)
	in("", longest, filepath.Join(longest, filepath.Base(base)))
	in("", long, user)
	in("", "relative", user)
	must.Do(t, os.Chmod(victim, 0o777))
	in(victim, dir, base)
}

// Hosts that start at the same time do not remove each other's directories.
func TestConcurrent(t *testing.T) {
	temporary(t)
	done := make(chan error)
	for range 8 {
		go func() {
			for range 50 {
				f, err := Make()
				if err == nil {
					var l net.Listener
					if l, err = net.Listen("unix", filepath.Join(f.Path, Socket)); err == nil {
						l.Close()
					}
					f.Remove()
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
