package plugin

import (
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// What tests need to be a plugin, or to call one, by a way of their own.

func Handshake() goplugin.HandshakeConfig { return handshake() }

func Versions(s pb.PluginServer) map[int]goplugin.PluginSet { return versions(s) }

func NewServer(p framework.Plugin) pb.PluginServer { return newServer(p) }
