package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// killMarked kills the processes that carry a mark in their environment: those that
// a plugin has started, directly or not, in its process group or not.
func killMarked(mark string) {
	for range 50 {
		found := false
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || !marked(pid, mark) {
				continue
			}
			// FindProcess holds on to the process, so that another one that gets its
			// number cannot be killed in its place.
			if p, err := os.FindProcess(pid); err == nil {
				if marked(pid, mark) {
					_ = p.Kill()
					found = true
				}
				_ = p.Release()
			}
		}
		if !found {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// marked tells whether a process carries a mark.
func marked(pid int, mark string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(environ, []byte(mark))
}
