package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework/plugin/internal/subprocess"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
)

// LaunchConfig says what to start and how patient to be with it.
type LaunchConfig struct {
	// Name is what errors call the plugin. Default: the command's last element.
	Name string
	// Command is the executable: a path, or a name looked up in $PATH. Args are
	// its arguments.
	Command string
	Args    []string // arguments of the program
	// Self says that the program is the running one. Then on Linux the process is started
	// from it even if its file has been replaced, and nothing is digested.
	Self bool
	// Check, if not nil, is called with the digests of the files that the process is about to
	// be started from (Found.Digests). With an error, which Launch returns, nothing is started.
	Check func(files map[string]string) error
	// CheckSources, if not nil, is called with every answer of Process.Sources, which returns
	// its error.
	CheckSources func(sources map[string]string) error
	// Env holds further environment variables, NAME=value. A plugin inherits only a list
	// of them (PATH, HOME, locale, those of Python, the dynamic linker, CUDA, NVIDIA, JAX
	// and XLA): parameters go through the protocol.
	Env []string
	// Guest, if not empty, is an environment of Gymnasium that the process of an agent in Python
	// has besides: see Process.Guest.
	Guest string
	// StartTimeout bounds the time from the start to the plugin's description.
	// Default: 30 s.
	StartTimeout time.Duration
	// OpenTimeout bounds opening an environment or agent, which may have to compile.
	// Default: 5 min.
	OpenTimeout time.Duration
	// CallTimeout bounds every later call; a plugin that exceeds it is killed.
	// Default: 30 s.
	CallTimeout time.Duration
	// CloseTimeout is how long the process may take to end in good order before
	// it is killed. Default: 2 s.
	CloseTimeout time.Duration
	// StderrLines is how many of the last lines of the plugin's standard error
	// its errors show. Default: 20.
	StderrLines int
	// Logger gets what the plugin writes to its standard error (at debug level,
	// unless the line is an hclog record) and go-plugin's own messages. Default:
	// none.
	Logger hclog.Logger
}

func (o LaunchConfig) withDefaults() LaunchConfig {
	o.Name = cmp.Or(o.Name, filepath.Base(o.Command))
	o.StartTimeout = cmp.Or(max(o.StartTimeout, 0), 30*time.Second)
	o.OpenTimeout = cmp.Or(max(o.OpenTimeout, 0), 5*time.Minute)
	o.CallTimeout = cmp.Or(max(o.CallTimeout, 0), 30*time.Second)
	o.CloseTimeout = cmp.Or(max(o.CloseTimeout, 0), 2*time.Second)
	o.StderrLines = cmp.Or(max(o.StderrLines, 0), 20)
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return o
}

// Launch starts a plugin's process and asks it what it is. ctx bounds the start
// alone. The caller closes the process.
func Launch(ctx context.Context, options LaunchConfig) (*Process, error) {
	o := options.withDefaults()
	t := subprocess.NewTail(o.StderrLines)
	fail := func(err error) (*Process, error) {
		var started *fs.PathError
		if errors.As(err, &started) && started.Op == "fork/exec" {
			started.Path = o.Command // it may be a link to it
		}
		if errors.Is(err, syscall.ENOEXEC) {
			err = fmt.Errorf("%w: it is no program for %s/%s, and no script whose first line names its interpreter, such as #!/usr/bin/env python3", err, runtime.GOOS, runtime.GOARCH)
		}
		return nil, &Error{Plugin: o.Name, Err: fmt.Errorf("cannot start %s: %w", o.Command, err), Stderr: t.Last()}
	}
	path, err := exec.LookPath(o.Command)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return fail(errors.Unwrap(err))
	}
	var files startFiles
	if !o.Self {
		if files, err = openStart(path, o.Args); err != nil {
			return fail(err)
		}
		defer files.close()
		if o.Check != nil {
			if err := o.Check(files.digests()); err != nil {
				return nil, err
			}
		}
	}
	directory, err := socketDir()
	if err != nil {
		return fail(err)
	}
	defer removeSocketDir(directory) // once connected, nobody needs it
	secure, certificate, err := clientTLS()
	if err != nil {
		return fail(err)
	}
	cmd := exec.Command(path, o.Args...)
	switch { // what is started is what was digested
	case o.Self:
		cmd.Path = cmp.Or(asLink(directory, filepath.Base(path), nil), path)
	case files.binary():
		cmd.Path = cmp.Or(asLink(directory, filepath.Base(path), files[0].file), path)
	}
	socket, theirs, err := wire.Socketpair()
	if err != nil {
		return fail(err)
	}
	var given []string
	kept := false
	if socket != nil {
		defer theirs.Close()
		defer func() {
			if !kept {
				socket.Close()
			}
		}()
		cmd.ExtraFiles = []*os.File{theirs}
		given = []string{wire.SocketVariable + "=3"}
	}
	if o.Guest != "" {
		given = append(given, "RLRUN_GUEST="+o.Guest)
	}
	sub := subprocess.New(cmd, t)
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: wire.Versions(ProtocolVersion, nil),
		RunnerFunc: func(_ hclog.Logger, c *exec.Cmd, _ string) (runner.Runner, error) {
			cmd.Env = slices.Concat(inherited(os.Environ()), given, o.Env, c.Env, []string{certificate})
			return sub, nil
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: directory},
		TLSConfig:        secure,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     math.MaxInt64, // the watchdog below has the limit
		SyncStdout:       t.Stream(),
		SyncStderr:       t.Stream(),
		Logger:           o.Logger,
		GRPCDialOptions:  wire.DialOptions(),
	})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer newWatchdog(o.StartTimeout, func() {
		cancel(fmt.Errorf("%w within %v of its start; limits.start allows more", ErrTimeout, o.StartTimeout))
	}).stop()
	stop := context.AfterFunc(ctx, func() { _ = sub.Kill(ctx) })
	p, err := connect(ctx, o, client, sub, t)
	if err == nil && socket != nil && socket.Greeted() {
		kept = true
		err = p.stepOver(socket)
	}
	if err == nil {
		if err = checkRequires(p.description.Requires, Release); err == nil {
			p.digests, err = files.confirm(sub.Pid())
		}
		if err != nil && subprocess.Alive(sub.Pid()) {
			client.Kill()
			return fail(err)
		}
	}
	if err == nil && stop() {
		return p, nil
	}
	err = diagnose(ctx, sub, err)
	client.Kill()
	return fail(err)
}

