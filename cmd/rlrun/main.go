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
	"strings"
	"syscall"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins"
)

// Exit statuses.
const (
	exitFailed      = 1   // a run failed, or something outside the user's input
	exitUsage       = 2   // bad usage or a bad config
	exitInterrupted = 130 // Ctrl-C, as shells count it
)

func main() {
	ctx, stop := interruptible(context.Background(), os.Stderr)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// errInterrupted is the cause of a context that the user cancelled.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first interrupt or SIGTERM cancels;
// the second ends the process at once.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			if ctx.Err() != nil {
				os.Exit(exitInterrupted)
			}
			fmt.Fprintln(stderr, "rlrun: stopping, what is finished is kept; interrupt again to stop at once")
			cancel(errInterrupted)
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
	out := &output{w: stdout}
	root := newRoot(&app{args: args, bundled: plugins.All(), stderr: stderr})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil {
		err = out.err
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
	return status(err)
}

// usage is an error of the command line.
type usage struct{ error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

func (u usage) Unwrap() error { return u.error }

func status(err error) int {
	var u usage
	var ps config.Problems
	switch {
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &u), errors.As(err, &ps), errors.Is(err, framework.ErrInvalidParams):
		return exitUsage
	}
	return exitFailed
}

// output remembers the first error of the standard output, so that no command
// has to look: a full disk is not to go unnoticed.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		o.err = fmt.Errorf("writing the answer: %w", err)
	}
	return n, err
}
