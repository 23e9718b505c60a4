package plugin

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rlrun/rlrun/framework/plugin/internal/subprocess"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
)

// The rules of how a plugin's process ends, docs/protocol.md#the-end.
const (
	IgnoresInterrupts  = "ignores-interrupts"   // SIGINT of a terminal and SIGTERM of a scheduler are the host's to handle
	EndsWhenTold       = "ends-when-told"       // Shutdown ends the process in good order
	EndsWithConnection = "ends-with-connection" // so does the end of its last connection
	EndsWithParent     = "ends-with-parent"     // so does that of its parent, also before a host has connected
)

// EndFault is a broken rule of how a process ends.
type EndFault struct {
	Rule string // that was broken
	Err  error  // how it was broken
}

// Error names the rule.
func (f *EndFault) Error() string { return f.Rule + ": " + f.Err.Error() }

// Unwrap returns how the rule was broken.
func (f *EndFault) Unwrap() error { return f.Err }

// CheckEnds starts a plugin's process several times and checks how it ends. The faults
// are *EndFault values. err says that the check itself failed. A process may live on for
// o.CloseTimeout when it should have ended; by default 20 s, as the machine may be busy.
// On systems without signals it checks nothing.
func CheckEnds(ctx context.Context, o LaunchConfig) (faults []error, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 20*time.Second)
	o = o.withDefaults()
	for _, check := range []struct {
		rule string
		try  func(context.Context, LaunchConfig) (error, error)
	}{{IgnoresInterrupts, ignoresInterrupts}, {EndsWhenTold, endsWhenTold}, {EndsWithConnection, endsWithConnection}, {EndsWithParent, endsWithParent}} {
		fault, err := check.try(ctx, o)
		if err != nil {
			return faults, err
		}
		if fault != nil {
			faults = append(faults, &EndFault{check.rule, fault})
		}
	}
	return faults, nil
}

func ignoresInterrupts(ctx context.Context, o LaunchConfig) (fault, err error) {
	p, err := Launch(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	process, err := os.FindProcess(p.Pid())
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		signal os.Signal
		name   string
	}{{os.Interrupt, "SIGINT"}, {syscall.SIGTERM, "SIGTERM"}} {
		if err := process.Signal(s.signal); err != nil {
			return nil, err
		}
		select {
		case <-p.sub.Done():
			return fmt.Errorf("%s ended it (%s): ignore the signal, the host handles it; a script that starts the plugin should do so by exec", s.name, p.sub.Ending()), nil
		case <-time.After(time.Second / 2):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if _, err := p.describe(ctx); err != nil {
			return fmt.Errorf("after %s it does not answer: ignore the signal, the host handles it: %w", s.name, err), nil
		}
	}
	return nil, nil
}

func endsWhenTold(ctx context.Context, o LaunchConfig) (fault, err error) {
	p, err := Launch(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	// The connection may break before the answer is there.
	_ = p.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	return livesOn(ctx, p, o.CloseTimeout, "it was told to (plugin.GRPCController/Shutdown): end the process then")
}

// livesOn waits for the end of a process after something that should end it.
func livesOn(ctx context.Context, p *Process, patience time.Duration, after string) (fault, err error) {
	select {
	case <-p.sub.Done():
		return nil, nil
	case <-time.After(patience):
		return fmt.Errorf("it lives on %v after %s", patience, after), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func endsWithConnection(ctx context.Context, o LaunchConfig) (fault, err error) {
	p, err := Launch(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.conn.Close(); err != nil {
		return nil, err
	}
	return livesOn(ctx, p, o.CloseTimeout, "its only connection ended: end the process when the last connection does")
}

// endsWithParent starts the process under a shell that is killed before anybody has
// connected.
func endsWithParent(ctx context.Context, o LaunchConfig) (fault, err error) {
	directory, err := socketDir()
	if err != nil {
		return nil, err
	}
	defer removeSocketDir(directory)
	_, certificate, err := clientTLS()
	if err != nil {
		return nil, err
	}
	cookie := wire.Handshake()
	shell := exec.Command("/bin/sh", append([]string{"-c", `"$@" & echo "rlrun $!"; wait`, "sh", o.Command}, o.Args...)...)
	shell.Env = slices.Concat(inherited(os.Environ()), o.Env, []string{certificate, cookie.MagicCookieKey + "=" + cookie.MagicCookieValue,
		"PLUGIN_PROTOCOL_VERSIONS=" + strconv.Itoa(ProtocolVersion), "PLUGIN_UNIX_SOCKET_DIR=" + directory})
	out, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = shell.Process.Kill()
		_ = out.Close() // Wait would wait for the plugin
		_ = shell.Wait()
	}()
	pid, ready := 0, make(chan struct{})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	go func() {
		defer close(ready)
		for listens := false; lines.Scan(); {
			if number, ok := strings.CutPrefix(lines.Text(), "rlrun "); ok && pid == 0 {
				pid, _ = strconv.Atoi(number)
			}
			listens = listens || strings.Contains(lines.Text(), "|unix|")
			if listens && pid > 0 {
				return
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(o.StartTimeout):
		return nil, fmt.Errorf("%w within %v of its start under a shell", ErrTimeout, o.StartTimeout)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if pid == 0 {
		return nil, errors.New("the plugin's process did not start under a shell")
	}
	if err := shell.Process.Kill(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(o.CloseTimeout); subprocess.Alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			if process, err := os.FindProcess(pid); err == nil {
				_ = process.Kill()
			}
			return fmt.Errorf("it lives on %v after its parent was killed: compare the parent's process id with that at the start twice a second, and end when it changes; a script that starts the plugin should do so by exec", o.CloseTimeout), nil
		}
	}
	return nil, nil
}
