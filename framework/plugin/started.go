package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlrun/rlrun/internal/inputfile"
)

// startFiles are the files that a process is started from: the executable first, the Python
// of a virtual environment that its first line names, and the arguments that are files. They
// stay open, so that what is started is what was digested.
type startFiles []startFile

type startFile struct {
	name, path string
	file       *os.File
	info       fs.FileInfo
	digest     string
	opened     time.Time
	head       []byte // of its content, with the first line of a script
}

// openStart opens and digests the files of a command. The caller closes them.
func openStart(command string, args []string) (files startFiles, err error) {
	defer func() {
		if err != nil {
			files.close()
		}
	}()
	if err := files.add(filepath.Base(command), command); err != nil {
		return files, err
	}
	if python := files[0].python(); python != "" {
		if err := files.add(filepath.Base(python), python); err != nil {
			return files, err
		}
	}
	for _, arg := range args {
		path := arg
		if _, value, ok := strings.Cut(arg, "="); ok && !isFile(arg) {
			path = value // as in --map=small.txt
		}
		if isFile(path) {
			if err := files.add(arg, path); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

func (files *startFiles) add(name, path string) error {
	f := startFile{name: name, path: path, opened: time.Now()}
	var err error
	if f.file, err = os.Open(path); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, inputfile.Cause(err))
	}
	if f.info, err = f.file.Stat(); err == nil {
		err = f.read()
	}
	if err != nil {
		f.file.Close()
		return fmt.Errorf("cannot read %s: %w", path, inputfile.Cause(err))
	}
	*files = append(*files, f)
	return nil
}

// longestLine is how much of a first line is looked at: Linux reads 256 bytes of it.
const longestLine = 4096

// read digests the file from its beginning. The digest of a script leaves out the directory
// of a virtual environment that its first line names.
func (f *startFile) read() error {
	content := io.NewSectionReader(f.file, 0, 1<<62)
	head := make([]byte, longestLine)
	n, err := io.ReadFull(content, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	f.head = head[:n]
	h := sha256.New()
	line, rest := f.head, []byte(nil)
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line, rest = line[:end], line[end:]
	}
	if python := f.python(); python != "" {
		line = bytes.Replace(line, []byte(python), []byte(filepath.Base(python)), 1)
	}
	h.Write(line)
	h.Write(rest)
	if _, err := io.Copy(h, content); err != nil {
		return err
	}
	f.digest = digestKind + hex.EncodeToString(h.Sum(nil))
	return nil
}

// python is the Python of a virtual environment that the first line of a script names, if
// the file is such a script.
func (f *startFile) python() string {
	line, ok := strings.CutPrefix(string(f.head), "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) > 0 && isFile(filepath.Join(filepath.Dir(filepath.Dir(words[0])), "pyvenv.cfg")) {
		return words[0]
	}
	return ""
}

func (files startFiles) close() {
	for _, f := range files {
		f.file.Close() // it was only read
	}
}

func (files startFiles) digests() map[string]string {
	digests := map[string]string{}
	for _, f := range files {
		digests[f.name] = f.digest
	}
	return digests
}

// binary says whether the executable is one that the system can start by a descriptor. A
// script's interpreter needs the script's path.
func (files startFiles) binary() bool { return bytes.HasPrefix(files[0].head, []byte("\x7fELF")) }

// fresh is the age up to which a file's time of change says little: two changes within a
// tick of a file system's clock have one time.
const fresh = 2 * time.Second

// unchanged returns an error if one of the files is not what it was when it was opened.
func (files startFiles) unchanged() error {
	for _, f := range files {
		now, err := os.Stat(f.path)
		changed := err != nil || !os.SameFile(now, f.info) || now.Size() != f.info.Size() ||
			!now.ModTime().Equal(f.info.ModTime()) || !changeTime(now).Equal(changeTime(f.info))
		if !changed && f.opened.Sub(changeTime(now)) < fresh {
			again := startFile{file: f.file}
			err := again.read()
			changed = err != nil || again.digest != f.digest
		}
		if changed {
			return fmt.Errorf("%s changed while it was started: start it again", f.path)
		}
	}
	return nil
}

// confirm returns the digests of what a process that has begun to serve is made of: the
// files, which must not have changed since they were opened, and the program that runs if it
// is none of them.
func (files startFiles) confirm(pid int) (map[string]string, error) {
	digests := files.digests()
	if len(files) == 0 {
		return digests, nil
	}
	if err := files.unchanged(); err != nil {
		return nil, err
	}
	name, digest, err := files.program(pid)
	if name != "" {
		digests[name] = digest
	}
	return digests, err
}

// program returns the name and digest of the program that runs in a process, unless it is
// one of the files.
func (files startFiles) program(pid int) (name, digest string, err error) {
	f, name, err := openProgram(pid)
	if errors.Is(err, errors.ErrUnsupported) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot see which program runs in the process %d: %w", pid, inputfile.Cause(err))
	}
	runs := startFile{file: f}
	defer f.Close()
	if err := runs.read(); err != nil {
		return "", "", fmt.Errorf("cannot read %s, which runs in the process %d: %w", name, pid, inputfile.Cause(err))
	}
	for _, f := range files {
		if f.digest == runs.digest {
			return "", "", nil
		}
	}
	return ofProcess + name, runs.digest, nil
}
