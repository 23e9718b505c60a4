// Package inputfile opens files that somebody else may have written: only regular files,
// and only up to a stated size. A named pipe would block for ever, and a device such as
// /dev/zero has no end.
package inputfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Sizes that are generous for what people write and for what rlrun writes.
const (
	MiB = 1 << 20
	GiB = 1 << 30
)

var (
	// ErrNotRegular: a named pipe, a device, a socket or a directory.
	ErrNotRegular = errors.New("is no regular file")
	// ErrTooLarge: the file is larger than the caller reads.
	ErrTooLarge = errors.New("is larger than")
)

// Open opens a regular file of at most so many bytes. Reading more than that, from a file
// that grows, is an error. Errors name the path as those of os.Open do; they wrap
// ErrNotRegular, ErrTooLarge or what the system says.
func Open(path string, most int64) (io.ReadCloser, error) {
	fail := func(err error) (io.ReadCloser, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !inherited(path, info) {
		return fail(notRegular(info.Mode()))
	}
	if info.Size() > most {
		return fail(tooLarge(most))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &bounded{f, f, path, most, most}, nil
}

// Read reads a file as Open opens it.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// SHA256 returns the hexadecimal digest of a regular file of any size.
func SHA256(path string) (string, error) {
	f, err := Open(path, 1<<62)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Limit returns a reader whose Read fails once r has given more than most bytes, as the
// standard input may.
func Limit(r io.Reader, most int64) io.Reader {
	return &bounded{r: r, name: "the standard input", most: most, left: most}
}

type bounded struct {
	r          io.Reader
	c          io.Closer
	name       string
	most, left int64
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err = b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &fs.PathError{Op: "read", Path: b.name, Err: tooLarge(b.most)}
	}
	return n, err
}

func (b *bounded) Close() error { return b.c.Close() }

func tooLarge(most int64) error {
	switch {
	case most >= GiB:
		return fmt.Errorf("%w %d GiB", ErrTooLarge, most/GiB)
	case most >= MiB:
		return fmt.Errorf("%w %d MiB", ErrTooLarge, most/MiB)
	}
	return fmt.Errorf("%w %d bytes", ErrTooLarge, most)
}

// inherited says that path stands for a pipe that the shell has opened for this process:
// its standard input, or the output of a command in <(…).
func inherited(path string, info fs.FileInfo) bool {
	return info.Mode()&fs.ModeNamedPipe != 0 && (path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/"))
}

func notRegular(m fs.FileMode) error {
	what := "something else"
	switch {
	case m.IsDir():
		return &directory{}
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%w but %s", ErrNotRegular, what)
}

// directory is an ErrNotRegular in the system's words.
type directory struct{}

func (*directory) Error() string { return "is a directory" }
func (*directory) Unwrap() error { return ErrNotRegular }

// Cause returns what an error of the os package wraps, without operation and path; any other error
// as it is.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
