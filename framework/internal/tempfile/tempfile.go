// Package tempfile makes the files that are written in full before they are renamed
// to the file that they replace, and removes those that a killed process left.
//
// Other programs may have files in the output directory, so a left file must prove that
// it is rlrun's. Its name, .NAME.rlrun-R-C.tmp, ends with random digits R and a checksum C
// of the rest. No other program makes such a name. A file is left if no process has
// written to it for ten minutes: another command, such as a report, may write beside the
// holder of an output directory's lock.
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

// age is how old a left file must be.
const age = 10 * time.Minute

// longest is how much of a file's name a temporary one repeats, in bytes, so that
// it is not too long itself.
const longest = 100

// ErrEnding says that the process is about to end.
var ErrEnding = errors.New("rlrun is ending")

// open are the names of the files of this process.
var open = struct {
	sync.Mutex
	names  map[string]bool
	ending bool
}{names: map[string]bool{}}

// Create makes a file beside the one at path, for its later content, with the rights that
// the umask leaves: some file systems cannot change them afterwards. It never opens
// a file that is there, nor follows a link. Call Done once it is renamed or removed.
func Create(path string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.ending {
		return nil, ErrEnding
	}
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	open.names[f.Name()] = true
	return f, nil
}

// Done forgets a file of Create.
func Done(name string) {
	open.Lock()
	defer open.Unlock()
	delete(open.names, name)
}

// End removes the files that are being written, for the process is about to end.
func End() {
	open.Lock()
	defer open.Unlock()
	open.ending = true
	for name := range open.names {
		_ = os.Remove(name)
	}
}

// create makes a file of a new name.
func create(path string) (*os.File, error) {
	for {
		random := make([]byte, 8)
		rand.Read(random)
		base := filepath.Base(path)
		if len(base) > longest {
			base = strings.ToValidUTF8(base[:longest], "")
		}
		name := "." + base + ".rlrun-" + hex.EncodeToString(random)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name+"-"+checksum(name)+".tmp"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

var pattern = regexp.MustCompile(`^(\..+\.rlrun-[0-9a-f]{16})-([0-9a-f]{8})\.tmp$`)

// Ours tells whether a file's name is one that Create gives.
func Ours(name string) bool {
	parts := pattern.FindStringSubmatch(name)
	return parts != nil && parts[2] == checksum(parts[1])
}

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
		if !e.Type().IsRegular() || !Ours(e.Name()) {
			continue
		}
		info, err := root.Lstat(name)
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age {
			_ = root.Remove(name)
		}
	}
}

func checksum(name string) string {
	sum := sha256.Sum256([]byte("rlrun temporary file " + name))
	return hex.EncodeToString(sum[:4])
}
