package classiccontrol

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/rlrun/rlrun/plugins/internal/picture"
)

// renderFrame draws a lane: see framework.FrameRenderer.
func (l *lanes) renderFrame(_ context.Context, lane int) (image.Image, error) {
	if lane < 0 || lane >= len(l.lanes) {
		return nil, fmt.Errorf("no lane %d of %d", lane, len(l.lanes))
	}
	return l.draw(&l.lanes[lane].state), nil
}

// draw shows the track, the cart and the pole in the proportions of Gymnasium's picture.
func (cartPole) draw(x *state) image.Image {
	const width, height, ground = 600, 400, 300
	const metre = width / (2 * cartEnd)
	c := picture.New(width, height)
	c.Line(picture.Black, 1, picture.Point{Y: ground}, picture.Point{X: width, Y: ground})
	at := width/2 + metre*x[0]
	c.Polygon(picture.Black, picture.Point{X: at - 25, Y: ground - 15}, picture.Point{X: at + 25, Y: ground - 15},
		picture.Point{X: at + 25, Y: ground + 15}, picture.Point{X: at - 25, Y: ground + 15})
	sin, cos := math.Sincos(x[2])
	axle := picture.Point{X: at, Y: ground - 7}
	c.Line(picture.Wood, 10, axle, picture.Point{X: at + 2*poleHalf*metre*sin, Y: axle.Y - 2*poleHalf*metre*cos})
	c.Disc(picture.Danger, axle, 5)
	return c.RGBA
}

// draw shows the valley, the car and the flag that it is to reach.
func (mountainCar) draw(x *state) image.Image {
	const width, height = 600, 400
	const unit = width / (carRight - carLeft)
	road := func(position, above float64) picture.Point {
		return picture.Point{X: unit * (position - carLeft), Y: height - unit*(0.55+0.45*math.Sin(3*position)) - above}
	}
	c := picture.New(width, height)
	hill := []picture.Point{{X: 0, Y: height}}
	for i := range 101 {
		hill = append(hill, road(carLeft+(carRight-carLeft)*float64(i)/100, 0))
	}
	c.Polygon(picture.Start, append(hill, picture.Point{X: width, Y: height})...)
	c.Line(picture.Black, 2, hill[1:]...)
	foot, top := road(carGoal, 0), road(carGoal, 50)
	c.Line(picture.Black, 2, foot, top)
	c.Polygon(picture.Goal, top, picture.Point{X: top.X + 25, Y: top.Y + 7}, picture.Point{X: top.X, Y: top.Y + 15})

	centre := road(x[0], 0)
	slope := math.Atan(3 * 0.45 * math.Cos(3*x[0]))
	sin, cos := math.Sincos(slope)
	at := func(along, above float64) picture.Point {
		return picture.Point{X: centre.X + along*cos - above*sin, Y: centre.Y - along*sin - above*cos}
	}
	c.Polygon(picture.Actor, at(-20, 8), at(20, 8), at(20, 26), at(-20, 26))
	c.Disc(picture.Black, at(-11, 8), 8)
	c.Disc(picture.Black, at(11, 8), 8)
	return c.RGBA
}

// draw shows both links, and the height that the tip is to reach.
func (acrobot) draw(x *state) image.Image {
	const side = 500
	const metre = side / 4.4
	bar := picture.Point{X: side / 2, Y: side / 2}
	hang := func(from picture.Point, angle float64) picture.Point {
		sin, cos := math.Sincos(angle)
		return picture.Point{X: from.X + metre*sin, Y: from.Y + metre*cos}
	}
	joint := hang(bar, x[0])
	tip := hang(joint, x[0]+x[1])
	c := picture.New(side, side)
	c.Line(picture.Goal, 2, picture.Point{Y: bar.Y - metre}, picture.Point{X: side, Y: bar.Y - metre})
	c.Line(picture.Danger, 16, bar, joint)
	c.Line(picture.Actor, 16, joint, tip)
	c.Disc(picture.Black, bar, 6)
	c.Disc(picture.Black, joint, 6)
	return c.RGBA
}

// draw shows the square, the puddles and the goal.
func (puddleWorld) draw(x *state) image.Image {
	const side = 400
	at := func(x, y float64) picture.Point { return picture.Point{X: side * x, Y: side * (1 - y)} }
	c := picture.New(side, side)
	c.Line(picture.Danger, 2*puddleRadius*side, at(0.1, 0.75), at(0.45, 0.75))
	c.Line(picture.Danger, 2*puddleRadius*side, at(0.45, 0.4), at(0.45, 0.8))
	c.Polygon(picture.Goal, at(1, 1), at(puddleGoal-1, 1), at(1, puddleGoal-1))
	c.Line(picture.Black, 2, at(0, 0), at(1, 0), at(1, 1), at(0, 1), at(0, 0))
	c.Disc(picture.Actor, at(x[0], x[1]), 8)
	return c.RGBA
}
