//go:build unix

package wire

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Socketpair returns the host's end of a socket and the one that a plugin's process inherits,
// which the host closes when the process has started.
func Socketpair() (host *Socket, plugin *os.File, err error) {
	syscall.ForkLock.RLock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return newSocket(os.NewFile(uintptr(ends[0]), "steps")), os.NewFile(uintptr(ends[1]), "steps"), nil
}

// Greeted tells whether the plugin has said that it reads steps from the socket. It does so
// before it can be called.
func (s *Socket) Greeted() bool {
	var got [headerSize]byte
	n, _, err := syscall.Recvfrom(int(s.file.Fd()), got[:], syscall.MSG_DONTWAIT)
	return err == nil && n == headerSize && got == hello
}

// Inherited returns the plugin's end of the socket, nil if the host has not given one. Programs that
// the plugin starts do not inherit it.
func Inherited() *Socket {
	fd, err := strconv.Atoi(os.Getenv(SocketVariable))
	if err != nil {
		return nil
	}
	os.Unsetenv(SocketVariable)
	if _, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		return nil // something between the host and this process has closed it
	}
	syscall.CloseOnExec(fd)
	s := newSocket(os.NewFile(uintptr(fd), "steps"))
	if _, err := s.file.Write(hello[:]); err != nil {
		fmt.Fprintln(os.Stderr, "the socket for steps:", err)
		return nil
	}
	return s
}

func setTimeouts(fd int, d time.Duration) error {
	t := syscall.NsecToTimeval(max(d, time.Microsecond).Nanoseconds())
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &t); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	return nil
}

func shutdown(fd int) { _ = syscall.Shutdown(fd, syscall.SHUT_RDWR) }
