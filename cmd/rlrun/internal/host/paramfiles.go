package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// addParamFiles adds the digests of the files that parameters name, by their paths:
// results depend on what is in them. A text is a path if it has a separator or an
// extension, or if its key ends in "file" or "path"; and if a file is there.
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
			named := strings.HasSuffix(key, "file") || strings.HasSuffix(key, "path")
			if !named && !strings.ContainsAny(v, "/"+string(filepath.Separator)) && filepath.Ext(v) == "" {
				return nil
			}
			if info, err := os.Stat(v); err != nil || !info.Mode().IsRegular() {
				return nil // no file
			}
			digest, err := sha256Of(v)
			if err != nil {
				return fmt.Errorf("a parameter names a file: %w", err)
			}
			files[v] = digest
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

func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
