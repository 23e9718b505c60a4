package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// readTar returns the content and the mode of what an archive holds.
func readTar(t *testing.T, archive io.Reader) (content map[string][]byte, modes map[string]fs.FileMode) {
	t.Helper()
	content, modes = map[string][]byte{}, map[string]fs.FileMode{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return content, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		modes[name] = h.FileInfo().Mode()
		content[name] = must.Get(io.ReadAll(r))(t)
	}
}

// The image that is made without Docker has rlrun, for every user, and says how it is started. Its
// program is built with the flags of other tests, so that Go does not compile all anew; make nightly
// makes the image as it is released.
func TestImage(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds rlrun for Linux")
	}
	archive, built := filepath.Join(t.TempDir(), "image.tar"), filepath.Join(t.TempDir(), "built")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("sh", "-c", "umask 077; exec ./image.sh registry.example/rlrun:1")
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "ENGINES=", "ARCHIVE="+archive, "RLRUN_BINARY="+built)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := must.Get(os.Open(archive))(t)
	defer f.Close()
	image, _ := readTar(t, f)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(image["manifest.json"], &manifest); err != nil || len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("manifest %s: %v", image["manifest.json"], err)
	}
	var config struct {
		Architecture, OS string
		Config           struct {
			Entrypoint, Env []string
			Labels          map[string]string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
		History []any
	}
	must.Do(t, json.Unmarshal(image[manifest[0].Config], &config))
	layer := image[manifest[0].Layers[0]]
	sum := sha256.Sum256(layer)
	if want := []string{"sha256:" + hex.EncodeToString(sum[:])}; !slices.Equal(config.RootFS.DiffIDs, want) || len(config.History) != 1 {
		t.Errorf("layers are %v with %d lines of history, want %v", config.RootFS.DiffIDs, len(config.History), want)
	}
	if manifest[0].RepoTags[0] != "registry.example/rlrun:1" || config.OS != "linux" || config.Architecture == "" || config.Config.Labels["org.opencontainers.image.title"] != "rlrun" {
		t.Errorf("the image is %s, %+v", manifest[0].RepoTags, config)
	}
	content, modes := readTar(t, bytes.NewReader(layer))
	for name, want := range map[string]fs.FileMode{
		"usr": fs.ModeDir | 0o755, "usr/local/bin": fs.ModeDir | 0o755, "usr/local/bin/rlrun": 0o755, "usr/share/doc/rlrun/notices.txt": 0o644, "tmp": fs.ModeDir | fs.ModeSticky | 0o777,
	} {
		if modes[name] != want {
			t.Errorf("%s has mode %v, want %v", name, modes[name], want)
		}
	}
	program := filepath.Join(t.TempDir(), "rlrun")
	must.Do(t, os.WriteFile(program, content[strings.TrimPrefix(config.Config.Entrypoint[0], "/")], 0o700))
	if out, err := exec.Command(program, "version").CombinedOutput(); err != nil {
		t.Errorf("its rlrun: %v: %s", err, out)
	}
}
