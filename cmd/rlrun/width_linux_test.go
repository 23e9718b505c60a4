package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"

	"github.com/rlrun/rlrun/internal/must"
)

// No table is broken by the terminal, whatever its width: columns of low rank are left out and
// named, and long labels take several lines. What is compared stays.
func TestTablesFitTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command with tables")
	}
	t.Chdir(t.TempDir())
	agents := ""
	for i := range 20 {
		agents += fmt.Sprintf("  - {name: 'Q-learning, optimistic, with step %d over the number of visits', plugin: q-learning, params: {step: %g}}\n", i, 0.04*float64(i+1))
	}
	must.Do(t, os.WriteFile("exp.yaml", []byte("runs: 12\nsteps: 40\noutput: out\nenvironments:\n  - {plugin: chain}\n"+
		"  - {name: RiverSwim with six states, plugin: riverswim}\n  - {name: 川の流れに逆らって泳ぐ六つの状態の課題, plugin: riverswim}\nagents:\n"+agents), 0o600))
	if code := run(t.Context(), []string{"run", "exp.yaml", "--quiet"}, strings.NewReader(""), io.Discard, os.Stderr); code != 0 {
		t.Fatal("code ", code)
	}
	for _, width := range []int{60, 80, 100, 200} {
		for _, c := range []struct {
			args  []string
			stays []string
		}{
			{[]string{"report", "out", "--costs"}, []string{"mean reward", "µs per step"}},
			{[]string{"compare", "out", "--no-files"}, []string{"difference", "verdict", "IQM", "P(A better)", "mean rank"}},
			{[]string{"compare", "out", "--no-files", "--pairs", "all", "--metric", "regret"}, []string{"difference", "verdict"}},
			{[]string{"power", "out", "--difference", "0.1"}, []string{"needed", "cautious"}},
			{[]string{"status", "out"}, []string{"ok", "failed", "missing"}},
		} {
			out := inTerminal(t, width, c.args...)
			for _, title := range c.stays {
				if !strings.Contains(out, " "+title) {
					t.Errorf("%d columns, %q: no column %q", width, c.args, title)
				}
			}
			lines := strings.Split(out, "\n")
			begins := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "───") })
			if begins < 0 {
				t.Fatalf("%q prints no table: %s", c.args, out)
			}
			table := false
			for i, line := range lines {
				switch {
				case strings.HasPrefix(line, "───"):
					table = true
					line = lines[i-1]
				case line == "":
					table = false
				}
				if n := text.StringWidthWithoutEscSequences(line); table && n > width && !strings.HasPrefix(line, "  ") { // two spaces: sentences below
					t.Errorf("%d columns, %q: %d in %q", width, c.args, n, line)
				}
			}
		}
		for line := range strings.Lines(inTerminal(t, width, "plugin", "list")) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns: %d in %q", width, n, line)
			}
		}
	}
}

// inTerminal returns what a command prints in a terminal of a width.
func inTerminal(t *testing.T, width int, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	must.Do(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width)}))
	terminal := must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	printed := make(chan string)
	go func() {
		out, _ := io.ReadAll(master) // it ends with an error, as the terminal is gone
		printed <- strings.ReplaceAll(string(out), "\r\n", "\n")
	}()
	code := run(t.Context(), args, strings.NewReader(""), terminal, io.Discard)
	terminal.Close()
	out := <-printed
	if code != 0 {
		t.Fatalf("%q: code %d: %s", args, code, out)
	}
	return out
}
