package plugin_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/rlrun/rlrun/framework/plugin"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/server"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// sabotage holds the fault that struck last. hostileStream decides about the following
// ones.
var sabotage atomic.Value

// serveHostile serves as plugin.Serve does, by a server that breaks the protocol.
func serveHostile(by pb.PluginServer) {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: wire.Versions(plugin.ProtocolVersion, by),
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.ForceServerCodecV2(garbageCodec{encoding.GetCodecV2("proto")}))...)
		},
	})
}

// hostileServer does so once a fault of that kind strikes.
type hostileServer struct{ pb.PluginServer }

// oneHandle gives every environment the handle of the first.
type oneHandle struct{ pb.PluginServer }

func (h oneHandle) OpenEnvironment(ctx context.Context, m *pb.OpenEnvironmentRequest) (*pb.OpenEnvironmentReply, error) {
	reply, err := h.PluginServer.OpenEnvironment(ctx, m)
	if err == nil {
		reply.Instance = 1
	}
	return reply, err
}

// A plugin that gives two open instances one handle is refused: their steps would be one another's.
// One that is closed may leave its handle to the next.
func TestHandlesAreDistinct(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-one-handle")
	first := must.Get(p.OpenEnvironment(t.Context(), nil, 1))(t)
	_, err := p.OpenEnvironment(t.Context(), nil, 1)
	if !errors.Is(err, plugin.ErrProtocol) || !strings.Contains(err.Error(), "the handle 1, which another open instance has") {
		t.Errorf("got %v", err)
	}
	must.Do(t, first.Close())
	must.Get(p.OpenEnvironment(t.Context(), nil, 1))(t)
}

// errEarly ends a stream as if it were complete.
var errEarly = errors.New("early")

func (h hostileServer) StepEnvironment(s pb.Plugin_StepEnvironmentServer) error {
	return early(h.PluginServer.StepEnvironment(&hostileEnvironmentStream{s}))
}

func (h hostileServer) StepAgent(s pb.Plugin_StepAgentServer) error {
	return early(h.PluginServer.StepAgent(&hostileAgentStream{s}))
}

func early(err error) error {
	if errors.Is(err, errEarly) {
		return nil
	}
	return err
}

type hostileEnvironmentStream struct {
	pb.Plugin_StepEnvironmentServer
}

func (s *hostileEnvironmentStream) SendMsg(m any) error {
	return sendHostile(s.Plugin_StepEnvironmentServer, m)
}

type hostileAgentStream struct{ pb.Plugin_StepAgentServer }

func (s *hostileAgentStream) SendMsg(m any) error { return sendHostile(s.Plugin_StepAgentServer, m) }

// protocolFaults are those that sendHostile makes.
var protocolFaults = []string{"duplicate", "old step", "early close", "status", "garbage", "empty", "huge"}

// sendHostile sends a reply, or what the fault that has struck makes of it.
func sendHostile(s grpc.ServerStream, m any) error {
	fault, _ := sabotage.Swap("").(string)
	switch fault {
	case "duplicate":
		if err := s.SendMsg(m); err != nil {
			return err
		}
	case "old step":
		switch m := m.(type) {
		case *pb.EnvironmentReply:
			m.Step--
		case *pb.AgentReply:
			m.Step--
		}
	case "early close":
		return errEarly
	case "status":
		return status.Error(codes.ResourceExhausted, "enough for today")
	case "garbage":
		m = garbage{0xff, 0xfe, 0x0a, 0xff}
	case "empty":
		m = garbage{}
	case "huge":
		m = &pb.EnvironmentReply{Rewards: make([]byte, 8<<20)}
	}
	return s.SendMsg(m)
}

// garbage is sent as it is.
type garbage []byte

type garbageCodec struct{ encoding.CodecV2 }

