//go:build unix

package lockfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rlrun/rlrun/internal/lockfile"
	"github.com/rlrun/rlrun/internal/must"
)

// If the lock's name belongs to something that is no lock of rlrun, Take says what
// it is, and changes neither it nor what it leads to. It does not wait.
func TestTakeRefusesForeignFiles(t *testing.T) {
	const thesis = "Chapter 1\n"
	for _, tt := range []struct {
		name string
		make func(path, victim string) error
		want string
	}{
		{"a link", func(path, victim string) error { return os.Symlink(victim, path) }, "a symbolic link"},
		{"a link to a directory", func(path, victim string) error { return os.Symlink(filepath.Dir(victim), path) }, "a symbolic link"},
		{"a link to nothing", func(path, victim string) error { return os.Symlink(victim+".new", path) }, "a symbolic link"},
		{"a hard link", func(path, victim string) error { return os.Link(victim, path) }, ""},
		{"a pipe", func(path, _ string) error { return syscall.Mkfifo(path, 0o666) }, "a named pipe"},
		{"a directory", func(path, _ string) error { return os.Mkdir(path, 0o777) }, "a directory"},
		{"another file", func(path, _ string) error { return os.WriteFile(path, []byte(thesis), 0o666) }, ""},
		{"a long file", func(path, _ string) error {
			return os.WriteFile(path, []byte("process 1 on ada\n"+strings.Repeat("\x00", 2000)), 0o666)
		}, ""},
		{"a file that begins like a lock", func(path, _ string) error {
			return os.WriteFile(path, []byte("process 1 on ada\n"+thesis), 0o666)
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "lock"), filepath.Join(t.TempDir(), "thesis")
			must.Do(t, os.WriteFile(victim, []byte(thesis), 0o666))
			must.Do(t, tt.make(path, victim))
			before, _ := os.Lstat(path)
			_, err := lockfile.Take(path)
			if !errors.Is(err, lockfile.ErrForeign) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || after.ModTime() != before.ModTime() {
				t.Errorf("it was changed: %v", err)
			}
			if data, _ := os.ReadFile(victim); string(data) != thesis {
				t.Errorf("the victim holds %q", data)
			}
			if _, err := os.Lstat(victim + ".new"); err == nil {
				t.Error("a file was made through the link")
			}
		})
	}
}

// A hard link to somebody's lock is no lock either: its other name is elsewhere.
func TestTakeRefusesASecondName(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "lock"), filepath.Join(dir, "other")
	for _, text := range []string{"", "process 1 on ada\n"} {
		must.Do(t, os.WriteFile(other, []byte(text), 0o666))
		os.Remove(path)
		must.Do(t, os.Link(other, path))
		if _, err := lockfile.Take(path); !errors.Is(err, lockfile.ErrForeign) {
			t.Errorf("%q: got %v", text, err)
		}
		if data, _ := os.ReadFile(other); string(data) != text {
			t.Errorf("it holds %q", data)
		}
	}
}

// A lock left by a killed process or a power cut does no harm.
func TestTakeAcceptsLeftLocks(t *testing.T) {
	for _, text := range []string{"", "process 1 on ada\n", "\x00\x00\x00", "process 1 on \n", "process 12 on ada\n\x00"} {
		path := filepath.Join(t.TempDir(), "lock")
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		l, err := lockfile.Take(path)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
}

// Release does not remove a file that has taken the place of the lock.
func TestReleaseLeavesOthersFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := must.Get(lockfile.Take(path))(t)
	must.Do(t, errors.Join(os.Remove(path), os.WriteFile(path, []byte("mine"), 0o666)))
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("it holds %q", data)
	}
}

// Left takes only what a process that is dead has written.
func TestLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	left := func() error {
		f, err := lockfile.Left(path)
		if err == nil {
			f.Close()
		}
		return err
	}
	for text, want := range map[string]error{"": lockfile.ErrForeign, "Chapter 1\n": lockfile.ErrForeign, "process 1 on ada\n": nil} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		if err := left(); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
		if data, _ := os.ReadFile(path); string(data) != text {
			t.Errorf("%q became %q", text, data)
		}
	}
	l, err := lockfile.Take(path)
	if err == nil {
		defer l.Release()
		err = left()
	}
	if err == nil {
		t.Error("a lock that is held was taken")
	}
}
