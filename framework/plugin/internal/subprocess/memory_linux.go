package subprocess

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CanLimitMemory says whether LimitMemory works on this system.
const CanLimitMemory = true

// residentBytes returns how much main memory a process and its descendants hold,
// 0 for a process that has ended. What they share counts once for each.
func residentBytes(pid int) int64 {
	var pages int64
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := strings.Fields(string(statm)); err == nil && len(fields) > 1 {
		pages, _ = strconv.ParseInt(fields[1], 10, 64)
	}
	held := pages * int64(os.Getpagesize())
	for _, child := range children(pid) {
		held += residentBytes(child)
	}
	return held
}

// children returns the processes that a process has started and that live.
func children(pid int) (list []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(text)) {
			if id, err := strconv.Atoi(child); err == nil {
				list = append(list, id)
			}
		}
	}
	return list
}

// raiseOOMScore makes the kernel, when the machine runs out of memory, end a plugin
// and what it starts rather than its host. /proc may be absent.
func raiseOOMScore(pid int) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return
	}
	if score, err := strconv.Atoi(strings.TrimSpace(string(own))); err == nil {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), fmt.Append(nil, min(score+300, 1000)), 0)
	}
}
