package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// pictured is counters with a frame of any size.
type pictured struct {
	*counters
	bounds image.Rectangle
}

func (p pictured) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Calls: vector.RenderFrame.By(p.renderFrame)}
}

// renderFrame draws the count as a shade of red that shows white through, on transparency.
func (p pictured) renderFrame(_ context.Context, lane int) (image.Image, error) {
	if p.Fault == "frame" {
		panic("no paint")
	}
	if p.bounds.Dx() > vector.MaxFrameSide {
		return image.NewUniform(color.White), nil // of nearly endless size
	}
	frame := image.NewNRGBA(p.bounds)
	frame.SetNRGBA(p.bounds.Min.X+lane, p.bounds.Min.Y, color.NRGBA{255, 0, 0, uint8(p.counts[lane])})
	return frame, nil
}

// A frame from another process is the same. Transparent pixels are white.
func TestRenderFrame(t *testing.T) {
	bounds, fault := image.Rect(5, 7, 8, 9), ""
	open := func() (remote, local vector.Environment) {
		p := &vector.EnvironmentPlugin{
			Description: vector.Description{ID: "test/pictured@1", Kind: vector.KindEnvironment, Abilities: []string{"frames"}, FramesPerSecond: 25},
			Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
				return pictured{&counters{faults: faults{Fault: fault, Lane: -1}, counts: make([]int64, lanes)}, bounds}, nil
			},
		}
		over := loopback(t, p)
		if d, err := over.Describe(t.Context()); err != nil || d.FramesPerSecond != 25 {
			t.Errorf("%v frames per second, %v", d.FramesPerSecond, err)
		}
		envs := make([]vector.Environment, 2)
		for i, p := range []vector.Plugin{over, p} {
			var err error
			if envs[i], err = p.OpenEnvironment(t.Context(), nil, 2); err != nil {
				t.Fatal(err)
			}
			in, out := start(envs[i].Spec(), 2)
			for range 3 {
				must.Do(t, envs[i].Step(t.Context(), in, &out))
				proceed(in.Signals)
			}
		}
		return envs[0], envs[1]
	}
	remote, local := open()
	want := must.Get(vector.RenderFrame.Ask(t.Context(), local, 1))(t)
	if got := want.At(1, 0); want.Rect != image.Rect(0, 0, 3, 2) || got != color.Color(color.RGBA{255, 253, 253, 255}) || want.At(0, 0) != color.Color(color.RGBA{255, 255, 255, 255}) {
		t.Errorf("drew %v in %v on %v", got, want.Rect, want.At(0, 0))
	}
	got, err := vector.RenderFrame.Ask(t.Context(), remote, 1)
	if err != nil || got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("over the seam %v, %v", got, err)
	}
	if _, err := vector.RenderFrame.Ask(t.Context(), remote, 2); err == nil || !strings.Contains(err.Error(), "no lane 2 of 2") {
		t.Errorf("got %v", err)
	}

	bounds = image.Rect(0, 0, vector.MaxFrameSide+1, 1)
	for _, env := range both(open()) {
		if _, err := vector.RenderFrame.Ask(t.Context(), env, 0); !errors.Is(err, framework.ErrInvalidAnswer) {
			t.Errorf("a frame that is too large: %v", err)
		}
	}
	bounds, fault = image.Rect(0, 0, 1, 1), "frame"
	remote, _ = open()
	if _, err := vector.RenderFrame.Ask(t.Context(), remote, 0); err == nil || !strings.Contains(err.Error(), "no paint") {
		t.Errorf("got %v", err)
	}
}

func both(a, b vector.Environment) []vector.Environment { return []vector.Environment{a, b} }

// sketch is walk with a frame.
type sketch struct{ *walk }

func (sketch) RenderFrame(context.Context) (image.Image, error) {
	return image.NewGray(image.Rect(0, 0, 2, 2)), nil
}

// An author's RenderFrame is found, and its pace declared.
func TestFramesOfAuthors(t *testing.T) {
	defaults := walkParams{Length: 3}
	p := plugin.FramesPerSecond(12, plugin.NewEnvironment("test/sketch@1", "A sketch.", defaults, func(p walkParams) (sketch, error) {
		w, err := newWalk(p)
		return sketch{w}, err
	}))
	d, err := p.Describe(t.Context())
	if err != nil || len(d.Abilities) != 1 || d.Abilities[0] != "frames" || d.FramesPerSecond != 12 {
		t.Errorf("%+v, %v", d, err)
	}
	plain, err := plugin.NewEnvironment("test/walk@1", "A walk.", defaults, newWalk).Describe(t.Context())
	if err != nil || len(plain.Abilities) != 0 {
		t.Errorf("%+v, %v", plain, err)
	}
}
