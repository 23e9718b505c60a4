package outside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Long names do not push the verdicts out of the window.
func TestLongNamesLeaveRoom(t *testing.T) {
	ctx := browser(t)
	long := strings.Repeat("a rather long name ", 6)
	s := outputtest.Demo(t, []string{"a", long, strings.Repeat("x", 90)}, 100, 10, 20, false)
	compared, err := compare.Compare([]*compare.Input{{Dir: "d", Summary: s}}, compare.Config{Metric: result.Reward, Pairs: "all", Alpha: 0.05, Correction: compare.Holm})
	must.Do(t, err)
	file := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	must.Do(t, compare.WriteHTML(f, compared))
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
