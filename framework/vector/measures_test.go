package vector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
)

func TestCheckMetrics(t *testing.T) {
	fine := []framework.Metric{
		{Name: "loss", Better: framework.Lower, Total: framework.Last}, {Name: "n_2", Total: framework.Sum}, {Name: "t", Unit: "episodes", Total: framework.Time}, {Name: "x", Better: framework.Higher},
	}
	if err := CheckMetrics(fine); err != nil {
		t.Error(err)
	}
	for want, m := range map[string]framework.Metric{
		`metric "":`:            {},
		`metric "Loss":`:        {Name: "Loss"},
		`metric "2n":`:          {Name: "2n"},
		`metric "a b":`:         {Name: "a b"},
		`is declared twice`:     {Name: "loss"},
		`better is "more"`:      {Name: "a", Better: "more"},
		`total is "median",`:    {Name: "a", Total: "median"},
		`must be "last", "sum"`: {Name: "a", Total: "mean"},
		`unit of a time`:        {Name: "a", Total: framework.Time, Unit: "reward"},
	} {
		if err := CheckMetrics(append(fine, m)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", m, err, want)
		}
	}
	// Each is a curve of every run: a plugin with 200,000 kept rlrun silent for a minute.
	many := make([]framework.Metric, 1001)
	for i := range many {
		many[i].Name = fmt.Sprintf("m%d", i)
	}
	if err := CheckMetrics(many[:1000]); err != nil {
		t.Error(err)
	}
	if err := CheckMetrics(many); err == nil || err.Error() != "1001 metrics are declared; at most 1000 can be" {
		t.Errorf("1001 metrics: %v", err)
	}
}
