package processor

import (
	"os"
	"testing"
	"time"
)

// Work takes time of the processor, waiting takes hardly any, and other processes are added.
func TestTime(t *testing.T) {
	began, clock := Time(), time.Now()
	time.Sleep(50 * time.Millisecond)
	waited := Time() - began
	x := 1.0
	for time.Since(clock) < 5*time.Second && Time()-began-waited < 20*time.Millisecond {
		for range 1000 {
			x *= 1.0000001
		}
	}
	if worked := Time() - began - waited; worked < 20*time.Millisecond || worked <= waited || x == 0 {
		t.Errorf("waiting took %v, work %v", waited, worked)
	}
	if _, err := os.Stat("/proc/self/schedstat"); err == nil {
		if one, two := Time(), Time(os.Getpid()); two < one+one/2 {
			t.Errorf("alone %v, with itself %v", one, two)
		}
	}
}
