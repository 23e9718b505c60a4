package plugincmd

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/draw"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// The pace of animations, in frames per second. Programs that show GIFs slow down those
// that are faster than maxFPS.
const (
	defaultFPS = 10
	minFPS     = 0.1
	maxFPS     = 50
)

// maxAnimation is how many pixels an animation may hold before it is written, those that
// did not change aside: 256 MiB.
const maxAnimation = 1 << 28

// album takes the frames of a play.
type album interface {
	add(frame *image.RGBA) error
	// close writes what is not written yet and says in words what there is.
	close() (string, error)
}

// newAlbum makes the album that a path asks for: an animation (.gif), the last frame
// (.png), or a directory of all frames, which is new or empty.
func newAlbum(path string, fps float64) (album, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case os.IsPathSeparator(path[len(path)-1]), ext == "" && isDir(path):
		return newDir(path)
	case ext == ".gif":
		return &animation{path: path, fps: fps}, writable(path)
	case ext == ".png":
		return &lastFrame{path: path}, writable(path)
	}
	return nil, cli.Usagef("%s must end in .gif (an animation), .png (the last frame) or %c (a directory of all frames)", path, os.PathSeparator)
}

// writable refuses a file that could not be written after the last step.
func writable(path string) error {
	if isDir(path) {
		return cli.Usagef("%s is a directory", path)
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// directory is an album of one PNG file a frame.
type directory struct {
	path   string
	frames int
}

func newDir(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) > 0 {
		err = cli.Usagef("the directory %s has files already; name a new one", path)
	}
	return &directory{path: path}, err
}

func (a *directory) add(frame *image.RGBA) error {
	f, err := os.Create(filepath.Join(a.path, fmt.Sprintf("%05d.png", a.frames)))
	if err != nil {
		return err
	}
	a.frames++
	return errors.Join(png.Encode(f, frame), f.Close())
}

func (a *directory) close() (string, error) {
	return fmt.Sprintf("%d frames in %s", a.frames, a.path), nil
}

// lastFrame is an album that keeps one PNG file.
type lastFrame struct {
	path string
	last *image.RGBA
}

func (a *lastFrame) add(frame *image.RGBA) error {
	a.last = frame
	return nil
}

func (a *lastFrame) close() (string, error) {
	if a.last == nil {
		return "", nil
	}
	return "the last frame in " + a.path, cli.WriteFile(a.path, func(w io.Writer) error { return png.Encode(w, a.last) })
}

// animation is an album that becomes a GIF. Of every frame but the first it keeps the
// rectangle that changed.
type animation struct {
	path string
	fps  float64
	gif  gif.GIF
	last *image.RGBA
	size int // pixels kept
}

func (a *animation) add(frame *image.RGBA) error {
	changed := frame.Rect
	if a.last != nil {
		if frame.Rect != a.last.Rect {
			return fmt.Errorf("--frames: frame %d has %v pixels, those before have %v; an animation needs frames of one size", len(a.gif.Image), frame.Rect.Max, a.last.Rect.Max)
		}
		changed = difference(a.last, frame)
	}
	if a.size += changed.Dx() * changed.Dy(); a.size > maxAnimation {
		return fmt.Errorf("--frames: the animation is too large after %d frames; give fewer --steps, or a directory", len(a.gif.Image))
	}
	k := float64(len(a.gif.Image))
	a.last = frame
	a.gif.Image = append(a.gif.Image, paletted(frame, changed))
	a.gif.Delay = append(a.gif.Delay, int(math.Round(100*(k+1)/a.fps)-math.Round(100*k/a.fps)))
	a.gif.Disposal = append(a.gif.Disposal, gif.DisposalNone)
	return nil
}

func (a *animation) close() (string, error) {
	if a.last == nil {
		return "", nil
	}
	a.gif.Config.Width, a.gif.Config.Height = a.last.Rect.Dx(), a.last.Rect.Dy()
	said := fmt.Sprintf("%d frames of %d × %d pixels, %v per second, in %s", len(a.gif.Image), a.gif.Config.Width, a.gif.Config.Height, a.fps, a.path)
	return said, cli.WriteFile(a.path, func(w io.Writer) error { return gif.EncodeAll(w, &a.gif) })
}

// difference is the smallest rectangle outside which two pictures of one size are equal,
// one pixel if they are equal.
func difference(a, b *image.RGBA) image.Rectangle {
	changed := image.Rectangle{}
	width := b.Rect.Dx()
	for y := range b.Rect.Dy() {
		p, q := a.Pix[y*a.Stride:][:4*width], b.Pix[y*b.Stride:][:4*width]
		if bytes.Equal(p, q) {
			continue
		}
		low, high := 0, width
		for ; bytes.Equal(p[4*low:4*low+4], q[4*low:4*low+4]); low++ {
		}
		for ; bytes.Equal(p[4*high-4:4*high], q[4*high-4:4*high]); high-- {
		}
		changed = changed.Union(image.Rect(low, y, high, y+1))
	}
	if changed.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return changed
}

// smallFrame is the side below which frames are drawn larger, by a whole number.
const smallFrame = 160

// enlarged returns a frame whose longer side has at least smallFrame pixels.
func enlarged(frame *image.RGBA) *image.RGBA {
	side := max(frame.Rect.Dx(), frame.Rect.Dy())
	if side >= smallFrame {
		return frame
	}
	times := (smallFrame + side - 1) / side
	out := image.NewRGBA(image.Rect(0, 0, times*frame.Rect.Dx(), times*frame.Rect.Dy()))
	draw.NearestNeighbor.Scale(out, out.Rect, frame, frame.Rect, draw.Src, nil)
	return out
}

// record opens the album that the flags ask for.
func (g *game) record(fps float64, stderr io.Writer) (album, func() error, error) {
	switch {
	case g.fps > 0:
		fps = g.fps
	case !(fps > 0):
		fps = defaultFPS
	}
	a, err := newAlbum(g.frames, min(max(fps, minFPS), maxFPS))
	if err != nil {
		return nil, nil, fmt.Errorf("--frames: %w", err)
	}
	return a, func() error {
		said, err := a.close()
		if err == nil && said != "" {
			_, err = fmt.Fprintln(stderr, said)
		}
		return err
	}, nil
}
