package fromproto

import (
	"fmt"
	"image"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
)

// Frame decodes a picture, once its size has been checked.
func Frame(m *pb.RgbFrame) (*image.RGBA, error) {
	width, height := int(m.Width), int(m.Height)
	if err := vector.CheckFrameSize(width, height); err != nil {
		return nil, err
	}
	if len(m.Rgb) != 3*width*height {
		return nil, fmt.Errorf("the frame has %d bytes, must have 3 × %d × %d = %d", len(m.Rgb), width, height, 3*width*height)
	}
	frame := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, at := 0, 0; i < len(m.Rgb); i, at = i+3, at+4 {
		frame.Pix[at], frame.Pix[at+1], frame.Pix[at+2], frame.Pix[at+3] = m.Rgb[i], m.Rgb[i+1], m.Rgb[i+2], 0xff
	}
	return frame, nil
}
