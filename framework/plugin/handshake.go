package plugin

import (
	"context"
	"math"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// ProtocolVersion is the newest version of the protocol that this package
// speaks, on either side. The handshake picks the newest that both sides speak.
const ProtocolVersion = 1

// wireName names the one service in go-plugin's terms.
const wireName = "plugin"

// handshake tells a plugin that rlrun started it. It is no secret.
func handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		MagicCookieKey:   "RLRUN_PLUGIN",
		MagicCookieValue: "c2b1e0a7-rlrun-plugin",
	}
}

// versions returns the protocol versions and what serves them; server is nil on
// the host's side.
func versions(server pb.PluginServer) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{
		ProtocolVersion: {wireName: &wire{server: server}},
	}
}

// wire joins go-plugin with the generated service.
type wire struct {
	goplugin.NetRPCUnsupportedPlugin
	server pb.PluginServer
}

var _ goplugin.GRPCPlugin = (*wire)(nil)

// GRPCServer registers the service in the plugin's process.
func (w *wire) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterPluginServer(s, w.server)
	return nil
}

// GRPCClient returns the host's client of the service.
func (w *wire) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return pb.NewPluginClient(conn), nil
}

// window is how much either side may send before the other has read it: more
// than a step of thousands of lanes, so that flow control never waits.
const window = 16 << 20

// dialOptions are the host's. An idle connection is kept: closing it would end
// the plugin.
func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithIdleTimeout(0),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newColumnCodec()),
			grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
}

// serverOptions are the plugin's: gRPC's own limit of 4 MiB a message is too
// small for wide observations.
func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newColumnCodec()),
		grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
	}
}
