package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/printable"
)

// ErrOtherPrograms says that an output directory holds runs that other programs made.
var ErrOtherPrograms = errors.New("made by other programs")

// ErrChanged says that a plugin, a file or a saved agent is not what it was when the
// experiment began. Then the experiment ends, and the runs that have ended are kept.
var ErrChanged = errors.New("changed while the experiment ran")

// Provenance is the content of provenance.json: the command that began the
// experiment and those that resumed it. Nothing in it is ever overwritten.
type Provenance struct {
	Session
	Resumed []Session `json:"resumed,omitempty"` // later commands in the same directory
	Shards  int       `json:"shards,omitempty"`  // that the experiment is divided into; 0: it was begun as a whole
}

// Session describes one command that makes runs: when, by which programs, on which
// machine. The zero value identifies no program.
type Session struct {
	Rlrun string `json:"rlrun"` // version, with the commit where known
	// BuildID is Go's build ID of rlrun if the version does not identify it: a
	// development build or one of modified source.
	BuildID string `json:"build_id,omitempty"`
	// Executable is the SHA-256 of rlrun's executable if there is no such ID either.
	Executable   string    `json:"executable_sha256,omitempty"`
	Build        []string  `json:"build,omitempty"` // build settings that change code, such as -tags=x
	Go           string    `json:"go"`              // version of Go that built rlrun
	Platform     string    `json:"platform"`        // os/arch
	Architecture string    `json:"architecture"`    // see architecture
	Program      string    `json:"program"`         // identity of all of the above but Platform, as in records
	CPUs         int       `json:"cpus"`            // number of processors that rlrun could use
	Started      time.Time `json:"started"`         // by the clock of the machine
	Command      []string  `json:"command"`         // arguments, the program first
	Mixed        bool      `json:"mixed,omitempty"` // runs may join those of other programs
	Seed         uint64    `json:"seed"`            // root seed
	ConfigSHA256 string    `json:"config_sha256"`   // of what decides the records
	// Plugins lists every plugin used.
	Plugins []PluginProvenance `json:"plugins"`
	// Components lists the environments and agents whose results depend on more than their plugin.
	Components []ComponentProvenance `json:"components,omitempty"`
	// Specs has digests of what environments of the plan say of themselves: their specs and metrics.
	Specs []SpecProvenance `json:"specs,omitempty"`
	// Skipped are the pairs that matrix.skip_incompatible left out.
	Skipped []result.Skipped `json:"skipped,omitempty"`
	// Notes are sentences that a reader of the results must know.
	Notes []string `json:"notes,omitempty"`
	Host  string   `json:"host,omitempty"` // name of the machine on which a shard ran
	Job   string   `json:"job,omitempty"`  // the scheduler's name of the shard's job
}

// SpecProvenance has the digest of an environment's spec and metrics.
type SpecProvenance struct {
	Environment string `json:"environment"` // label, of characters that can be seen
	Digest      string `json:"digest"`
}

// PluginProvenance identifies one plugin.
type PluginProvenance struct {
	Plugin  string   `json:"plugin"`           // as the config names it
	Args    []string `json:"args,omitempty"`   // of its command
	Program string   `json:"program"`          // identity, as in records; a bundled plugin has rlrun's
	ID      string   `json:"id"`               // namespace/name@version
	Path    string   `json:"path,omitempty"`   // of the executable; empty for a bundled plugin
	SHA256  string   `json:"sha256,omitempty"` // of the executable, if it has one of its own
	// Files holds the digests of the executable and of the files among the arguments, by name.
	Files map[string]string `json:"files,omitempty"`
	// Sources holds what the plugin says it runs besides when it begins to serve: digests of modules
	// and versions of packages, by name. Later holds what it has loaded since, to open what the config
	// asks for. That is bound to the output directory and is no part of the identity.
	Sources  map[string]string `json:"sources,omitempty"`
	Later    map[string]string `json:"later,omitempty"`
	Replaced bool              `json:"replaced,omitempty"` // put in the place of the plugin that the config names
}

