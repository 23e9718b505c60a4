//go:build !unix

package subprocess

import (
	"errors"
	"os"
	"os/exec"
)

// setProcessAttributes leaves the command as it is: see lifeline for how a plugin
// ends with its host everywhere.
func setProcessAttributes(*exec.Cmd) {}

// raiseOOMScore does nothing: only Linux lets a process say which one to end first.
func raiseOOMScore(int) {}

// killGroup kills the process.
func killGroup(p *os.Process) error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
