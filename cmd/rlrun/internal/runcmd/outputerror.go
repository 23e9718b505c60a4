package runcmd

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// advice says what a user can do about a refused output directory.
var advice = []struct {
	reason error
	text   string
}{
	{store.ErrInUse, ": wait for it, or choose another directory with --out"},
	{store.ErrOutputExists, "; continue it with --resume, replace it with --overwrite, or choose another output directory with --out"},
	{store.ErrOtherExperiment, "; --resume continues the same experiment only; choose another directory with --out"},
	{store.ErrOtherPrograms, "; use the same programs, choose another directory with --out, or add --mixed, and all results will say mixed"},
	{store.ErrForeign, "; --overwrite replaces only what rlrun wrote; choose another directory with --out"},
	{store.ErrNoDirectory, "; choose another with --out"},
	{store.ErrNoTarget, "; make that directory, or choose another with --out"},
}

// advise says what to do about an error of preparing an output directory. Other
// errors are returned as they are.
func advise(err error) error {
	var output *store.OutputError
	if !errors.As(err, &output) {
		return err
	}
	for _, a := range advice {
		if errors.Is(err, a.reason) {
			return cli.Usagef("%w%s", err, a.text)
		}
	}
	if errors.Is(err, inputfile.ErrNotRegular) || errors.Is(err, inputfile.ErrTooLarge) {
		return output.Err // which names the file in the directory
	}
	var pe *fs.PathError
	if !errors.As(err, &pe) && !errors.Is(err, fs.ErrPermission) && !full(err) && !errors.Is(err, syscall.EROFS) {
		return output.Err
	}
	return cli.Usagef("cannot write results to %s: %w; choose another output directory with --out", output.Dir, inputfile.Cause(err))
}
