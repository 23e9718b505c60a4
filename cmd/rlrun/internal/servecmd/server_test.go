package servecmd

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// pipe is a response over a connection that has no buffer, so that each write waits for the reader.
type pipe struct {
	*httptest.ResponseRecorder
	net.Conn
}

func (p pipe) Write(data []byte) (int, error) { return p.Conn.Write(data) }

// A reader that takes nothing loses its connection after the time that it has for a portion, and one
// that takes a portion in that time has all of a long answer.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const portions = 5
		read := func(wait time.Duration) (n int, took time.Duration, err error) {
			here, there := net.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer there.Close()
				buf := make([]byte, portion)
				for range portions {
					time.Sleep(wait)
					if _, err := io.ReadFull(there, buf); err != nil {
						return
					}
				}
			}()
			w := pipe{httptest.NewRecorder(), here}
			began := time.Now()
			n, err = (&patient{w, http.NewResponseController(w)}).Write(make([]byte, portions*portion))
			took = time.Since(began)
			must.Do(t, here.Close())
			<-done
			return n, took, err
		}
		if n, took, err := read(patience - time.Second); err != nil || n != portions*portion || took != portions*(patience-time.Second) {
			t.Errorf("a reader that is slow enough has %d bytes after %v: %v", n, took, err)
		}
		if n, took, err := read(patience + time.Second); !errors.Is(err, os.ErrDeadlineExceeded) || n != 0 || took != patience {
			t.Errorf("a reader that is too slow has %d bytes after %v: %v", n, took, err)
		}
	})
}
