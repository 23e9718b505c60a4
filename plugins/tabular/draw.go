package tabular

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/internal/picture"
)

// FramesPerSecond is the pace of the frames of New's lanes.
const FramesPerSecond = 4

// caption is the height of the line of text below the cells, in pixels.
const caption = 20

// board is the picture of a task without its state.
type board struct {
	empty  *picture.Canvas
	layout *catalog.Layout
	cell   int // its side, in pixels
}

// renderFrame draws a lane: see framework.FrameRenderer. It shows the cells of a task on
// a grid, or the states in rows, with the present one marked.
func (l *lanes) renderFrame(_ context.Context, i int) (image.Image, error) {
	if i < 0 || i >= len(l.states) {
		return nil, fmt.Errorf("no lane %d of %d", i, len(l.states))
	}
	if l.board == nil {
		layout := l.task.Layout
		if layout == nil {
			layout = inRows(l.model.NumStates())
		}
		if max(layout.Rows, layout.Cols) > vector.MaxFrameSide-caption {
			return nil, fmt.Errorf("a grid of %d × %d cells is too large for a frame: %w", layout.Rows, layout.Cols, framework.ErrUnsupported)
		}
		l.board = newBoard(l.task, layout)
	}
	b, state := l.board, l.states[i].state
	c := b.empty.Copy()
	if at := b.layout.Cell[state]; at >= 0 {
		half, side := float64(b.cell)/2, float64(b.cell)
		centre := picture.Point{X: side*float64(at%b.layout.Cols) + half, Y: side*float64(at/b.layout.Cols) + half}
		c.Disc(picture.Actor, centre, max(0.35*side, 1))
	}
	c.Text(fmt.Sprintf("state %d", state), 4, c.Rect.Dy()-6)
	return c.RGBA, nil
}

// inRows places states that are nowhere: in one row if they are few, else in a square.
func inRows(states int) *catalog.Layout {
	cols := states
	if cols > 20 {
		cols = int(math.Ceil(math.Sqrt(float64(states))))
	}
	l := &catalog.Layout{Rows: (states + cols - 1) / cols, Cols: cols, Cell: make([]int, states)}
	l.Wall = make([]bool, l.Rows*cols)
	for s := range l.Cell {
		l.Cell[s] = s
	}
	for cell := states; cell < len(l.Wall); cell++ {
		l.Wall[cell] = true
	}
	return l
}

// newBoard draws a task without its state. The colours are those of the table in
// docs/experiments.md.
func newBoard(t *catalog.Task, layout *catalog.Layout) *board {
	cell := min(max(480/max(layout.Rows, layout.Cols), 1), 48)
	b := &board{layout: layout, cell: cell}
	b.empty = picture.New(max(cell*layout.Cols+1, 100), cell*layout.Rows+caption)
	for at, fill := range colours(t, layout) {
		if fill != nil {
			x, y := at%layout.Cols*cell, at/layout.Cols*cell
			b.empty.Rectangle(fill, x, y, x+cell, y+cell)
		}
	}
	if cell >= 6 {
		for x := 0; x <= layout.Cols; x++ {
			b.empty.Rectangle(picture.Grey, x*cell, 0, x*cell+1, layout.Rows*cell)
		}
		for y := 0; y <= layout.Rows; y++ {
			b.empty.Rectangle(picture.Grey, 0, y*cell, layout.Cols*cell, y*cell+1)
		}
	}
	return b
}

// colours returns the colour of every cell, nil for white.
func colours(t *catalog.Task, layout *catalog.Layout) []color.Color {
	m := t.Model
	entered, paid := entries(m)
	best, most := math.Inf(-1), 0.0
	for s, chance := range entered {
		if m.Terminal(s) && chance > 0 {
			best = max(best, paid[s]/chance)
		}
		if !m.Terminal(s) {
			most = max(most, topReward(m, s))
		}
	}
	initial, _ := m.Initial()
	fills := make([]color.Color, len(layout.Wall))
	for i := range fills {
		fills[i] = picture.Wall // until a state is found that is entered
	}
	for s, at := range layout.Cell {
		if at < 0 || entered[s] == 0 && !slices.Contains(initial, int32(s)) {
			continue
		}
		var fill color.Color
		switch {
		case m.Terminal(s) && paid[s]/entered[s] >= best-1e-9:
			fill = picture.Goal
		case m.Terminal(s):
			fill = picture.Danger
		case !m.HasTerminal() && most > 0 && topReward(m, s) == most:
			fill = picture.Pay
		case len(initial) < layout.Rows && slices.Contains(initial, int32(s)):
			fill = picture.Start
		}
		if fills[at] == picture.Wall || fill != nil {
			fills[at] = fill
		}
	}
	return fills
}

// entries sums up, over all states, actions and ways into a state, the probability of
// taking the way, and that times its reward.
func entries(m *mdp.Tabular) (entered, paid []float64) {
	entered, paid = make([]float64, m.NumStates()), make([]float64, m.NumStates())
	for s := range entered {
		for a := range m.NumActions() {
			rewards := m.SuccessorRewards(s, a)
			next, p := m.Transition(s, a)
			for k, t := range next {
				if int(t) == s {
					continue
				}
				r := m.Reward(s, a)
				if rewards != nil {
					r = rewards[k]
				}
				entered[t] += p[k]
				paid[t] += p[k] * r
			}
		}
	}
	return entered, paid
}

// topReward is the largest mean reward of an action in a state.
func topReward(m *mdp.Tabular, s int) float64 {
	top := math.Inf(-1)
	for a := range m.NumActions() {
		top = max(top, m.Reward(s, a))
	}
	return top
}
