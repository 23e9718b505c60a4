package subprocess

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

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
