//go:build !race

package tabularagents

const raced = false
