package outside

import (
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/output/page"
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
	open(t, ctx, s, page.Page{Comparison: compared}, 1100, "light")
	const right = `Math.max(...[...document.querySelectorAll("#comparison-table td:nth-child(2)")].map((x) => x.getBoundingClientRect().right))`
	if x := evaluate[float64](t, ctx, right); !(x > 0 && x < 1100) {
		t.Errorf("verdicts end at %g of 1100", x)
	}
}
