//go:build !race

package main

const race = false

const slowSteps = "3000"
