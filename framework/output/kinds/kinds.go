// Package kinds lists the outputs that rlrun knows.
package kinds

import (
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/comparisons"
	"github.com/rlrun/rlrun/framework/output/csv"
	"github.com/rlrun/rlrun/framework/output/latex"
	"github.com/rlrun/rlrun/framework/output/page"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/output/sqlite"
	"github.com/rlrun/rlrun/framework/output/tables"
	"github.com/rlrun/rlrun/framework/output/tensorboard"
)

// Run are the outputs that a config can choose from. They are made in this order.
var Run = []output.Output{
	csv.Output, sqlite.Output, comparisons.Output, plots.Output, page.Output,
	output.Exported(tables.Parquet), output.Exported(tensorboard.Output), output.Exported(latex.Output),
}

// Export are the formats of rlrun export.
var Export = []output.Output{tables.Parquet, tables.CSV, tensorboard.Output, latex.Output}
