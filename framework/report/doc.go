// Package report draws what an experiment found: figures as SVG and PNG, and one
// self-contained web page. It draws from a result.Summary and a compare.Result alone,
// so that anything drawn can be drawn again from the files of an output directory.
//
// The page embeds D3 7.9.2 and Observable Plot 0.6.17 (ISC licence; assets holds
// dist/d3.min.js, dist/plot.umd.min.js and LICENSE of their npm packages, unchanged).
// Plot draws SVG, so that every chart can be saved as it is seen, and its axes know
// logarithms. The package imports the standard library, gonum/plot, framework/result
// and framework/compare.
package report
