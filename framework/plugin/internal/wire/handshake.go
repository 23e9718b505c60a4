// Package wire is what both sides of the seam agree on: how a plugin knows its host,
// the name of the service, and how gRPC sends its messages. It imports go-plugin and
// gRPC.
package wire

import (
	"context"
	"math"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// Name names the one service in go-plugin's terms.
const Name = "plugin"

// Handshake tells a plugin that rlrun started it. It is no secret.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		MagicCookieKey:   "RLRUN_PLUGIN",
		MagicCookieValue: "c2b1e0a7-rlrun-plugin",
	}
}

// Versions returns the versions of the protocol (there is one) and their
// servers. server is nil on the host's side.
func Versions(version int, server pb.PluginServer) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{
		version: {Name: &service{server: server}},
	}
}

// service joins go-plugin with the generated service.
type service struct {
	goplugin.NetRPCUnsupportedPlugin
	server pb.PluginServer
}

var _ goplugin.GRPCPlugin = (*service)(nil)

// GRPCServer registers the service in the plugin's process.
func (s *service) GRPCServer(_ *goplugin.GRPCBroker, registrar *grpc.Server) error {
	pb.RegisterPluginServer(registrar, s.server)
	if decides, ok := s.server.(pb.DecisionsServer); ok {
		pb.RegisterDecisionsServer(registrar, decides)
	}
	return nil
}

// GRPCClient returns the host's client of the service.
func (s *service) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// window is how much either side may send before the other has read it: more
// than a step of thousands of lanes, so that flow control never waits.
const window = 16 << 20

// DialOptions are the host's. An idle connection is kept: closing it would end
// the plugin.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithIdleTimeout(0),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newColumnCodec()),
			grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
}

// ServerOptions are the plugin's: gRPC's own limit of 4 MiB a message is too
// small for wide observations.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newColumnCodec()),
		grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
	}
}
