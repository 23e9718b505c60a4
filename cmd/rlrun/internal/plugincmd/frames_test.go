package plugincmd

import (
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// walk draws a square at x on a canvas of few colours.
func walk(x int) *image.RGBA {
	frame := image.NewRGBA(image.Rect(0, 0, 40, 30))
	draw.Draw(frame, frame.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(frame, image.Rect(x, 10, x+5, 15), image.NewUniform(color.RGBA{200, 30, 30, 255}), image.Point{}, draw.Src)
	return frame
}

// noise has more colours than a GIF can have.
func noise(seed uint64) *image.RGBA {
	rng := rand.New(rand.NewPCG(seed, 1))
	frame := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range frame.Pix {
		frame.Pix[i] = uint8(rng.Uint32())
		if i%4 == 3 {
			frame.Pix[i] = 255
		}
	}
	return frame
}

// written makes an album of frames and returns what the animation shows, frame by frame.
func written(t *testing.T, fps float64, frames ...*image.RGBA) (shown []*image.RGBA, delays []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "walk.gif")
	a := must.Get(newAlbum(path, fps))(t)
	for _, f := range frames {
		must.Do(t, a.add(f))
	}
	if said, err := a.close(); err != nil || !strings.Contains(said, "frames of 40 × 30 pixels") {
		t.Fatalf("%q, %v", said, err)
	}
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	g := must.Get(gif.DecodeAll(f))(t)
	screen := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for _, part := range g.Image {
		draw.Draw(screen, part.Rect, part, part.Rect.Min, draw.Over)
		shown = append(shown, &image.RGBA{Pix: append([]byte(nil), screen.Pix...), Stride: screen.Stride, Rect: screen.Rect})
	}
	return shown, g.Delay
}

// largest is the largest difference of a channel between two pictures.
func largest(a, b *image.RGBA) (most int) {
	for i := range a.Pix {
		d := int(a.Pix[i]) - int(b.Pix[i])
		most = max(most, d, -d)
	}
	return most
}

// An animation shows the frames themselves where they have at most 256 colours, and has
// one for every step, also where nothing changes.
func TestAnimation(t *testing.T) {
	frames := []*image.RGBA{walk(0), walk(3), walk(3), walk(35), walk(0)}
	shown, delays := written(t, 30, frames...)
	if len(shown) != len(frames) {
		t.Fatalf("%d frames, want %d", len(shown), len(frames))
	}
	for i := range frames {
		if d := largest(frames[i], shown[i]); d > 0 {
			t.Errorf("frame %d differs by %d", i, d)
		}
	}
	sum := 0
	for _, d := range delays {
		sum += d
	}
	if sum != 17 { // 5 frames at 30 per second are 16.7 hundredths
		t.Errorf("delays %v, want 17 hundredths of a second", delays)
	}
}

func TestAnimationOfManyColours(t *testing.T) {
	frames := []*image.RGBA{noise(1), walk(7), noise(2)}
	shown, _ := written(t, 10, frames...)
	for i, most := range []int{90, 0, 90} { // 256 colours divide the cube into cells of about 40 × 40 × 40
		if d := largest(frames[i], shown[i]); d > most {
			t.Errorf("frame %d differs by %d", i, d)
		}
	}
}

func TestAlbumsOfPNG(t *testing.T) {
	dir := t.TempDir()
	last := filepath.Join(dir, "last.png")
	all := filepath.Join(dir, "all") + string(os.PathSeparator)
	for _, path := range []string{last, all} {
		a := must.Get(newAlbum(path, 1))(t)
		for x := range 3 {
			must.Do(t, a.add(walk(x)))
		}
		must.Get(a.close())(t)
	}
	for path, x := range map[string]int{last: 2, all + "00000.png": 0, all + "00002.png": 2} {
		f := must.Get(os.Open(path))(t)
		got, err := png.Decode(f)
		f.Close()
		if err != nil || got.At(x, 12) != color.Color(color.RGBA{200, 30, 30, 255}) {
			t.Errorf("%s: no square at %d: %v", path, x, err)
		}
	}
	if _, err := newAlbum(all, 1); err == nil || !strings.Contains(err.Error(), "has files already") {
		t.Errorf("a directory with frames: %v", err)
	}
}

func TestAlbumFaults(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"walk.jpg", "walk", filepath.Join(dir, "absent", "walk.gif")} {
		if _, err := newAlbum(path, 1); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
	for _, name := range []string{"none.gif", "none.png"} {
		a := must.Get(newAlbum(filepath.Join(dir, name), 1))(t)
		if said, err := a.close(); said != "" || err != nil {
			t.Errorf("%s without frames: %q, %v", name, said, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("empty albums left %v", entries)
	}
	a := &animation{fps: 1}
	must.Do(t, a.add(walk(1)))
	if err := a.add(image.NewRGBA(image.Rect(0, 0, 41, 30))); err == nil {
		t.Error("frames of two sizes were taken")
	}
	a.size = maxAnimation
	if err := a.add(walk(9)); err == nil {
		t.Error("an animation without end was taken")
	}
}

// Frames of a few pixels are enlarged by a whole number, so that they can be seen.
func TestEnlarged(t *testing.T) {
	tiny := image.NewRGBA(image.Rect(0, 0, 3, 2))
	tiny.SetRGBA(2, 1, color.RGBA{9, 8, 7, 255})
	got := enlarged(tiny)
	if got.Rect.Max != image.Pt(162, 108) || got.RGBAAt(108, 54) != tiny.RGBAAt(2, 1) || got.RGBAAt(107, 54) != tiny.RGBAAt(1, 1) {
		t.Errorf("%v, %v beside %v", got.Rect.Max, got.RGBAAt(108, 54), got.RGBAAt(107, 54))
	}
	if large := image.NewRGBA(image.Rect(0, 0, smallFrame, 1)); enlarged(large) != large {
		t.Error("a large frame was changed")
	}
}

// An image's numbers do not fill the screen; few numbers are all printed.
func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{int64(7), "7"},
		{[]int64{1, 2}, "[1 2]"},
		{make([]int64, 64), "[" + strings.Repeat("0 ", 63) + "0]"},
		{make([]any, 65), "[" + strings.Repeat("<nil> ", 15) + "<nil> … 65 numbers]"},
	} {
		if got := brief(tt.value); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.value, got, tt.want)
		}
	}
}
