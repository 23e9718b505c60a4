// Package tempfile makes the files that are written in full before they are renamed
// to the file that they replace, and removes those that a killed process left.
//
// Other programs may have files in the output directory, so a left file must prove that
// it is rlrun's. Its name, .NAME.rlrun-MR-C.tmp, ends with digits M of the machine since
// it was started, random digits R and a checksum C of the rest. No other program makes
// such a name. While a file is written, its process holds a lock on it. So a file of this
// machine without a lock is left, and removed at once. Locks may not reach other
// machines. Their files are left if no process has written to them for ten minutes.
package tempfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// age is how old a left file of another machine must be, as others may write beside the
// holder of an output directory's lock: a report.
const age = 10 * time.Minute

// longest is how much of a file's name a temporary one repeats, in bytes, so that
// it is not too long itself.
const longest = 100

// ErrEnding says that the process is about to end.
var ErrEnding = errors.New("rlrun is ending")

// open are the files of this process, with a second descriptor that holds the lock; nil
// where there are no locks.
var open = struct {
	sync.Mutex
	locks  map[string]*os.File
	ending bool
}{locks: map[string]*os.File{}}

// Create makes a file beside the one at path, for its later content, with the rights that
// the umask leaves: some file systems cannot change them afterwards. It never opens
// a file that is there, nor follows a link. Call Done once it is renamed or removed.
func Create(path string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.ending {
		return nil, ErrEnding
	}
	for {
		f, err := create(path)
		if err != nil {
			return nil, err
		}
		lock, err := hold(f)
		if err != nil { // a file system without locks
			open.locks[f.Name()] = nil
			return f, nil
		}
		if still(f) {
			open.locks[f.Name()] = lock
			return f, nil
		}
		lock.Close() // it was removed before it was locked
		f.Close()
	}
}

// still tells whether a file has its name.
func still(f *os.File) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// Done ends the lock of a file of Create.
func Done(name string) {
	open.Lock()
	defer open.Unlock()
	if lock := open.locks[name]; lock != nil {
		lock.Close()
	}
	delete(open.locks, name)
}

// End removes the files that are being written, for the process is about to end.
func End() {
	open.Lock()
	defer open.Unlock()
	open.ending = true
	for name := range open.locks {
		_ = os.Remove(name)
	}
}

// create makes a file of a new name.
func create(path string) (*os.File, error) {
	for {
		random := make([]byte, 4)
		rand.Read(random)
		base := filepath.Base(path)
		if len(base) > longest {
			base = strings.ToValidUTF8(base[:longest], "")
		}
		name := "." + base + ".rlrun-" + machine() + hex.EncodeToString(random)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name+"-"+checksum(name)+".tmp"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

var pattern = regexp.MustCompile(`^(\..+\.rlrun-([0-9a-f]{8})[0-9a-f]{8})-([0-9a-f]{8})\.tmp$`)

// Ours tells whether a file's name is one that Create gives.
func Ours(name string) bool {
	_, ok := madeOn(name)
	return ok
}

// madeOn returns the machine of a file's name, if Create gives such a name.
func madeOn(name string) (machine string, ok bool) {
	parts := pattern.FindStringSubmatch(name)
	if parts == nil || parts[3] != checksum(parts[1]) {
		return "", false
	}
	return parts[2], true
}

// machine is eight hexadecimal digits of this machine since it was started.
var machine = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		id = []byte(name)
	}
	sum := sha256.Sum256(append([]byte("rlrun machine "), id...))
	return hex.EncodeToString(sum[:4])
})

// RemoveLeft removes the files that Create made in a directory and in the directories in
// it, if they are left. It follows no link.
func RemoveLeft(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	removeIn(root, ".")
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.IsDir() {
			removeIn(root, e.Name())
		}
	}
}

func removeIn(root *os.Root, dir string) {
	entries, _ := fs.ReadDir(root.FS(), dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		on, ours := madeOn(e.Name())
		if !e.Type().IsRegular() || !ours {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if time.Since(info.ModTime()) > age || on == machine() && free(root, name) {
			_ = root.Remove(name)
		}
	}
}

// free tells whether no process holds the lock of a file.
func free(root *os.Root, name string) bool {
	f, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	lock, err := hold(f)
	if err != nil {
		return false
	}
	lock.Close()
	return true
}

func checksum(name string) string {
	sum := sha256.Sum256([]byte("rlrun temporary file " + name))
	return hex.EncodeToString(sum[:4])
}
