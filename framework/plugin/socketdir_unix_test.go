//go:build unix

package plugin

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// A socket's directory is a new one that only this user can enter, and its path leaves room
// for the name that go-plugin makes, wherever temporary files are.
func TestSocketDir(t *testing.T) {
	short := must.Get(os.MkdirTemp("/tmp", "t"))(t)
	defer os.RemoveAll(short)
	sub := func(length int) string {
		dir := filepath.Join(short, strings.Repeat("x", length-len(short)-1))
		must.Do(t, os.Mkdir(dir, 0o777))
		return dir
	}
	longest, broken, barred := sub(longestParent), filepath.Join(short, "a\nb"), filepath.Join(short, "a|b")
	must.Do(t, errors.Join(os.Mkdir(broken, 0o777), os.Mkdir(barred, 0o777)))
	for temporary, want := range map[string]string{
		short: short, longest + "/": longest, sub(longestParent + 1): "/tmp", "relative": "/tmp", filepath.Join(short, "none"): "/tmp",
		broken: "/tmp", barred: "/tmp",
	} {
		t.Setenv("TMPDIR", temporary)
		dir := must.Get(socketDir())(t)
		defer os.RemoveAll(dir)
		if info := must.Get(os.Lstat(dir))(t); filepath.Dir(dir) != want || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("TMPDIR=%s: %s of mode %v, want it in %s", temporary, dir, info.Mode(), want)
		}
		nested := filepath.Join(dir, "plugin-dir1234567890") // as go-plugin makes it
		must.Do(t, os.Mkdir(nested, 0o700))
		must.Get(net.Listen("unix", filepath.Join(nested, "plugin1234567890")))(t).Close()
	}
}

// The directory goes although too many files are open for a moment: removing it opens one.
func TestRemoveSocketDirWaits(t *testing.T) {
	dir := must.Get(socketDir())(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "lanes"), nil, 0o600))
	var limit syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 3 // standard input, output and error
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	restored := make(chan error)
	time.AfterFunc(50*time.Millisecond, func() { restored <- syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	removed := make(chan bool)
	go func() {
		removeSocketDir(dir)
		removed <- true
	}()
	must.Do(t, <-restored)
	<-removed
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%s is left", dir)
		os.RemoveAll(dir)
	}
}
