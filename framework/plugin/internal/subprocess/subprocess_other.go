//go:build !unix

package subprocess

import (
	"errors"
	"os"
	"os/exec"
)

// Alive is not known here.
func Alive(int) bool { return false }

// setProcessAttributes leaves the command as it is: see lifeline for how a plugin
// ends with its host everywhere.
func setProcessAttributes(*exec.Cmd) {}

// guardGroup and dismissGroup do nothing: a plugin ends with its host, what it has started
// does not.
func guardGroup(int)   {}
func dismissGroup(int) {}

// wasKilled tells whether a process ended by a kill, which cannot be told here.
func wasKilled(*os.ProcessState) bool { return false }

// killGroup kills the process.
func killGroup(p *os.Process) error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
