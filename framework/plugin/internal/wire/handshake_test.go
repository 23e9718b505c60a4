package wire

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/internal/must"
)

// A plugin of an earlier SDK knows SetOptionKinds by the name Offer. Calls that it does not know by
// any name stay unimplemented.
func TestFormerNames(t *testing.T) {
	var kinds []string
	listener, server := bufconn.Listen(1<<16), grpc.NewServer(ServerOptions()...)
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "rlrun.plugin.v1.Plugin", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Offer",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var request pb.SetOptionKindsRequest
			err := decode(&request)
			kinds = request.Kinds
			return &pb.SetOptionKindsReply{Error: &pb.Error{Message: "from Offer"}}, err
		},
	}}}, nil)
	go server.Serve(listener)
	defer server.Stop()
	conn := must.Get(grpc.NewClient("passthrough:plugin", append(DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return listener.Dial() }))...))(t)
	defer conn.Close()
	client := pb.NewPluginClient(conn)
	reply, err := client.SetOptionKinds(t.Context(), &pb.SetOptionKindsRequest{Kinds: []string{"members"}})
	if err != nil || reply.GetError().GetMessage() != "from Offer" || len(kinds) != 1 || kinds[0] != "members" {
		t.Errorf("got %v, %v for %q", reply, err, kinds)
	}
	if _, err := client.Measure(t.Context(), &pb.MeasureRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a call that the plugin does not have: %v", err)
	}
}
