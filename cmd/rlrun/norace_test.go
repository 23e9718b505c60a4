//go:build !race

package main

const slowSteps = "3000"
