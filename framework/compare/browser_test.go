package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rlrun/rlrun/framework/report/reporttest"
	"github.com/rlrun/rlrun/internal/must"
)

// Long names do not push the verdicts out of the window.
func TestLongNamesLeaveRoom(t *testing.T) {
	ctx := reporttest.Browser(t)
	long := strings.Repeat("a rather long name ", 6)
	in := experiment("d", 1, []string{"a", long, strings.Repeat("x", 90)}, noisy(20, 1, 0, 1, 2), noisy(20, 2, 0, 1, 2))
	file := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	must.Do(t, WriteHTML(f, compared(t, []*Input{in}, with(func(o *Options) { o.Pairs = "all" }))))
	var tables, wide int
	const hidden = `[...document.querySelectorAll(".wide table")].filter((e) => e.offsetWidth > e.parentElement.clientWidth + 1).length`
	err = chromedp.Run(ctx, chromedp.EmulateViewport(1100, 900), chromedp.Navigate("file://"+file),
		chromedp.Evaluate(`document.querySelectorAll(".wide table").length`, &tables), chromedp.Evaluate(hidden, &wide))
	if err != nil {
		t.Fatal(err)
	}
	if tables < 3 || wide > 0 {
		t.Errorf("%d of %d tables are wider than the page", wide, tables)
	}
}
