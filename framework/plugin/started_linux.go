package plugin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// seesPrograms says whether openProgram works on this system.
const seesPrograms = true

// openProgram opens the program that runs in a process, whatever its file is called now, and
// returns its name.
func openProgram(pid int) (*os.File, string, error) {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	path, err := os.Readlink(link)
	if err != nil {
		if _, none := os.Stat("/proc/self/exe"); none != nil {
			err = syscall.ENOTSUP // there is no /proc
		}
		return nil, "", err
	}
	f, err := os.Open(link)
	return f, filepath.Base(strings.TrimSuffix(path, " (deleted)")), err
}

// changeTime is when a file was last changed or renamed. No program can set it.
func changeTime(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}

// asLink makes a link in a directory by which a process can be started from an open file:
// from this very file, whatever its path leads to by then. It returns "" where that is not
// possible. Without a file it is this program's own.
func asLink(directory, name string, file *os.File) string {
	target := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if file != nil {
		target = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
	}
	link := filepath.Join(directory, name)
	if os.Symlink(target, link) != nil {
		return ""
	}
	there, err := os.Stat(link)
	if err != nil {
		return ""
	}
	if file != nil {
		if here, err := file.Stat(); err != nil || !os.SameFile(here, there) {
			return ""
		}
	}
	return link
}