// ComponentProvenance says what an environment or agent is besides its plugin.
type ComponentProvenance struct {
	Kind string `json:"kind"` // key in the config: environments or agents
	Name string `json:"name"` // label
	// Environment is the label of the one in which an agent begins with saved agents; else "".
	Environment string            `json:"environment,omitempty"`
	Plugin      string            `json:"plugin"`          // as the config names it
	Args        []string          `json:"args,omitempty"`  // of its command
	Program     string            `json:"program"`         // identity, as in records: that of the plugin, "_" and a digest
	Files       map[string]string `json:"files,omitempty"` // digests of the files that parameters name, by path
	// Sources holds digests of the saved agents that it begins with and of the code of Parts, by name.
	Sources map[string]string `json:"sources,omitempty"`
	Parts   []string          `json:"parts,omitempty"` // plugins of the rule and the sources of options
}

// NewSession describes this command, program and machine, and the experiment's plugins.
// mixed accepts runs that other programs made.
func (e *Experiment) NewSession(command []string, started time.Time, mixed bool) (*Session, error) {
	s, err := thisProgram()
	if err != nil {
		return nil, err
	}
	s.CPUs, s.Started, s.Command, s.Seed = runtime.NumCPU(), started.UTC(), command, *e.Plan.Config.Seed
	s.ConfigSHA256 = e.Plan.Config.Digest()
	s.Mixed, s.Skipped, s.Notes = mixed, e.Skipped, e.Notes
	for _, name := range slices.Sorted(maps.Keys(e.Specs)) {
		s.Specs = append(s.Specs, SpecProvenance{printable.Text(name), e.Specs[name]})
	}
	for _, program := range e.Programs {
		s.AddPlugin(program)
	}
	for _, x := range e.Components {
		if p := s.plugin(x.Plugin, x.Args); p.Program != s.Program { // else it is bundled, and of this rlrun
			x.Program = p.Program
		}
		x.Program += result.OwnFiles + plan.ShortDigest(x.code())
		s.Components = append(s.Components, x)
	}
	return &s, nil
}

// thisProgram identifies the running executable.
var thisProgram = sync.OnceValues(func() (Session, error) {
	s := Session{Rlrun: Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Architecture: runtime.GOARCH}
	info, known := debug.ReadBuildInfo()
	if known {
		s.Architecture = architecture(info)
		s.Build = buildSettings(info)
	}
	s.Architecture += ", math " + mathFingerprint()
	if !known || !released(info) {
		path, err := os.Executable()
		if err != nil {
			return s, fmt.Errorf("cannot identify this program: %w", err)
		}
		if s.BuildID = buildID(path); s.BuildID == "" {
			if s.Executable, err = inputfile.SHA256(path); err != nil {
				return s, fmt.Errorf("cannot identify this program: %w", err)
			}
		}
	}
	s.Program = plan.ShortDigest(s.Rlrun, cmp.Or(s.BuildID, s.Executable), s.Build, s.Go, s.Architecture)
	return s, nil
})

// released says whether version and commit identify the code: the build is of an
// unmodified commit or of a published module, with the dependencies that it asks
// for.
func released(info *debug.BuildInfo) bool {
	version := strings.Trim(info.Main.Version, "()")
	if version == "" || version == "devel" || strings.Contains(version, "+dirty") {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.modified" && s.Value == "true" {
			return false
		}
	}
	return !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Replace != nil })
}

// buildID returns the ID that the go command gave an executable. It consists of digests of
// the linked packages and of the settings. It is empty if the executable is no ELF file, or
// its linker was told another ID. Reading it takes 0.1 ms. A digest of the executable would
// take 40 ms, a fifth of a short rlrun run.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	section := f.Section(".note.go.buildid")
	if section == nil {
		return ""
	}
	note, err := section.Data()
	if err != nil || len(note) < 16 {
		return ""
	}
	id := strings.TrimRight(string(note[16:]), "\x00") // the rest of the note is its sizes, type and name
	if strings.Count(id, "/") != 3 {                   // as in IDs of the go command
		return ""
	}
	return id
}

