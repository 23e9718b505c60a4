//go:build !linux

package subprocess

import (
	"errors"
	"os"
	"os/exec"
)

// setProcessAttributes leaves the command as it is: see lifeline for how a plugin
// ends with its host everywhere.
func setProcessAttributes(*exec.Cmd) {}

// onMainThread tells nothing that matters here.
func onMainThread() bool { return false }

// sacrifice does nothing: only Linux can be told whom to end first.
func sacrifice(int) {}

// killGroup kills the process.
func killGroup(p *os.Process) error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
