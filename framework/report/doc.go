// Package report draws what an experiment found: figures as SVG and PNG, and one
// self-contained web page. It draws from a result.Summary alone, so that anything
// drawn can be drawn again from the files of an output directory.
//
// The page embeds uPlot 1.6.32 (MIT licence; assets holds dist/uPlot.iife.min.js,
// dist/uPlot.min.css and LICENSE of its npm package, unchanged). The package imports the
// standard library, gonum/plot and framework/result.
package report
