//go:build !unix

package submitcmd

import "os/exec"

// stopTogether does nothing where there is no GNU parallel.
func stopTogether(*exec.Cmd) {}
