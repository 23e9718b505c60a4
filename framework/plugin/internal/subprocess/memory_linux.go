package subprocess

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const canLimitMemory = true

// residentBytes returns how much main memory a process and its descendants hold,
// 0 for a process that has ended. What they share counts once for each.
func residentBytes(pid int) int64 {
	var pages int64
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := strings.Fields(string(statm)); err == nil && len(fields) > 1 {
		pages, _ = strconv.ParseInt(fields[1], 10, 64)
	}
	held := pages * int64(os.Getpagesize())
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range lists {
		children, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				held += residentBytes(id)
			}
		}
	}
	return held
}