func (c garbageCodec) Marshal(v any) (mem.BufferSlice, error) {
	if g, ok := v.(garbage); ok {
		return mem.BufferSlice{mem.SliceBuffer(g)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// The error about a plugin that breaks the protocol in the middle of a run is like that
// about one that dies: it has name, step, lanes and last output.
func TestProtocolFaults(t *testing.T) {
	for _, tt := range []struct {
		fault string
		step  int // at which it is seen
		text  string
	}{
		{"duplicate", struck + 1, "the reply is to step 4; every request gets one reply"},
		{"old step", struck, "the reply is to step 3"},
		{"early close", struck, "the plugin ended the stream"},
		{"status", struck, "ResourceExhausted: enough for today"},
		{"garbage", struck, "failed to unmarshal"},
		{"empty", struck, "the reply is to step 0"},
		{"huge", struck, "received message larger than max"},
	} {
		check := func(t *testing.T, err error) {
			t.Helper()
			var e *plugin.Error
			if !errors.As(err, &e) || e.Plugin != "faulty" || e.Step != tt.step || !errors.Is(err, plugin.ErrProtocol) {
				t.Fatalf("got %#v, want a protocol error at step %d", err, tt.step)
			}
			where := "plugin faulty: lanes 0 to 3: "
			if first, last, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, where) || !strings.Contains(first, tt.text) || !strings.Contains(last, "here it comes") {
				t.Errorf("got %q, want %q and %q in its first line, then what the process wrote", err, where, tt.text)
			}
		}
		t.Run("environment/"+tt.fault, func(t *testing.T) {
			t.Parallel()
			p := launch(t, plugin.LaunchConfig{}, "serve-hostile-environment")
			check(t, stepEnvironment(t, p, tt.fault, tt.step))
			if err := stepEnvironment(t, p, "none", tt.step); err != nil {
				t.Errorf("the next instance: %v", err)
			}
		})
		if tt.fault == "huge" {
			continue // what an agent with options may answer has no bound
		}
		t.Run("agent/"+tt.fault, func(t *testing.T) {
			t.Parallel()
			p := launch(t, plugin.LaunchConfig{}, "serve-hostile-agent")
			check(t, stepAgent(t, p, tt.fault, tt.step))
		})
	}
}

// serveHostileSocket serves p as plugin.Serve does, but what it sends over the socket for steps
// passes through hands that break the protocol once a fault of that kind strikes.
func serveHostileSocket(p vector.Plugin) {
	fd, err := strconv.Atoi(os.Getenv(wire.SocketVariable))
	if err != nil {
		panic(err)
	}
	host := os.NewFile(uintptr(fd), "host")
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	plug := os.NewFile(uintptr(ends[0]), "plugin")
	os.Setenv(wire.SocketVariable, strconv.Itoa(ends[1]))
	go io.Copy(plug, host)
	go func() {
		for {
			header := make([]byte, 5)
			if _, err := io.ReadFull(plug, header); err != nil {
				return
			}
			message := make([]byte, binary.LittleEndian.Uint32(header))
			if _, err := io.ReadFull(plug, message); err != nil {
				return
			}
			sendHostileFrame(host, header, message)
		}
	}()
	plugin.Serve(p)
}

// sendHostileFrame sends a frame, or what the fault that has struck makes of it.
func sendHostileFrame(host *os.File, header, message []byte) {
	send := func(length uint32, kind byte, data []byte) {
		host.Write(append(append(binary.LittleEndian.AppendUint32(nil, length), kind), data...))
	}
	n, kind, half := uint32(len(message)), header[4], message[:len(message)/2]
	switch fault, _ := sabotage.Swap("").(string); fault {
	case "duplicate":
		send(n, kind, message)
		send(n, kind, message)
	case "death in a frame":
		send(n, kind, half)
		os.Exit(3)
	case "silence in a frame":
		send(n, kind, half)
	case "silence":
	case "huge":
		send(math.MaxUint32, kind, message)
	case "long": // within what an agent may answer
		send(1<<30, kind, message)
	case "garbage":
		send(4, kind, []byte{0xff, 0xfe, 0x0a, 0xff})
	case "empty":
		send(0, kind, nil)
	case "kind":
		send(n, 77, message)
	case "status":
		send(9, byte(wire.Refused), []byte{0x1a, 7, 'e', 'n', 'o', 'u', 'g', 'h', '!'})
	case "close":
		syscall.Shutdown(int(host.Fd()), syscall.SHUT_RDWR)
	case "byte by byte":
		for _, b := range append(header, message...) {
			host.Write([]byte{b})
			time.Sleep(time.Millisecond)
		}
	default:
		send(n, kind, message)
	}
}

// The same of a plugin that breaks the protocol on the socket for steps. Its process ends.
func TestSocketFaults(t *testing.T) {
	for _, tt := range []struct {
		fault string
		step  int // at which it is seen
		is    error
		text  string
	}{
		{"duplicate", struck + 1, plugin.ErrProtocol, "the reply is to step 4; every request gets one reply"},
		{"death in a frame", struck, plugin.ErrDied, "exit status 3"},
		{"silence in a frame", struck, plugin.ErrTimeout, "no answer within 1s"},
		{"silence", struck, plugin.ErrTimeout, "no answer within 1s"},
		{"huge", struck, plugin.ErrProtocol, "received message larger than max (4294967295 vs. "},
		{"long", struck, nil, ""},
		{"garbage", struck, plugin.ErrProtocol, "failed to unmarshal"},
		{"empty", struck, plugin.ErrProtocol, "the reply is to step 0"},
		{"kind", struck, plugin.ErrProtocol, "a frame of kind 77"},
		{"status", struck, plugin.ErrProtocol, "enough!"},
		{"close", struck, plugin.ErrProtocol, "the plugin closed the socket for steps"},
		{"byte by byte", struck, nil, ""},
	} {
		for part, step := range map[string]func(*testing.T, vector.Plugin, string, int) error{"environment": stepEnvironment, "agent": stepAgent} {
			is, text := tt.is, tt.text
			if tt.fault == "long" { // what an agent with options may answer has no bound
				is, text = plugin.ErrProtocol, "received message larger than max (1073741824 vs. "
				if part == "agent" {
					is, text = plugin.ErrTimeout, "no answer within 1s"
				}
			}
			t.Run(part+"/"+tt.fault, func(t *testing.T) {
				t.Parallel()
				p := launch(t, plugin.LaunchConfig{CallTimeout: time.Second}, "serve-hostile-socket-"+part)
				err := step(t, p, tt.fault, tt.step)
				if is == nil {
					must.Do(t, err)
					return
				}
				var e *plugin.Error
				if !errors.As(err, &e) || e.Plugin != "faulty" || e.Step != tt.step || !errors.Is(err, is) {
					t.Fatalf("got %#v, want %v at step %d", err, is, tt.step)
				}
				where := "plugin faulty: lanes 0 to 3: "
				if first, last, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, where) || !strings.Contains(first, text) || !strings.Contains(last, "here it comes") {
					t.Errorf("got %q, want %q and %q in its first line, then what the process wrote", err, where, text)
				}
				waitForEnd(t, p.Pid())
			})
		}
	}
}

// serveAlien shakes hands and then is not what a plugin has to be.
func serveAlien(how string) {
	socket := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "alien")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "take me to your leader")
	switch how {
	case "netrpc":
		fmt.Printf("1|1|unix|%s|netrpc|\n", socket)
	case "nowhere":
		fmt.Printf("1|1|unix|%s/nothing|grpc|\n", socket)
	case "tcp":
		fmt.Print("1|1|tcp|127.0.0.1:9|grpc|\n")
	case "core":
		fmt.Printf("2|1|unix|%s|grpc|\n", socket)
	case "certificate":
		fmt.Printf("1|1|unix|%s|grpc|%s\n", socket, strings.Repeat("AAAA", 20))
	default:
		fmt.Printf("1|1|unix|%s|grpc|\n", socket)
	}
	if how == "plain" { // gRPC without its half of the mutual authentication
		s := grpc.NewServer()
		pb.RegisterPluginServer(s, server.New(faultyEnvironment()))
		s.Serve(listener)
		return
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if how == "mute" {
				select {}
			}
			conn.Read(make([]byte, 1<<10))
			conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
		}()
	}
}

