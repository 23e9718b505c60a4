package cli

import (
	"fmt"
	"io"
	"time"
)

// Announce says on w what is being done, if it takes longer than after. The caller
// ends it; nothing is written any more then.
func Announce(w io.Writer, after time.Duration, what string) (end func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		fmt.Fprintln(w, what)
		close(said)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}
