package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rlrun/rlrun/internal/must"
)

// A terminal that does not tell its size is one of 80 columns, as tables of all columns would be
// broken there. A file or a pipe has no width.
func TestWidth(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	terminal := must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer terminal.Close()
	for columns, want := range map[uint16]int{0: 80, 100: 100} {
		must.Do(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns}))
		if got := Width(terminal); got != want {
			t.Errorf("of %d columns: %d, want %d", columns, got, want)
		}
	}
	if got := Width(&strings.Builder{}); got != 0 {
		t.Errorf("of a text: %d, want 0", got)
	}
}