// longestParent is the length of the longest directory that can hold a socketDir, in bytes. A
// socket's name has at most 103 bytes (macOS): the parent, the directory (17), go-plugin's
// directory in it (21), and the socket (17).
const longestParent = 48

// unsaid are characters that the line of the handshake, which names the socket, cannot hold.
const unsaid = "|\r\n"

// socketDir makes a directory for a socket: a new one, that only this user can enter. It is
// in the directory for temporary files, or in /tmp where that is of no use. The caller
// removes it.
func socketDir() (string, error) {
	err := errors.New("the path of the directory for temporary files is relative or too long, or has a line break or a bar")
	for _, parent := range []string{filepath.Clean(os.TempDir()), "/tmp"} {
		if !filepath.IsAbs(parent) || strings.ContainsAny(parent, unsaid) || len(parent) > longestParent && runtime.GOOS != "windows" {
			continue
		}
		var dir string
		if dir, err = os.MkdirTemp(parent, "rlrun-"); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no directory for a socket: %w", err)
}

// removeSocketDir removes it. This opens a file, so that it waits, up to a second, for others to
// be closed if too many are open.
func removeSocketDir(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// connect starts the process and asks it what it is.
func connect(ctx context.Context, o LaunchConfig, client *goplugin.Client, sub *subprocess.Subprocess, t *subprocess.Tail) (*Process, error) {
	protocol, err := client.Client()
	if err != nil {
		return nil, err
	}
	service, err := protocol.Dispense(wire.Name)
	if err != nil {
		return nil, err
	}
	p := newProcess(o, service.(*grpc.ClientConn), t)
	p.sub, p.stop = sub, client.Kill
	p.conn = protocol.(*goplugin.GRPCClient).Conn // the only protocol that is allowed
	go p.watch()
	p.description, err = p.describe(ctx)
	return p, err
}

// diagnose ends a process that failed to start and says why it did: err is what
// the attempt reported.
func diagnose(ctx context.Context, s *subprocess.Subprocess, err error) error {
	died := false
	select {
	case <-s.Done():
		died = s.Pid() > 0 && !s.Killed() // go-plugin kills what it refuses
	case <-ctx.Done():
	case <-time.After(exitTimeout):
	}
	if killErr := s.Kill(ctx); killErr != nil {
		err = errors.Join(err, killErr)
	}
	select {
	case v := <-s.Version():
		if v != strconv.Itoa(ProtocolVersion) {
			return fmt.Errorf("it speaks version %s of the plugin protocol, this rlrun version %d: build it with a matching SDK", v, ProtocolVersion)
		}
	default:
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if died {
		served := ""
		if s.Ending() == "exit status 0" {
			served = "; it served no plugin, as plugin.ServeEnvironment in Go and rlrun.serve in Python do"
		}
		return fmt.Errorf("%w before it answered (%s)%s", ErrDied, s.Ending(), served)
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// inherited picks from the host's environment what programs need to run. Two variables have
// values of ours unless the host's environment sets them. PYTHONHASHSEED is 0: otherwise the
// order of a set of texts, and with it results, would differ between two processes of Python.
// OMP_NUM_THREADS is 1: by default libraries such as PyTorch and OpenBLAS take a thread for
// every core in each of the processes that share the cores. Then they wait for each other, and
// sums depend on the number of cores.
func inherited(environ []string) []string {
	names := []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SHELL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV",
		"GOMAXPROCS", "GORACE", "GOTRACEBACK", "GOCOVERDIR", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
	}
	prefixes := []string{"LC_", "XDG_", "PYTHON", "CONDA_", "JULIA_", "CUDA_", "NVIDIA_", "JAX_", "XLA_", "MUJOCO_", "PYOPENGL_", "SDL_",
		"OMP_", "MKL_", "OPENBLAS_", "CUBLAS_", "TORCH", "PYTORCH_"}
	kept := []string{"PYTHONHASHSEED=0", "OMP_NUM_THREADS=1"}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(names, name) || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			kept = append(kept, entry)
		}
	}
	return kept
}
