package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
)

// MaxFrameSide is the largest width and height of a frame, in pixels.
const MaxFrameSide = 4096

// MaxAnswer is how many bytes the answer of an environment has at most: a frame.
const MaxAnswer = frameHeader + 3*MaxFrameSide*MaxFrameSide

// frameHeader is the size of the width and the height of a frame, which are uint32.
const frameHeader = 8

// toFrame writes width and height, then red, green and blue of every pixel.
func toFrame(drawn image.Image) ([]byte, error) {
	if drawn == nil {
		return nil, errors.New("the frame is nil")
	}
	from := drawn.Bounds()
	width, height := from.Dx(), from.Dy()
	if err := checkFrameSize(width, height); err != nil {
		return nil, err
	}
	opaque := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(opaque, opaque.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(opaque, opaque.Rect, drawn, from.Min, draw.Over)
	data := make([]byte, 0, frameHeader+3*width*height)
	data = binary.LittleEndian.AppendUint32(data, uint32(width))
	data = binary.LittleEndian.AppendUint32(data, uint32(height))
	for i := 0; i < len(opaque.Pix); i += 4 {
		data = append(data, opaque.Pix[i], opaque.Pix[i+1], opaque.Pix[i+2])
	}
	return data, nil
}

// fromFrame reads what toFrame wrote. It checks the size before it allocates anything.
func fromFrame(data []byte) (*image.RGBA, error) {
	if len(data) < frameHeader {
		return nil, fmt.Errorf("the frame has %d bytes, too few for its size", len(data))
	}
	width, height := int64(binary.LittleEndian.Uint32(data)), int64(binary.LittleEndian.Uint32(data[4:]))
	rgb := data[frameHeader:]
	if err := checkFrameSize(width, height); err != nil {
		return nil, err
	}
	if int64(len(rgb)) != 3*width*height {
		return nil, fmt.Errorf("the frame has %d bytes, must have 3 × %d × %d = %d", len(rgb), width, height, 3*width*height)
	}
	frame := image.NewRGBA(image.Rect(0, 0, int(width), int(height)))
	for i, at := 0, 0; i < len(rgb); i, at = i+3, at+4 {
		frame.Pix[at], frame.Pix[at+1], frame.Pix[at+2], frame.Pix[at+3] = rgb[i], rgb[i+1], rgb[i+2], 0xff
	}
	return frame, nil
}

// checkFrameSize reports a size that no frame may have.
func checkFrameSize[N int | int64](width, height N) error {
	if width < 1 || height < 1 || width > MaxFrameSide || height > MaxFrameSide {
		return fmt.Errorf("the frame has %d × %d pixels, must have 1 × 1 to %d × %d", width, height, MaxFrameSide, MaxFrameSide)
	}
	return nil
}
