//go:build !linux

package cputime

import "time"

// Now knows no processor time.
func Now(...int) (time.Duration, bool) { return 0, false }

var began = time.Now()

// Whole is the time since the program began.
func Whole(...int) time.Duration { return time.Since(began) }
