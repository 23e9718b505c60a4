package host

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
)

// leastMemory is less than any program that speaks gRPC can do with.
const leastMemory = 1 << 20

// limitError says which of the limits is wrong.
type limitError struct{ key, message string }

func (e *limitError) Error() string { return "limits." + e.key + ": " + e.message }

// launchOptions reads limits. Its error is a *limitError.
func launchOptions(l experiment.Limits) (o plugin.LaunchOptions, err error) {
	for _, t := range []struct {
		key, text string
		to        *time.Duration
	}{{"start", l.Start, &o.StartTimeout}, {"call", l.Call, &o.CallTimeout}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = time.ParseDuration(t.text); err != nil || *t.to <= 0 {
			return o, &limitError{t.key, fmt.Sprintf("must be a time such as 10s or 2m, not %q", t.text)}
		}
	}
	if l.Memory != "" {
		bytes, err := humanize.ParseBytes(l.Memory)
		o.Memory = int64(bytes)
		if err != nil || o.Memory < leastMemory {
			return o, &limitError{"memory", fmt.Sprintf("must be an amount of at least 1MiB, such as 2GiB, not %q", l.Memory)}
		}
	}
	return o, nil
}

// checkLimits tells of wrong limits at a path of the config.
func checkLimits(file *config.File, l *experiment.Limits, path ...string) config.Problems {
	_, err := launchOptions(l.Over(experiment.Limits{}))
	if wrong, ok := err.(*limitError); ok {
		return file.Problem(wrong.message, append(path, wrong.key)...)
	}
	return nil
}