// architecture is the instruction set that a program was compiled for, such as
// "amd64 v1". The compiler fuses multiplications with additions on some
// architectures and levels only, and gonum and package math have assembly for
// some, so the last bits of results depend on it.
func architecture(info *debug.BuildInfo) string {
	levels := []string{"GOAMD64", "GOARM64", "GOARM", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM"}
	for _, s := range info.Settings {
		if slices.Contains(levels, s.Key) {
			return runtime.GOARCH + " " + s.Value
		}
	}
	return runtime.GOARCH
}

// buildSettings lists the settings besides the architecture that change what the
// compiler makes of a source.
func buildSettings(info *debug.BuildInfo) (list []string) {
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags", "-gcflags", "-asmflags", "-race", "-msan", "-asan", "-cover", "-compiler", "GOEXPERIMENT", "GOFIPS140":
			if s.Value != "" && s.Value != "gc" {
				list = append(list, s.Key+"="+s.Value)
			}
		}
	}
	return list
}

// mathFingerprint is a digest of values of elementary functions. Package math
// selects instructions by the processor it runs on: Exp uses fused multiply-adds
// where an amd64 processor has them. Equal programs on two machines count as equal
// only if these functions agree.
func mathFingerprint() string {
	h := sha256.New()
	var word [8]byte
	for i := range 512 {
		x := 0.01 + 0.0371*float64(i)
		for _, y := range []float64{math.Exp(x), math.Exp(-x), math.Log(x), math.Log1p(x), math.Expm1(-x),
			math.Sqrt(x), math.Sin(x), math.Pow(x, 1.7), math.Tanh(x), math.Gamma(x), math.Hypot(x, 1), math.FMA(x, x, x)} {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(y))
			h.Write(word[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}

// AddPlugin adds a plugin unless it is there already, and gives it its identity:
// the digests of its files and its sources, or rlrun's own if it has neither.
func (s *Session) AddPlugin(p PluginProvenance) {
	if s.plugin(p.Plugin, p.Args) != nil {
		return
	}
	p.Program = s.Program
	if len(p.Files)+len(p.Sources) > 0 {
		p.Program = plan.ShortDigest(p.code())
	}
	s.Plugins = append(s.Plugins, p)
}

// code is what the plugin runs. Files among its arguments have names without their directories,
// so that a program is the same one wherever it is.
func (p *PluginProvenance) code() result.Code {
	code := result.Code{}
	maps.Copy(code, p.Sources)
	for name, digest := range p.Files {
		if !slices.Contains(p.Args, name) {
			code[name] = digest
		}
	}
	for i, arg := range p.Args {
		name := withoutDirectory(arg)
		if code[name] != "" {
			name = fmt.Sprintf("%s, argument %d", name, i+1)
		}
		if digest := p.Files[arg]; digest != "" && p.Sources["class "+name] == "" {
			code[name] = digest // of a class, what the file says counts: it is in Sources
		}
	}
	return code
}

// commandLine returns the command line of the plugin. Files have the names that code gives them.
func (p *PluginProvenance) commandLine() string {
	c := plan.Component{Plugin: p.Plugin}
	if name := filepath.Base(p.Plugin); p.Files[name] != "" {
		c.Plugin = name
	}
	for _, arg := range p.Args {
		if p.Files[arg] != "" {
			arg = withoutDirectory(arg)
		}
		c.Args = append(c.Args, arg)
	}
	return c.CommandLine()
}

// withoutDirectory is an argument that names a file, such as maps/small.txt or --map=maps/small.txt.
func withoutDirectory(arg string) string {
	if option, path, ok := strings.Cut(arg, "="); ok {
		return option + "=" + filepath.Base(path)
	}
	return filepath.Base(arg)
}

// code is what the component is besides its plugin.
func (x *ComponentProvenance) code() result.Code {
	code := result.Code{}
	maps.Copy(code, x.Sources)
	maps.Copy(code, x.Files)
	return code
}

// Tasks returns a stream for each environment, by label, and the code of each plugin, by its identity in
// records. Both tell whether runs in this directory and in another one are of the same tasks.
func (d Dir) Tasks(p *plan.Plan) (map[string]compare.Stream, map[string]result.Code, error) {
	sessions, err := d.allSessions()
	if err != nil {
		return nil, nil, err
	}
	streams, code := p.Streams(), map[string]result.Code{}
	for _, s := range sessions {
		for i := range s.Plugins {
			if p := &s.Plugins[i]; p.Program != s.Program {
				code[p.Program] = p.code()
			}
		}
		for i := range s.Components {
			x := &s.Components[i]
			code[x.Program] = x.code()
			maps.Copy(code[x.Program], code[pluginOf(x.Program)])
		}
		for _, e := range p.Environments {
			if plugin := s.plugin(e.Plugin, e.Args); plugin != nil {
				stream := streams[e.Name]
				stream.Plugin = plugin.commandLine()
				streams[e.Name] = stream
			}
		}
	}
	later, err := d.loaded()
	for _, l := range later {
		for id, code := range code {
			if pluginOf(id) == l.Program {
				code[l.Name] = l.Digest
			}
		}
	}
	return streams, code, err
}

func (s *Session) plugin(name string, args []string) *PluginProvenance {
	for i := range s.Plugins {
		if p := &s.Plugins[i]; p.Plugin == name && slices.Equal(p.Args, args) {
			return p
		}
	}
	return nil
}

// component finds an environment or agent of a cell.
func (s *Session) component(kind string, p *plan.Plan, c plan.Cell) *ComponentProvenance {
	key := p.Key(c)
	for i := range s.Components {
		x := &s.Components[i]
		if kind == x.Kind && (kind == plan.EnvironmentsKey && x.Name == key.Environment ||
			kind == plan.AgentsKey && x.Name == key.Agent && (x.Environment == "" || x.Environment == key.Environment)) {
			return x
		}
	}
	return nil
}

// pluginOf returns the part of a component's identity that is the plugin's; "" if it is bundled and
// the component has files.
func pluginOf(program string) string {
	base, _, _ := strings.Cut(program, result.OwnFiles)
	return base
}

// Process is a plugin that can tell what code its processes have loaded: digests and versions, by
// name.
type Process interface {
	Sources(ctx context.Context) (map[string]string, error)
}

// Unchanged returns an error, which wraps ErrChanged, if code that a component's plugin has
// loaded is not what it was when the plugin was identified. Code that it has loaded since is bound
// to the output directory (see bind).
func (s *Session) Unchanged(ctx context.Context, d Dir, c plan.Component, plugin any) error {
	p := s.plugin(c.Plugin, c.Args)
	if p == nil {
		return nil
	}
	if process, ok := plugin.(Process); ok && len(p.Sources) > 0 {
		sources, err := process.Sources(ctx)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(sources)) {
			was, reason := p.Sources[name], ErrChanged
			if was == "" {
				if was, reason, err = s.bind(d, p, name, sources[name]); err != nil {
					return err
				}
			}
			if was != sources[name] {
				return p.changed(reason, name, was, sources[name])
			}
		}
	}
	return nil
}

// changed says that code which the plugin loads is not what it was.
func (p *PluginProvenance) changed(reason error, name, was, is string) error {
	c := plan.Component{Plugin: p.Plugin, Args: p.Args}
	return fmt.Errorf("plugin %s %w: %s", c.CommandLine(), reason, result.Code{name: was}.Difference(result.Code{name: is}))
}

// SameFiles returns an error, which wraps ErrChanged, if a file that the parameters of a cell's
// environment or agent name is not what it was when the experiment began. A file that is gone is
// the plugin's matter.
func (s *Session) SameFiles(p *plan.Plan, c plan.Cell) error {
	for _, kind := range []string{plan.EnvironmentsKey, plan.AgentsKey} {
		x := s.component(kind, p, c)
		if x == nil {
			continue
		}
		for _, file := range slices.Sorted(maps.Keys(x.Files)) {
			is, err := inputfile.SHA256(file)
			if was := x.Files[file]; err == nil && "sha256:"+is != was {
				return fmt.Errorf("the file %s, which the parameters of %q name, %w: %s",
					file, x.Name, ErrChanged, result.Code{file: was}.Difference(result.Code{file: "sha256:" + is}))
			}
		}
	}
	return nil
}

// programs identifies the programs that make a cell's records.
func (s *Session) programs(p *plan.Plan, c plan.Cell) result.Programs {
	return result.Programs{Host: s.Program, Environment: s.program(plan.EnvironmentsKey, p, c), Agent: s.program(plan.AgentsKey, p, c)}
}

// program identifies the environment or the agent of a cell, as in records.
func (s *Session) program(kind string, p *plan.Plan, c plan.Cell) string {
	if x := s.component(kind, p, c); x != nil {
		return x.Program
	}
	of := p.Component(kind, c)
	if plugin := s.plugin(of.Plugin, of.Args); plugin != nil {
		return plugin.Program
	}
	return s.Program
}

// code is what the environment or the agent of a cell runs, and the files that it reads.
func (s *Session) code(kind string, p *plan.Plan, c plan.Cell) result.Code {
	code, of := result.Code{}, p.Component(kind, c)
	if plugin := s.plugin(of.Plugin, of.Args); plugin != nil {
		code = plugin.code()
	}
	if x := s.component(kind, p, c); x != nil {
		maps.Copy(code, x.code())
	}
	return code
}

// markChanged gives a component of a mixed session another identity if a file or a part of it was
// another one before, in whichever component. So results say mixed also if the component is new.
func (s *Session) markChanged(before *Provenance) {
	for i := range s.Components {
		is := &s.Components[i]
		changed := func(was ComponentProvenance) bool {
			code := was.code()
			maps.DeleteFunc(code, func(name, digest string) bool { return cmp.Or(is.code()[name], digest) == digest })
			return len(code) > 0
		}
		for old := range before.sessions() {
			if slices.ContainsFunc(old.Components, changed) {
				is.Program += result.OwnFiles + plan.ShortDigest(is.code())
				break
			}
		}
	}
}

// hasPart says whether one of the component's parts is a program.
func (s *Session) hasPart(x *ComponentProvenance, program string) bool {
	return slices.ContainsFunc(x.Parts, func(name string) bool {
		part := s.plugin(name, nil)
		return part != nil && part.Program == program
	})
}

// describe names rlrun in a sentence.
func (s *Session) describe() string {
	text := fmt.Sprintf("rlrun %s (%s, %s", s.Rlrun, s.Go, s.Architecture)
	if s.BuildID != "" {
		text += ", build ID " + s.BuildID[:min(10, len(s.BuildID))]
	}
	if s.Executable != "" {
		text += ", sha256:" + s.Executable[:min(10, len(s.Executable))]
	}
	return text + ")"
}

// session finds the one in which rlrun had an identity.
func (p *Provenance) session(program string) *Session {
	for s := range p.sessions() {
		if s.Program == program {
			return s
		}
	}
	return nil
}

func (p *Provenance) sessions() func(yield func(*Session) bool) {
	return func(yield func(*Session) bool) {
		if !yield(&p.Session) {
			return
		}
		for i := range p.Resumed {
			if !yield(&p.Resumed[i]) {
				return
			}
		}
	}
}

// Provenance reads provenance.json of the output directory; an empty one if
// there is none.
func (d Dir) Provenance() (*Provenance, error) { return d.readProvenance(ProvenanceFile) }

// allSessions reads those of all commands that made runs in the directory, of shards too.
func (d Dir) allSessions() (all []*Session, err error) {
	files, err := fs.Glob(os.DirFS(d.Path), provenanceDir+"/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range append(files, ProvenanceFile) {
		p, err := d.readProvenance(name)
		if err != nil {
			return nil, err
		}
		all = slices.AppendSeq(all, p.sessions())
	}
	return all, nil
}

func (d Dir) readProvenance(name string) (*Provenance, error) {
	var p Provenance
	_, err := d.readJSON(name, &p, "; move it away to go on without it")
	return &p, err
}

// add adds a session. The first one began the experiment.
func (p *Provenance) add(s Session) {
	if p.Started.IsZero() {
		p.Session = s
	} else {
		p.Resumed = append(p.Resumed, s)
	}
}

// Version returns the program's module version, with the commit it was built
// from where the build recorded one.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	parts := []string{strings.Trim(info.Main.Version, "()")}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			parts = append(parts, s.Value)
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			parts = append(parts, "modified")
		}
	}
	return strings.Join(parts, " ")
}
