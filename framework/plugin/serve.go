package plugin

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	hclog "github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/rlrun/rlrun/framework/plugin/internal/server"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
)

// Serve offers p to the host that started this process and returns when the host
// is done with it. A plugin's main function only calls it:
//
//	func main() { plugin.Serve(myPlugin()) }
//
// What the process prints to standard output goes to standard error, whose last
// lines the host shows when something fails. GOMAXPROCS is 1 unless the
// environment variable says otherwise: stepping is sequential, and a second
// thread costs more in hand-overs than it saves. The process exits when its host
// does. It leaves SIGINT and SIGTERM to the host: schedulers send them to all processes
// of a job at once.
//
// If rlrun did not start the process, Serve says how to use a plugin and exits
// with status 2.
func Serve(p vector.Plugin) {
	cookie := wire.Handshake()
	if os.Getenv(cookie.MagicCookieKey) != cookie.MagicCookieValue {
		fmt.Fprintf(os.Stderr, "%s is a plugin for rlrun and is started by it: name this file as a plugin in an experiment's config, or try rlrun plugin check %s\n", os.Args[0], os.Args[0])
		os.Exit(2)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) // go-plugin does so for SIGINT
	s := server.New(p)
	line := server.NewLifeline()
	if socket := wire.Inherited(); socket != nil {
		go func() {
			if err := s.ServeSocket(socket); err != nil {
				fmt.Fprintln(os.Stderr, "the socket for steps:", err)
			}
		}()
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  cookie,
		VersionedPlugins: wire.Versions(ProtocolVersion, s),
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			opts = append(opts, wire.ServerOptions()...)
			return grpc.NewServer(append(opts, grpc.StatsHandler(line))...)
		},
	})
	s.CloseAll()
}
