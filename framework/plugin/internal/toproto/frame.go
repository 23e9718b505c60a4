package toproto

import (
	"image"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// Frame encodes an opaque picture.
func Frame(picture *image.RGBA) *pb.RgbFrame {
	size := picture.Rect.Size()
	rgb := make([]byte, 0, 3*size.X*size.Y)
	for y := range size.Y {
		row := picture.Pix[y*picture.Stride:][:4*size.X]
		for x := 0; x < len(row); x += 4 {
			rgb = append(rgb, row[x], row[x+1], row[x+2])
		}
	}
	return &pb.RgbFrame{Width: uint32(size.X), Height: uint32(size.Y), Rgb: rgb}
}
