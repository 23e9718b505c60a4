//go:build !unix

package cli

import "os/exec"

// StopTogether does nothing where there are no process groups.
func StopTogether(*exec.Cmd) {}
