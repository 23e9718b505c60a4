package store

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
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

// bind returns the digest that the code called name has in the runs of the output directory. It is the
// given one if no run has loaded the code before. reason says what another digest means: ErrChanged
// if this command loaded the code before, ErrOtherPrograms if another one did.
func (s *Session) bind(d Dir, p *PluginProvenance, name, digest string) (was string, reason, err error) {
	text, err := json.MarshalIndent(loaded{p.Plugin, p.Program, name, digest, s.Started}, "", "  ")
	if err != nil {
		return "", nil, err
	}
	file := p.loadedFile(name)
	if err := d.writeOnce(file, append(text, '\n')); err != nil {
		return "", nil, err
	}
	var first loaded // of this worker, or of another one or a shard
	_, err = d.readJSON(file, &first, againBy)
	if first.Started.Equal(s.Started) {
		return first.Digest, ErrChanged, err
	}
	return first.Digest, d.otherLoaded(), err
}

// loadedFile is the file of loadedDir for code that the plugin has loaded.
func (p *PluginProvenance) loadedFile(name string) string {
	return loadedDir + "/" + plan.ShortDigest(p.Program, name) + ".json"
}

func (d Dir) otherLoaded() error {
	return fmt.Errorf("differs from the one in the runs of %s, which were %w", d.Path, ErrOtherPrograms)
}

// sameLoaded refuses code that a plugin has loaded for what the config asks for, if it is other code
// in the runs of the output directory. It binds nothing.
func (s *Session) sameLoaded(d Dir) error {
	files, err := d.loaded()
	if err != nil {
		return err
	}
	for i := range s.Plugins {
		p := &s.Plugins[i]
		for _, name := range slices.Sorted(maps.Keys(p.Later)) {
			if was, ok := files[p.loadedFile(name)]; ok && was.Digest != p.Later[name] {
				return p.changed(d.otherLoaded(), name, was.Digest, p.Later[name])
			}
		}
	}
	return nil
}

// rebind makes the session ready to bind code beside that of earlier ones. It forgets code that
// made none of the runs that are kept or set aside. A shard forgets nothing, since it sees its own
// runs only. In a mixed session, plugins that loaded code are other programs. An agent is one if
// its rule or a source of its options is.
func (c *contents) rebind(s *Session, whole bool) error {
	files, err := c.dir.loaded()
	if err != nil || len(files) == 0 {
		return err
	}
	made, err := c.programs()
	if err != nil {
		return err
	}
	sessions, err := c.dir.allSessions()
	if err != nil {
		return err
	}
	others := map[string]bool{} // identities
	for file, l := range files {
		needed := made[l.Program]
		for _, before := range sessions {
			for i := range before.Components {
				x := &before.Components[i]
				needed = needed || made[x.Program] && before.hasPart(x, l.Program)
			}
		}
		if whole && !needed {
			if err := os.Remove(c.dir.path(file)); err != nil {
				return err
			}
			continue
		}
		others[l.Program] = s.Mixed
	}
	for i := range s.Components {
		x := &s.Components[i]
		for other, mixed := range others {
			if base := pluginOf(x.Program); mixed && base == other {
				x.Program = plan.ShortDigest(base, s.Started) + strings.TrimPrefix(x.Program, base)
			} else if mixed && s.hasPart(x, other) {
				x.Program += result.OwnFiles + plan.ShortDigest(s.Started)
			}
		}
	}
	for i := range s.Plugins {
		if p := &s.Plugins[i]; others[p.Program] {
			p.Program = plan.ShortDigest(p.Program, s.Started)
		}
	}
	return nil
}

// loaded returns what the files of loadedDir say, by their names.
func (d Dir) loaded() (map[string]loaded, error) {
	files, err := fs.Glob(os.DirFS(d.Path), loadedDir+"/*.json")
	out := map[string]loaded{}
	for _, file := range files {
		var l loaded
		if _, err := d.readJSON(file, &l, againBy); err != nil {
			return nil, err
		}
		out[file] = l
	}
	return out, err
}

// programs returns the identities of the plugins that made the runs which are ok, also of those
// that are set aside.
func (c *contents) programs() (map[string]bool, error) {
	entries := slices.Clone(c.runs.Entries)
	aside, err := result.RecordFiles(c.dir.aside().Path)
	if err != nil {
		return nil, err
	}
	for _, name := range append(aside, c.aside.out...) {
		more, err := result.FileEntries(name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	made := map[string]bool{}
	for _, e := range entries {
		if e.Status == result.OK {
			for _, program := range []string{e.Programs().Environment, e.Programs().Agent} {
				made[program], made[pluginOf(program)] = true, true
			}
		}
	}
	return made, nil
}