// A program that shakes hands but does not speak the protocol, or not as the
// handshake agreed, is no plugin.
func TestAliens(t *testing.T) {
	for how, want := range map[string]string{
		"http":        "tls: first record does not look like a TLS handshake",
		"plain":       "tls: first record does not look like a TLS handshake",
		"mute":        "no answer within 3s of its start",
		"netrpc":      `unsupported plugin protocol "netrpc"`,
		"nowhere":     "error while dialing",
		"tcp":         "its handshake names an address of the network tcp, and plugins listen on Unix sockets only",
		"core":        "incompatible core API version",
		"certificate": "error parsing server cert",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if how == "mute" {
				timeout = 3 * time.Second // on a busy machine the process takes a second to say its line
			}
			p, err := plugin.Launch(t.Context(), plugin.LaunchConfig{
				Name: "x", Command: os.Args[0], Args: []string{"serve-alien", how}, StartTimeout: timeout,
			})
			if err == nil {
				t.Fatalf("it started as process %d", p.Pid())
			}
			for _, part := range []string{"plugin x: cannot start ", want, "\ttake me to your leader"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want %q in it", err, part)
				}
			}
		})
	}
}

// serveBesideAStranger serves an environment, but lets a stranger, another
// process of the same user, at its socket before the host knows where it is.
func serveBesideAStranger() {
	cmd := exec.Command(os.Args[0], "serve-environment")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	line := make([]byte, 16<<10)
	n, err := out.Read(line)
	if err != nil {
		panic(err)
	}
	stranger(strings.Split(string(line[:n]), "|")[3])
	os.Stdout.Write(line[:n])
	cmd.Wait()
}

// stranger calls a plugin's socket in every way that is open to one who does not
// hold the host's key, and says what came of it.
func stranger(socket string) {
	own := httptest.NewTLSServer(nil).TLS.Certificates // any will do
	for _, try := range []struct {
		how   string
		creds credentials.TransportCredentials
	}{
		{"in plain text", insecure.NewCredentials()},
		{"without a certificate", credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})},
		{"with a certificate of its own", credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, Certificates: own})},
	} {
		conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(try.creds))
		if err != nil {
			panic(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, err = pb.NewPluginClient(conn).Describe(ctx, &pb.DescribeRequest{})
		fmt.Fprintf(os.Stderr, "stranger %s: %v\n", try.how, status.Code(err))
		cancel()
		conn.Close()
	}
}

// A stranger on the socket is refused, however it comes, and the host is served
// as if nothing had happened. Only the user can enter the socket's directory at all.
func TestStranger(t *testing.T) {
	p := launch(t, plugin.LaunchConfig{}, "serve-beside-a-stranger")
	said := strings.Join(p.Stderr(), "\n")
	for _, how := range []string{"in plain text", "without a certificate", "with a certificate of its own"} {
		if !strings.Contains(said, "stranger "+how+": Unavailable") {
			t.Errorf("%s: not refused", how)
		}
	}
	if t.Failed() {
		t.Log(said)
	}
	if err := stepEnvironment(t, p, "none", struck); err != nil {
		t.Error(err)
	}
}
