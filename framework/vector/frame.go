package vector

import (
	"context"
	"fmt"
	"image"
	"image/draw"

	"github.com/rlrun/rlrun/framework"
)

// MaxFrameSide is the largest width and height of a frame, in pixels.
const MaxFrameSide = 4096

// RenderFrame draws a lane of env as a picture that is opaque (what is transparent
// becomes white), begins at (0, 0) and is the caller's. The error wraps
// framework.ErrUnsupported if env cannot be drawn, and framework.ErrInvalidAnswer if
// the picture is empty or larger than MaxFrameSide.
func RenderFrame(ctx context.Context, env Environment, lane int) (*image.RGBA, error) {
	f := env.Abilities().RenderFrame
	if f == nil {
		return nil, fmt.Errorf("%s draws no frames: %w", env.Spec().ID, framework.ErrUnsupported)
	}
	drawn, err := f(ctx, lane)
	if err != nil {
		return nil, err
	}
	if drawn == nil {
		return nil, fmt.Errorf("%w: the frame is nil", framework.ErrInvalidAnswer)
	}
	from := drawn.Bounds()
	if err := CheckFrameSize(from.Dx(), from.Dy()); err != nil {
		return nil, err
	}
	frame := image.NewRGBA(image.Rect(0, 0, from.Dx(), from.Dy()))
	draw.Draw(frame, frame.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(frame, frame.Rect, drawn, from.Min, draw.Over)
	return frame, nil
}

// CheckFrameSize reports a size that no frame may have: see RenderFrame.
func CheckFrameSize(width, height int) error {
	if width < 1 || height < 1 || width > MaxFrameSide || height > MaxFrameSide {
		return fmt.Errorf("%w: the frame has %d × %d pixels, must have 1 × 1 to %d × %d", framework.ErrInvalidAnswer, width, height, MaxFrameSide, MaxFrameSide)
	}
	return nil
}
