// Package plugin connects rlrun with plugins in processes of their own, over
// hashicorp/go-plugin and gRPC.
//
//   - The author's side: main calls ServeEnvironment or ServeAgent with what makes
//     one copy, or Serve with any vector.Plugin.
//   - The host's side: Search finds an executable by name, Launch starts it, and
//     the Process it returns is a vector.Plugin. Its environments and agents
//     behave like local ones, except that they may fail with an Error. The Error
//     names the plugin, the step, the lane if one caused it, and the last lines
//     that the process wrote to its stderr.
//   - Loopback joins both sides in one process, for tests.
//
// The protocol is plugin.proto: unary calls for control, one bidirectional stream
// an instance for stepping, a column of bytes a field. Connections are mutually
// authenticated (go-plugin's AutoMTLS), and a process ends with its host, however
// the host ends.
//
// The package imports framework and its contract packages, go-plugin, hclog and
// gRPC. Nothing else in framework imports those three.
package plugin

//go:generate go -C ../../studies run ./protogen ../framework/plugin

// ProtocolVersion is the newest version of the protocol that this package
// speaks, on either side. The handshake picks the newest that both sides speak.
const ProtocolVersion = 1
