package store

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// loaded is a file of loadedDir: code that a plugin loaded after it was identified, in a step for
// example. It has one digest in all runs of the directory, of all shards and commands.
type loaded struct {
	Plugin  string    `json:"plugin"`  // as the config names it
	Program string    `json:"program"` // identity of the plugin, as in records
	Name    string    `json:"name"`    // such as "module maze"
	Digest  string    `json:"digest"`
	Started time.Time `json:"started"` // of the command that loaded it
}

// bind returns the digest that code of a name has in the runs of the output directory, which is
// the given one if no run has loaded it before. reason is what another digest means: ErrChanged
// if this command has loaded the code before, ErrOtherPrograms if another one has.
func (s *Session) bind(d Dir, p *PluginProvenance, name, digest string) (was string, reason, err error) {
	text, err := json.MarshalIndent(loaded{p.Plugin, p.Program, name, digest, s.Started}, "", "  ")
	if err != nil {
		return "", nil, err
	}
	file := loadedDir + "/" + plan.ShortDigest(p.Program, name) + ".json"
	if err := d.writeOnce(file, append(text, '\n')); err != nil {
		return "", nil, err
	}
	var first loaded // of this worker, or of another one or a shard
	_, err = d.readJSON(file, &first, againBy)
	if first.Started.Equal(s.Started) {
		return first.Digest, ErrChanged, err
	}
	return first.Digest, fmt.Errorf("differs from the one in the runs of %s, which were %w", d.Path, ErrOtherPrograms), err
}

// rebind makes the session ready to bind code beside that of earlier ones. Code that no run which
// is kept was made with is forgotten; but for a shard, which sees its own runs only. In a mixed
// session, plugins that loaded code are other programs.
func (s *Session) rebind(d Dir, kept []result.Entry, whole bool) error {
	files, err := fs.Glob(os.DirFS(d.Path), loadedDir+"/*.json")
	for _, file := range files {
		var l loaded
		if _, err := d.readJSON(file, &l, againBy); err != nil {
			return err
		}
		needed := slices.ContainsFunc(kept, func(e result.Entry) bool {
			return e.Status == result.OK && (e.Programs.Environment == l.Program || e.Programs.Agent == l.Program)
		})
		if whole && !needed {
			if err := os.Remove(d.path(file)); err != nil {
				return err
			}
			continue
		}
		for i := range s.Plugins {
			if p := &s.Plugins[i]; s.Mixed && p.Program == l.Program {
				p.Program = plan.ShortDigest(p.Program, s.Started)
			}
		}
	}
	return err
}
