//go:build !linux

package subprocess

import (
	"errors"
	"os/exec"
)

// group is a control group. This system has none.
type group struct{}

func newGroup(int64) (*group, error) { return nil, errors.New("there are no control groups") }

func (*group) start(*exec.Cmd) error { return errors.ErrUnsupported }
func (*group) exceeded() bool        { return false }
func (*group) directory() string     { return "" }
func (*group) kill()                 {}
func (*group) remove()               {}
