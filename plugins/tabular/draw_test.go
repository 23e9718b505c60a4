package tabular

import (
	"context"
	"encoding/json"
	"errors"
	"image/color"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/picture"
)

// drawn opens a task by its name and parameters, starts it and takes actions.
func drawn(t *testing.T, name, params string, actions ...int64) vector.Environment {
	t.Helper()
	for _, p := range Plugins() {
		if d, _ := p.Describe(t.Context()); !strings.HasPrefix(d.ID, "rlrun/"+name+"@") {
			continue
		}
		env := must.Get(p.OpenEnvironment(t.Context(), json.RawMessage(params), 1))(t)
		in, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
		in.Signals[0] = vector.NewRun
		for _, a := range append(actions, 0) {
			must.Do(t, env.Step(t.Context(), in, &out))
			in.Signals[0], in.Actions.Int64[0] = vector.Continue, a
		}
		return env
	}
	t.Fatalf("no task %s", name)
	return nil
}

// Cells have the colours of what they are, and the agent is where the state is.
func TestDraw(t *testing.T) {
	white := color.RGBA{255, 255, 255, 255}
	for name, tt := range map[string]struct {
		params  string
		actions []int64
		want    map[[2]int]color.RGBA // by column and row
	}{
		"frozenlake": {`{"map":["SF","HG"],"success":1}`, []int64{2}, map[[2]int]color.RGBA{
			{0, 0}: picture.Start, {1, 0}: picture.Actor, {0, 1}: picture.Danger, {1, 1}: picture.Goal}},
		"gridworld": {`{"map":["S#G","   "]}`, nil, map[[2]int]color.RGBA{
			{0, 0}: picture.Actor, {1, 0}: picture.Wall, {2, 0}: picture.Goal, {1, 1}: white}},
		"riverswim":    {`{"states":4}`, nil, map[[2]int]color.RGBA{{0, 0}: picture.Actor, {1, 0}: white, {3, 0}: picture.Pay}},
		"cliffwalking": {`{}`, []int64{0}, map[[2]int]color.RGBA{{0, 2}: picture.Actor, {0, 3}: picture.Start, {5, 3}: picture.Wall, {11, 3}: picture.Goal}},
	} {
		env := drawn(t, name, tt.params, tt.actions...)
		frame, err := vector.RenderFrame.Ask(t.Context(), env, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cell := env.(*lanes).board.cell
		for at, want := range tt.want {
			if got := frame.RGBAAt(at[0]*cell+cell/2, at[1]*cell+cell/2); got != want {
				t.Errorf("%s: cell %v is %v, want %v", name, at, got, want)
			}
		}
	}
}

func TestTooLargeToDraw(t *testing.T) {
	env := drawn(t, "gridworld", `{"rows":9000,"cols":1}`)
	if _, err := vector.RenderFrame.Ask(context.Background(), env, 0); !errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), "9000 × 1") {
		t.Errorf("got %v", err)
	}
}
