// Package servecmd is the command rlrun serve.
package servecmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/internal/inputfile"
)

const help = `Show the report page of experiments while they run, here or on a cluster.

DIR is an output directory of rlrun run, or a directory of such directories. The page
is report.html, updated while records grow: rlrun reads new records every two seconds.
It only reads files, so the directory may be shared with other machines. With several
experiments, a menu chooses one, or all in the same charts, where agents are called
DIR:AGENT.

For an unfinished experiment the page shows the number of recorded runs, the speed and
the time left. Runs of more than a few seconds are drawn before they end: a dotted
line with a ring at its end is a mean of unfinished runs. No other number includes
unfinished runs. Verdicts appear when all runs have ended, since repeated tests before
the end find differences too often. With compare: {until: decided} verdicts appear
at any time.

The printed address contains a token, without which nobody sees the page: other users
of this machine do not. It is a new one each time. To choose it, put it into the
environment variable RLRUN_SERVE_TOKEN or into a file (--token-file). Only this machine can open the page. From
another machine, use a tunnel:

  ssh -L 8080:localhost:8080 MACHINE

With --addr 0.0.0.0:8080 other machines can open the page at the printed address. The
connection is not encrypted. Ctrl-C stops the server.

--json:
  url                  address of the page, with its token
  experiments          the output directories that it shows`

// New returns the command rlrun serve.
func New(*host.App) *cobra.Command {
	var addr, token, tokenFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "serve DIR...",
		Short: "Show the report page of experiments while they run",
		Long:  help,
		Example: `  rlrun serve results/quickstart
  rlrun serve results --addr 127.0.0.1:9000`,
		Args:              cli.AtLeastOne("an output directory"),
		RunE:              func(cmd *cobra.Command, dirs []string) error { return serve(cmd, dirs, addr, token, tokenFile, asJSON) },
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&addr, "addr", "127.0.0.1:8080", "listen at `HOST:PORT`; port 0 selects a free port")
	fs.StringVar(&token, "token", "", "`TOKEN` that requests must contain; other users can see it in the list of processes")
	fs.StringVar(&tokenFile, "token-file", "", "`FILE` with the token that requests must contain (default $RLRUN_SERVE_TOKEN, or a random one)")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func serve(cmd *cobra.Command, dirs []string, addr, token, tokenFile string, asJSON bool) error {
	ctx := cmd.Context()
	found, err := experiments(dirs)
	if err != nil {
		return err
	}
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return cli.Usagef("--addr must be HOST:PORT, such as 127.0.0.1:8080, not %q", addr)
	}
	if token != "" && tokenFile != "" {
		return cli.Usagef("--token and --token-file both give a token; give one of the two")
	}
	token, err = chosenToken(token, tokenFile)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --addr, such as 127.0.0.1:0", inputfile.Cause(err))
	}
	local := loopback(name)
	s := newServer(ctx, found, token, local)
	if len(dirs) > 1 {
		s.first = len(s.live) - 1 // all together
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }} // long answers end with the command
	where := url.URL{Scheme: "http", Host: shownHost(listener.Addr(), name), Path: "/", RawQuery: url.Values{"token": {token}}.Encode()}
	w := cmd.OutOrStdout()
	if asJSON {
		err = cli.WriteJSON(w, map[string]any{"url": where.String(), "experiments": found})
	} else {
		_, err = fmt.Fprintf(w, "Open %s  (Ctrl-C ends it)\n", &where)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err := server.Shutdown(grace)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// chosenToken returns the token of the flag, the file or the environment, or else a random one.
func chosenToken(token, file string) (string, error) {
	if token == "" && file != "" {
		data, err := inputfile.Read(file, 4096)
		if err != nil {
			return "", cli.Usagef("--token-file: %w", err)
		}
		if token = strings.TrimSpace(string(data)); token == "" {
			return "", cli.Usagef("--token-file: %s is empty; leave the flag out, and rlrun makes a token", file)
		}
	}
	return cmp.Or(token, os.Getenv("RLRUN_SERVE_TOKEN"), rand.Text()), nil
}

// experiments returns the output directories that dirs are or hold.
func experiments(dirs []string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		if host.IsOutput(dir) {
			out = append(out, filepath.Clean(dir))
			continue
		}
		inside, err := host.Outputs(dir)
		if err != nil {
			return nil, cli.Usagef("%s: %v: name an output directory of rlrun run", dir, inputfile.Cause(err))
		}
		if len(inside) == 0 {
			return nil, cli.Usagef("%s holds no experiment.yaml, nor does a directory in it: name an output directory of rlrun run", dir)
		}
		for _, name := range inside {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, nil
}

// loopback tells whether a host is this machine alone.
func loopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// shownHost is the address for people: a name of this machine in place of all
// addresses.
func shownHost(addr net.Addr, name string) string {
	_, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
		name, _ = os.Hostname()
	}
	return net.JoinHostPort(name, port)
}
