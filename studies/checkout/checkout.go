// Package checkout finds the root of the checkout, from which the programs of studies
// name their files: configs, results, docs/images.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
)

// Enter changes to the nearest directory that has configs: the working directory or
// one above it. `go run -C studies` starts a program in studies.
func Enter() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, "configs")); err == nil && info.IsDir() {
			return os.Chdir(dir)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return errors.New("no directory configs here or above: run this in a checkout of rlrun")
		}
		dir = above
	}
}
