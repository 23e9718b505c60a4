package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// SocketVariable is the environment variable with the file descriptor of a plugin's end of
// its socket.
const SocketVariable = "RLRUN_STEP_FD"

// Kind says what a frame holds.
type Kind byte

const (
	Hello           Kind = iota // from the plugin: it reads steps from the socket
	EnvironmentStep             // EnvironmentRequest, EnvironmentReply
	AgentStep                   // AgentRequest, AgentReply
	End                         // from the host: CloseRequest, without a reply
	Refused                     // from the plugin: Error; the host broke the protocol
	RuleStep                    // RuleRequest, RuleReply
	Ahead                       // AheadRequest, AheadReply
)

// A frame is the number of bytes of its message as a little-endian uint32, its kind, and its
// message.
const headerSize = 5

// hello is a frame of that kind.
var hello = [headerSize]byte{4: byte(Hello)}

// Socket carries steps between a host and a plugin's process. Its two ends block: a thread that
// waits in the kernel is woken in a fifth of the time that the poller of Go's runtime needs.
// One goroutine at a time may send and receive. Close may be called by any.
type Socket struct {
	file    *os.File
	slices  int // that Send and Receive wait; 0: for ever
	sending []byte
	buffer  []byte // what has been read
	begin   int    // of what has not been returned
}

// ErrTooLarge is the error about a message beyond the limit.
var ErrTooLarge = errors.New("message larger than max")

func newSocket(file *os.File) *Socket {
	return &Socket{file: file, buffer: make([]byte, 0, 1<<12)}
}

// Send sends a message.
func (s *Socket) Send(kind Kind, m proto.Message) error {
	data, err := proto.MarshalOptions{}.MarshalAppend(append(s.sending[:0], make([]byte, headerSize)...), m)
	if err != nil {
		return err
	}
	s.sending = data
	binary.LittleEndian.PutUint32(data, uint32(len(data)-headerSize))
	data[headerSize-1] = byte(kind)
	for left := s.slices; len(data) > 0; {
		n, err := s.file.Write(data)
		data = data[n:]
		if err = s.wait(err, &left); err != nil {
			return err
		}
	}
	return nil
}

// Receive returns the next message, of at most most bytes. It is valid until the next call.
// The error is io.EOF if the other end is closed, and os.ErrDeadlineExceeded if the time is
// over.
func (s *Socket) Receive(most int) (Kind, []byte, error) {
	if s.begin == len(s.buffer) {
		s.begin, s.buffer = 0, s.buffer[:0]
	}
	left := s.slices
	if err := s.fill(headerSize, &left); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(s.buffer[s.begin:])
	kind := Kind(s.buffer[s.begin+headerSize-1])
	if int64(size) > int64(most) {
		return 0, nil, fmt.Errorf("received %w (%d vs. %d)", ErrTooLarge, size, most)
	}
	if err := s.fill(headerSize+int(size), &left); err != nil {
		return 0, nil, err
	}
	from := s.begin + headerSize
	s.begin = from + int(size)
	return kind, s.buffer[from:s.begin], nil
}

// largestRead bounds by how much the buffer grows before what was announced has come.
const largestRead = 1 << 20

// fill reads until the buffer holds n bytes that have not been returned.
func (s *Socket) fill(n int, left *int) error {
	if s.begin > 0 && s.begin+n > cap(s.buffer) {
		s.buffer, s.begin = s.buffer[:copy(s.buffer, s.buffer[s.begin:])], 0
	}
	for s.begin+n > len(s.buffer) {
		if len(s.buffer) == cap(s.buffer) {
			s.buffer = slices.Grow(s.buffer, min(s.begin+n-len(s.buffer), largestRead))
		}
		got, err := s.file.Read(s.buffer[len(s.buffer):cap(s.buffer)])
		s.buffer = s.buffer[:len(s.buffer)+got]
		if err = s.wait(err, left); err != nil {
			return err
		}
	}
	return nil
}

// wait forgives an error that says that a slice of time is over, if there are slices left.
func (s *Socket) wait(err error, left *int) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EAGAIN):
		if *left--; *left > 0 || s.slices == 0 {
			return nil
		}
		return os.ErrDeadlineExceeded
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrClosed):
		return io.EOF
	}
	return err
}

// Limit bounds the time that Send and Receive wait. It is measured in slices, so that time in
// which this process was suspended hardly counts.
func (s *Socket) Limit(limit time.Duration, slices int) error {
	s.slices = slices
	return setTimeouts(int(s.file.Fd()), limit/time.Duration(slices))
}

// Close ends what waits in Send and Receive at both ends, and closes this end.
func (s *Socket) Close() error {
	shutdown(int(s.file.Fd()))
	return s.file.Close()
}

// Decode reads a message into m, whose columns are used again.
func Decode(data []byte, m proto.Message) error {
	if done, err := decodeColumns(data, m); done || err != nil {
		return err
	}
	return proto.Unmarshal(data, m)
}

// Refuse sends an error of the protocol.
func (s *Socket) Refuse(err error) error { return s.Send(Refused, &pb.Error{Message: err.Error()}) }
