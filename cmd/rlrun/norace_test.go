//go:build !race

package main

const race = false

const slowSteps = "9000"
