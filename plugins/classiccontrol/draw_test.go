package classiccontrol

import (
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/rlrun/rlrun/plugins/internal/picture"
)

// The cart, the car, the links and the point are drawn where the state says.
func TestDraw(t *testing.T) {
	for name, tt := range map[string]struct {
		task   dynamics
		state  state
		colour color.RGBA
		x, y   int // a pixel of that colour
	}{
		"the cart in the middle":           {cartPole{}, state{}, picture.Black, 310, 305},
		"the cart at the right end":        {cartPole{}, state{cartEnd}, picture.Black, 590, 305},
		"the pole upright":                 {cartPole{}, state{}, picture.Wood, 300, 200},
		"the pole to the right":            {cartPole{}, state{0, 0, math.Pi / 2}, picture.Wood, 400, 293},
		"the car in the valley":            {mountainCar{}, state{-math.Pi / 6}, picture.Actor, 225, 353},
		"the car at the goal":              {mountainCar{}, state{carGoal}, picture.Actor, 567, 50},
		"both links hanging":               {acrobot{}, state{}, picture.Actor, 250, 450},
		"the second link folded":           {acrobot{}, state{0, math.Pi}, picture.Actor, 250, 300},
		"the first link to the right":      {acrobot{}, state{math.Pi / 2}, picture.Danger, 300, 250},
		"the point in the upper left":      {puddleWorld{}, state{0.05, 0.95}, picture.Actor, 20, 20},
		"the puddle":                       {puddleWorld{}, state{0.05, 0.95}, picture.Danger, 180, 200},
		"the corner that is to be reached": {puddleWorld{}, state{0.05, 0.95}, picture.Goal, 395, 5},
	} {
		frame := tt.task.draw(&tt.state).(*image.RGBA)
		if got := frame.RGBAAt(tt.x, tt.y); got != tt.colour {
			t.Errorf("%s: pixel (%d, %d) is %v, want %v", name, tt.x, tt.y, got, tt.colour)
		}
	}
}
