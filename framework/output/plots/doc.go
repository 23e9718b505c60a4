// Package plots draws what an experiment found: figures as SVG and PNG. It draws from a
// result.Summary alone, so that anything drawn can be drawn again from the files of an output
// directory.
package plots
