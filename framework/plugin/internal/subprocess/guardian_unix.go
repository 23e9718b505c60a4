//go:build unix

package subprocess

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guardian is a shell that waits for the end of the host. If the host dies before
// it dismisses the guardian, the guardian kills the remaining processes of one
// plugin. They are found by the control group, the process group and, on Linux,
// the plugin's mark in their environment.
type guardian struct {
	cmd  *exec.Cmd
	host io.WriteCloser // the kernel closes it when the host dies
}

// guardianScript reads the process group, then "over" from a host that dismisses
// it. The arguments are the mark and the directory of the control group.
const guardianScript = `trap "" HUP INT QUIT TERM
read -r group
read -r over && exit
turn=0
while [ $turn -lt 100 ]; do
	turn=$((turn + 1))
	[ -z "$2" ] || echo 1 > "$2/cgroup.kill"
	[ -z "$group" ] || kill -9 "-$group"
	left=$(grep -lF -e "$1" /proc/[0-9]*/environ)
	for file in $left; do
		file=${file#/proc/}
		kill -9 "${file%/environ}"
	done
	if [ -z "$left" ] && { [ -z "$2" ] || rmdir "$2"; }; then exit; fi
	sleep 0.02 || sleep 1
done 2> /dev/null
`

// startGuardian starts a guardian for processes with a mark, and for a control
// group if it has a directory.
func startGuardian(mark, directory string) (*guardian, error) {
	cmd := exec.Command("/bin/sh", "-c", guardianScript, "rlrun-guardian", mark, directory)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal to the host's group or terminal reaches it
	host, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guardian{cmd, host}, nil
}

// guard tells the guardian the process group of the plugin.
func (g *guardian) guard(group int) {
	if g != nil {
		fmt.Fprintln(g.host, group)
	}
}

// dismiss ends the guardian when nothing is left of the plugin.
func (g *guardian) dismiss() {
	if g == nil {
		return
	}
	io.WriteString(g.host, "\nover\n") // the first line, if guard was not called
	g.host.Close()
	_ = g.cmd.Wait()
}
