package wire

import (
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/internal/must"
)

// Whatever a message held before, reading into it gives what protobuf's own
// decoder gives, in one piece or in several.
func TestCodecIsProtobuf(t *testing.T) {
	codec := newColumnCodec()
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SliceOfN(rapid.Byte(), 0, 20)
		number := rapid.Uint64Range(0, 2)
		draw := func(name string) proto.Message {
			var e *pb.Error
			if rapid.Bool().Draw(t, name+" fails") {
				e = &pb.Error{Code: pb.Code_CODE_NEEDS_RESET, Message: "m"}
			}
			b := func() []byte { return column.Draw(t, name) }
			var m proto.Message
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				m = &pb.EnvironmentRequest{Step: number.Draw(t, name), Instance: number.Draw(t, name)}
			case 1:
				m = &pb.EnvironmentReply{Step: number.Draw(t, name), Error: e}
			case 2:
				m = &pb.AgentRequest{Step: number.Draw(t, name), Instance: number.Draw(t, name)}
			default:
				m = &pb.AgentReply{Step: number.Draw(t, name), Error: e}
			}
			r := m.ProtoReflect()
			fields := r.Descriptor().Fields()
			for i := range fields.Len() { // every column there is
				if f := fields.Get(i); f.Kind() == protoreflect.BytesKind {
					if column := b(); len(column) > 0 {
						r.Set(f, protoreflect.ValueOfBytes(column))
					}
				}
			}
			return m
		}
		sent := draw("sent")
		got := sent.ProtoReflect().New().Interface()
		for range 3 { // into a fresh message, then into a used one
			data := must.Get(proto.Marshal(sent))(t)
			cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
			parts := mem.BufferSlice{mem.SliceBuffer(data[:cut]), mem.SliceBuffer(data[cut:])}
			must.Do(t, codec.Unmarshal(parts, got))
			if !proto.Equal(sent, got) {
				t.Fatalf("got %v, want %v", got, sent)
			}
			next := draw("next")
			if next.ProtoReflect().Descriptor() == sent.ProtoReflect().Descriptor() {
				sent = next
			}
		}
	})
}

func TestCodecRefusesGarbage(t *testing.T) {
	codec := newColumnCodec()
	for _, data := range [][]byte{
		{0xff}, {0x12}, {0x12, 5, 1}, {0x12, 0xff, 0xff}, {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x07},
	} {
		for _, m := range []any{&pb.EnvironmentRequest{}, &pb.EnvironmentReply{}, &pb.AgentRequest{}, &pb.AgentReply{}} {
			if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, m); err == nil {
				t.Errorf("% x was read as %T", data, m)
			}
		}
	}
}
