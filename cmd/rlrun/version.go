package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/framework/plugin"
)

// build is what the binary knows of itself.
type build struct {
	Version  string `json:"version"`
	Release  string `json:"release"` // what requirements of plugins are compared with
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuild() build {
	b := build{Version: "(devel)", Release: plugin.Release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the release, the build of another version than that, Go, platform and,
// where it is known, the commit in a line.
func (b build) String() string {
	about := []string{b.Go, b.Platform}
	if b.Version != "v"+b.Release {
		about = slices.Insert(about, 0, "build "+strings.Trim(b.Version, "()"))
	}
	if b.Revision != "" {
		about = append(about, "commit "+b.Revision)
	}
	if b.Modified {
		about = append(about, "modified")
	}
	return fmt.Sprintf("%s (%s)", b.Release, strings.Join(about, ", "))
}

func newVersion(*host.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version of rlrun, the Go that built it, the platform and the commit that it
was built from, if that is known.

--json: version, release (the version that requirements of plugins are compared
with), revision (the commit, if known), modified (whether the source differed from
that commit), go, platform.`,
		Example: "  rlrun version\n  rlrun version --json",
		Args:    cli.Arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuild()
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), b)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "rlrun %s\n", b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
