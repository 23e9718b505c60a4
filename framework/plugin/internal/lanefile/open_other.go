//go:build !unix

package lanefile

import "errors"

// Open fails.
func Open(string) (*Words, error) { return nil, errors.ErrUnsupported }
