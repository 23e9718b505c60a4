package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlrun/rlrun/internal/inputfile"
)

// addParamFiles adds the digests of the files that parameters name, by their paths:
// results depend on what is in them. A text is a path if it has a separator or an
// extension, or if its key ends in "file", "path" or their plural; and if a file is there.
func addParamFiles(files map[string]string, params json.RawMessage) error {
	if len(params) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(params, &value); err != nil {
		return err
	}
	var walk func(key string, value any) error
	walk = func(key string, value any) error {
		switch v := value.(type) {
		case string:
			one := strings.TrimSuffix(key, "s")
			named := strings.HasSuffix(one, "file") || strings.HasSuffix(one, "path")
			if !named && !strings.ContainsAny(v, "/"+string(filepath.Separator)) && filepath.Ext(v) == "" {
				return nil
			}
			if info, err := os.Stat(v); err != nil || !info.Mode().IsRegular() {
				return nil // no file
			}
			digest, err := inputfile.SHA256(v)
			if err != nil {
				return fmt.Errorf("a parameter names a file: %w", err)
			}
			files[v] = "sha256:" + digest
		case []any:
			for _, x := range v {
				if err := walk(key, x); err != nil {
					return err
				}
			}
		case map[string]any:
			for k, x := range v {
				if err := walk(k, x); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk("", value)
}
