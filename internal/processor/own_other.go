//go:build !unix

package processor

import "time"

var began = time.Now()

func own() time.Duration { return time.Since(began) }
