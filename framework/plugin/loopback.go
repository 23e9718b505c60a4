package plugin

import (
	"context"
	"net"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/server"
	"github.com/rlrun/rlrun/framework/plugin/internal/subprocess"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
)

// Loopback returns p as seen through the seam: every call goes over a real gRPC
// connection, but within this process. It is meant for tests: a plugin that
// passes them directly must also pass them here. The caller closes the process.
func Loopback(p vector.Plugin) (*Process, error) {
	directory, err := socketDir()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(directory, "plugin")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		removeSocketDir(directory)
		return nil, err
	}
	service := server.New(p)
	s := grpc.NewServer(wire.ServerOptions()...)
	pb.RegisterPluginServer(s, service)
	pb.RegisterDecisionsServer(s, service)
	go s.Serve(listener)
	stop := func() {
		s.Stop()
		service.CloseAll()
		removeSocketDir(directory)
	}
	conn, err := grpc.NewClient("unix:"+socket,
		append(wire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		stop()
		return nil, err
	}
	o := LaunchConfig{Name: "loopback", CloseTimeout: 10 * time.Second}.withDefaults()
	process := newProcess(o, conn, subprocess.NewTail(o.StderrLines))
	process.stop = func() {
		conn.Close()
		stop()
	}
	if process.description, err = process.describe(context.Background()); err != nil {
		process.Close()
		return nil, err
	}
	return process, nil
}
