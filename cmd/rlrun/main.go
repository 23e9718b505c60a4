// Command rlrun runs reinforcement-learning experiments and says when exploring
// is worth it. It is the only place that wires the other packages together, and
// the only one that imports cobra and viper.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/plugins"
)

// Exit statuses, besides those of cli.StatusError.
const (
	exitFailed      = 1   // a run failed, or something outside the user's input
	exitUsage       = 2   // bad usage or a bad config
	exitInterrupted = 130 // Ctrl-C, as shells count it
)

func main() {
	// After SIGQUIT or a fault of the runtime a Go program ends with status 2, which here
	// says that it is of no use to try again. With "crash" it ends by SIGABRT.
	debug.SetTraceback("crash")
	ctx, stop := interruptible(context.Background(), os.Stderr)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	result.Abort()
	os.Exit(status)
}

// interruptible returns a context that the first interrupt or one of stopSignals cancels.
// A second interrupt ends the process at once; further signals do nothing, because
// schedulers send them to every process of a job and again through its script.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, append(stopSignals, os.Interrupt)...)
	go func() {
		for s := range signals {
			switch {
			case ctx.Err() == nil:
				if cli.Width(stderr) > 0 {
					fmt.Fprintln(stderr) // after ^C and a line that shows progress
				}
				fmt.Fprintln(stderr, "rlrun: stopping; interrupt again to stop at once")
				cancel(cli.ErrInterrupted)
			case s == os.Interrupt:
				result.Abort()
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// run executes a command line and returns the exit status. Errors go to stderr,
// a line each.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Output{W: stdout}
	stderr = &cli.Output{W: stderr}
	app := &host.App{Args: args, Bundled: plugins.All, Stderr: stderr}
	defer app.Close()
	root := newRoot(app)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if out.Err != nil {
		err = out.Err
	}
	if err == nil {
		return 0
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.HasPrefix(line, "\t") {
			fmt.Fprintln(stderr, line) // what a plugin wrote last
		} else {
			fmt.Fprintln(stderr, "rlrun: "+line)
		}
	}
	if errors.Is(err, plugin.ErrTimeout) && cmd.Flag("timeout") != nil {
		fmt.Fprintf(stderr, "rlrun: for %q, --timeout sets all these limits\n", cmd.CommandPath())
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		fmt.Fprintln(stderr, "rlrun: raise the limit of open files (ulimit -n, or the system's), or use fewer workers and processes (--workers)")
	}
	return status(err)
}

// status returns the exit status that tells of err.
func status(err error) int {
	var u *cli.UsageError
	var ps config.Problems
	var own *cli.StatusError
	switch {
	case errors.As(err, &own):
		return own.Status
	case errors.Is(err, cli.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &u), errors.As(err, &ps), errors.Is(err, framework.ErrInvalidParams):
		return exitUsage
	}
	return exitFailed
}
