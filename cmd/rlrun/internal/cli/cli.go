// Package cli is what the commands of rlrun share: errors of usage, arguments,
// answers as text and as JSON. It knows nothing of experiments and plugins.
package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrInterrupted is the cause of a context that the user cancelled.
var ErrInterrupted = errors.New("interrupted")

// UsageError is an error of the command line or of what it names: exit status 2.
type UsageError struct{ err error }

// Error returns the text of the error.
func (u *UsageError) Error() string { return u.err.Error() }

// Unwrap returns the error.
func (u *UsageError) Unwrap() error { return u.err }

// Usage makes a *UsageError of err.
func Usage(err error) error { return &UsageError{err} }

// Usagef is Usage of fmt.Errorf.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// StatusError is an error that ends rlrun with an exit status of its own.
type StatusError struct {
	Status int // the exit status
	err    error
}

// Error returns the text of the error.
func (e *StatusError) Error() string { return e.err.Error() }

// Unwrap returns the error.
func (e *StatusError) Unwrap() error { return e.err }

// Exit statuses of StatusErrors.
const (
	StatusOpen  = 10 // rlrun decide: comparisons are open
	StatusRetry = 75 // a shard was stopped and has runs left; sysexits.h calls it EX_TEMPFAIL
)

// Retry makes a *StatusError of err, which doing the same again may mend.
func Retry(err error) error { return &StatusError{StatusRetry, err} }

// Open makes a *StatusError of err: not all is decided, and more runs are needed.
func Open(err error) error { return &StatusError{StatusOpen, err} }

// CheckOutputDirectory refuses a path that is a file where an output directory is meant.
func CheckOutputDirectory(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return Usagef("%s is a file: name an output directory of rlrun run", path)
	}
	return nil
}

// Must panics if err is not nil. It is for mistakes of the program, not of its user.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Group returns a command that only holds other commands: it prints its help, and
// refuses arguments that name none of them.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = Subcommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// Subcommand refuses arguments that name no command of cmd.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return Usagef("%s has no command %q%s (see %s --help)", cmd.CommandPath(), args[0], Suggest(args[0], names, ""), cmd.CommandPath())
}

// Arguments checks the number of arguments: at least least, at most one for each
// of names, which say what they are.
func Arguments(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usagef("%s needs %s (see %s --help)", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return Usagef("%s: unexpected argument %q (see %s --help)", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// AtLeastOne refuses a command without arguments. what says what the first one is.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return Arguments(1, what)(cmd, args[:min(1, len(args))])
	}
}

// FlagError makes one line of pflag's errors.
func FlagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		text += Suggest(unknown.GetSpecifiedName(), known, "--")
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		must := map[string]string{"float64": "must be a number", "int": "must be a whole number", "bool": "must be true or false", "duration": "must be a time such as 10s"}[bad.GetFlag().Value.Type()]
		if own := bad.Unwrap().Error(); must == "" && strings.HasPrefix(own, "must be ") {
			must = own
		}
		if must != "" {
			return Usagef("--%s %s, not %q (see %s --help)", bad.GetFlag().Name, must, bad.GetValue(), cmd.CommandPath())
		}
	}
	return Usagef("%s (see %s --help)", text, cmd.CommandPath())
}

// NoEmptyFlags refuses a flag whose value is the empty text, as an unset variable of the
// shell gives it: it would count as a flag that was left out.
func NoEmptyFlags(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			what, _ := pflag.UnquoteUsage(f)
			err = Usagef("--%s is empty; give it a value (%s) or leave it out (see %s --help)", f.Name, what, cmd.CommandPath())
		}
	})
	return err
}
