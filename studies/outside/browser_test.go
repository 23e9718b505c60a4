// Package outside tests rlrun from outside with large libraries: pages in a browser, and
// manifests with the types of Kubernetes. It is in this module, so that users of rlrun do
// not get these libraries.
package outside

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/rlrun/rlrun/internal/must"
)

// browser starts Chromium for chromedp. It skips the test with -short, and where there
// is no Chromium. An error of a page's script fails the test, and so does a request
// that goes beyond files and the given addresses.
func browser(t testing.TB, addresses ...string) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium on the path")
	}
	addresses = append(addresses, "file:", "data:", "blob:", "about:")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(directory(t)), chromedp.WSURLReadTimeout(time.Minute))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser's end, so that its directory can go
		cancel()
	})
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page's script failed: %s", event.ExceptionDetails.Error())
		case *network.EventRequestWillBeSent:
			for _, a := range addresses {
				if strings.HasPrefix(event.Request.URL, a) {
					return
				}
			}
			t.Errorf("the page asked for %s", event.Request.URL)
		}
	})
	must.Do(t, chromedp.Run(ctx, network.Enable()))
	return ctx
}

// directory is a temporary directory for the browser. Processes of it may write there for a
// moment after its end.
func directory(t testing.TB) string {
	dir := must.Get(os.MkdirTemp("", "rlrun-browser"))(t)
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return dir
}
