package subprocess

import "syscall"

// endWithHost makes the kernel kill the process when its host dies.
func endWithHost(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
