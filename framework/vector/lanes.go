package vector

// eachLane calls f for one lane after the other. The error names the lane; a panic is
// one.
func eachLane(lanes int, f func(lane int) error) error {
	for i := range lanes {
		if err := Guard(func() error { return f(i) }); err != nil {
			return &LaneError{Lane: i, Err: err}
		}
	}
	return nil
}
