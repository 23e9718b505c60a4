package subprocess

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	for _, tt := range []struct {
		name string
		text string
		want []string
	}{
		{"nothing", "", nil},
		{"few lines", "a\nb\n", []string{"a", "b"}},
		{"the last ones", "a\nb\nc\nd\n", []string{"b", "c", "d"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"empty lines", "a\n\n \nb\r\n", []string{"a", "b"}},
		{"a long line", "a\n" + long + "\nb\n", []string{"a", long[:maxLine], "b"}},
		{"records of a log", `{"@level": "info","@message":"a"}` + "\nb\n" + `{"@level":"warn","@message":"c"}` + "\n", []string{"b", `{"@level":"warn","@message":"c"}`}},
		{"a panic in sight", "panic: oh\nb\n", []string{"panic: oh", "b"}},
		{"a panic out of sight", "a\npanic: oh\n\ngoroutine 1 [running]:\nb\nc\n", []string{"panic: oh", "…", "goroutine 1 [running]:", "b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, bytewise := NewTail(3), NewTail(3)
			fmt.Fprint(whole.Stream(), tt.text)
			stream := bytewise.Stream()
			for i := range len(tt.text) {
				fmt.Fprint(stream, tt.text[i:i+1])
			}
			for _, got := range [][]string{whole.Last(), bytewise.Last()} {
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestTailOfSeveralStreams(t *testing.T) {
	both := NewTail(3)
	a, b := both.Stream(), both.Stream()
	fmt.Fprint(a, "on")
	fmt.Fprint(b, "tw")
	fmt.Fprint(a, "e\n")
	if got, want := both.Last(), []string{"one", "tw"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
