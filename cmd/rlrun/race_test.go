//go:build race

package main

const race = true

// slowSteps are steps enough for an experiment to be interrupted in its middle;
// under the race detector they take longer.
const slowSteps = "400"
