"""MinAtar's five games in numpy, all lanes at once: the plugin ``minatar``.

They have the rules of the package minatar 1.0.15 (Young & Tian 2019), in which a test repeats them step by step. Only
the random numbers are rlrun's own, drawn in the package's order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rlrun.environment import Spec, TimeSteps, VectorEnvironment
from rlrun.params import param
from rlrun.serve import serve
from rlrun.spaces import Box, Discrete
from rlrun.streams import Lanes, Streams

SIDE = 10
"""Rows and columns of the board."""

NONE, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
NAMES = ["none", "left", "up", "right", "down", "fire"]

Numbers = NDArray[Any]
Draw = Callable[[NDArray[np.intp], int], NDArray[np.float64]]
"""Draws so many numbers of [0, 1) for each of some entries."""


class Game:
    """The rules of a game. Every array of a state ``s`` has an entry for each of n boards."""

    channels: ClassVar[int]
    minimal: ClassVar[tuple[int, ...]]
    """The actions that do something."""
    first_draws: ClassVar[int] = 0
    """Random numbers in [0, 1) that a first state is made of."""

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Return first states, of random numbers (n, first_draws)."""
        raise NotImplementedError

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Take actions: change ``s``, set ``s.over`` where the game is over, and return the rewards."""
        raise NotImplementedError

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Set the cells of boards (n, 10, 10, channels) that were 0."""
        raise NotImplementedError


def _full(n: int, value: int) -> Numbers:
    return np.full(n, value, np.int64)


def _moved(a: Numbers, x: Numbers, less: int, more: int, *, low: int = 0, high: int = SIDE - 1) -> Numbers:
    """Return positions after actions, of which one is a step down and one a step up."""
    out: Numbers = np.clip(x + (a == more) - (a == less), low, high)
    return out


class Breakout(Game):
    """A ball breaks bricks for 1 each. It is lost if the paddle does not meet it."""

    channels = 4  # paddle, ball, trail, bricks
    minimal = (NONE, LEFT, RIGHT)
    first_draws = 1

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Put the ball at the left or at the right, on its way to the middle."""
        n, right = len(u), u[:, 0] >= 0.5
        x = np.where(right, SIDE - 1, 0)
        bricks = np.zeros((n, SIDE, SIDE), np.bool_)
        bricks[:, 1:4] = True
        return {
            "paddle": _full(n, 4), "x": x, "y": _full(n, 3), "dx": np.where(right, -1, 1), "dy": _full(n, 1),
            "last_x": x.copy(), "last_y": _full(n, 3), "bricks": bricks, "struck": np.zeros(n, np.bool_),
        }  # fmt: skip

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Move the paddle, then the ball."""
        own = np.arange(len(a))
        s.paddle = _moved(a, s.paddle, LEFT, RIGHT)
        s.last_x, s.last_y = s.x, s.y
        x, y = s.x + s.dx, s.y + s.dy
        wall = (x < 0) | (x >= SIDE)
        x, dx = np.clip(x, 0, SIDE - 1), np.where(wall, -s.dx, s.dx)
        top = y < 0
        y = np.maximum(y, 0)
        meets = ~top & s.bricks[own, y, x]
        breaks = meets & ~s.struck  # a ball that has broken one goes through the next
        s.bricks[own[breaks], y[breaks], x[breaks]] = False
        bottom = ~top & ~meets & (y == SIDE - 1)
        s.bricks[bottom & ~s.bricks.any((1, 2)), 1:4] = True
        flat = bottom & (s.last_x == s.paddle)
        corner = bottom & ~flat & (x == s.paddle)
        s.over = bottom & ~flat & ~corner
        back = breaks | flat | corner
        s.x, s.y, s.struck = x, np.where(back, s.last_y, y), meets
        s.dx, s.dy = np.where(corner, -dx, dx), np.where(back | top, -s.dy, s.dy)
        rewards: Numbers = breaks
        return rewards

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Paint paddle, ball, where it was, and bricks."""
        own = np.arange(len(board))
        board[own, SIDE - 1, s.paddle, 0] = 1
        board[own, s.y, s.x, 1] = 1
        board[own, s.last_y, s.last_x, 2] = 1
        board[..., 3] = s.bricks


class Freeway(Game):
    """A chicken crosses a road of eight lanes for 1, again and again, in 2,500 steps."""

    channels = 7  # chicken, cars, trails of cars that move every 1 to 5 steps
    minimal = (NONE, UP, DOWN)
    first_draws = 16
    rows = np.arange(1, 9)
    rest, limit, column = 3, 2500, 4

    def _speeds(self, u: NDArray[np.float64]) -> Numbers:
        """Return steps from one move of each car to the next, negative of those that go to the left."""
        speeds: Numbers = (1 + (5 * u[:, :8]).astype(np.int64)) * np.where(u[:, 8:] < 0.5, -1, 1)
        return speeds

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Put the chicken at the bottom, and the cars at the left."""
        n, speeds = len(u), self._speeds(u)
        return {
            "row": _full(n, SIDE - 1), "wait": _full(n, self.rest), "left": _full(n, self.limit),
            "x": np.zeros((n, 8), np.int64), "speed": speeds, "timer": np.abs(speeds),
        }  # fmt: skip

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Move the chicken, then the cars."""
        moves = (s.wait == 0) & ((a == UP) | (a == DOWN))
        s.row = np.where(moves, _moved(a, s.row, UP, DOWN), s.row)
        s.wait = np.where(moves, self.rest, s.wait)
        there = s.row == 0
        if there.any():
            s.speed[there] = self._speeds(draw(np.flatnonzero(there), 16))
            s.timer[there] = np.abs(s.speed[there])
        s.row[there] = SIDE - 1
        in_row = self.rows == s.row[:, None]
        hit = in_row & (s.x == self.column)
        due = s.timer == 0
        s.x = np.where(due, (s.x + np.sign(s.speed)) % SIDE, s.x)
        s.timer = np.where(due, np.abs(s.speed), s.timer - 1)
        hit |= in_row & (s.x == self.column)
        s.row[hit.any(1)] = SIDE - 1
        s.wait -= s.wait > 0
        s.left -= 1
        s.over = s.left < 0
        rewards: Numbers = there
        return rewards

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Paint chicken, cars, and where they come from, in the channel of their speed."""
        own = np.arange(len(board))
        board[own, s.row, self.column, 0] = 1
        board[own[:, None], self.rows, s.x, 1] = 1
        board[own[:, None], self.rows, (s.x - np.sign(s.speed)) % SIDE, 1 + np.abs(s.speed)] = 1


class Asterix(Game):
    """Gold is worth 1, and enemies end the game. Both cross the board in rows, faster and faster."""

    channels = 4  # player, enemies, trails, gold
    minimal = (NONE, LEFT, UP, RIGHT, DOWN)
    rows = np.arange(1, 9)  # in each at most one thing
    ramp = 100

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Put the player in the middle of an empty board."""
        n = len(u)
        return {
            "x": _full(n, 5), "y": _full(n, 5), "at": np.zeros((n, 8), np.int64), "dx": np.zeros((n, 8), np.int64),
            "there": np.zeros((n, 8), np.bool_), "gold": np.zeros((n, 8), np.bool_),
            "spawn": _full(n, 10), "spawn_every": _full(n, 10), "move": _full(n, 5), "move_every": _full(n, 5),
            "ramp": _full(n, self.ramp), "level": _full(n, 0),
        }  # fmt: skip

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Let a thing appear, move the player, then the things."""
        due = np.flatnonzero(s.spawn == 0)
        if len(due):
            self._appear(s, due, draw)
            s.spawn[due] = s.spawn_every[due]
        s.x = _moved(a, s.x, LEFT, RIGHT)
        s.y = _moved(a, s.y, UP, DOWN, low=1, high=8)
        rewards = self._touched(s)
        moves = s.move == 0
        s.move = np.where(moves, s.move_every, s.move)
        s.at += s.dx * moves[:, None]
        s.there &= (s.at >= 0) & (s.at < SIDE)
        rewards += self._touched(s)
        s.spawn -= 1
        s.move -= 1
        harder = s.ramping & ((s.spawn_every > 1) | (s.move_every > 1))
        up = harder & (s.ramp < 0)
        s.move_every -= up & (s.move_every > 1) & (s.level % 2 == 1)
        s.spawn_every -= up & (s.spawn_every > 1)
        s.level += up
        s.ramp = np.where(up, self.ramp, s.ramp - harder)
        return rewards

    def _appear(self, s: SimpleNamespace, due: NDArray[np.intp], draw: Draw) -> None:
        """Let an enemy or gold enter a row that is free, if one is."""
        u = draw(due, 2)
        free = (~s.there[due]).sum(1)
        can = free > 0
        due, u, free = due[can], u[can], free[can]
        nth = 1 + (draw(due, 1)[:, 0] * free).astype(np.int64)
        slot = (np.cumsum(~s.there[due], 1) == nth[:, None]).argmax(1)
        right = u[:, 0] < 1 / 2
        s.there[due, slot], s.gold[due, slot] = True, u[:, 1] < 1 / 3
        s.at[due, slot], s.dx[due, slot] = np.where(right, 0, SIDE - 1), np.where(right, 1, -1)

    def _touched(self, s: SimpleNamespace) -> Numbers:
        touched = s.there & (s.at == s.x[:, None]) & (self.rows == s.y[:, None])
        s.over |= (touched & ~s.gold).any(1)
        taken = touched & s.gold
        s.there &= ~taken
        count: Numbers = taken.sum(1)
        return count

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Paint player, enemies, gold, and where these were."""
        board[np.arange(len(board)), s.y, s.x, 0] = 1
        own, slot = np.nonzero(s.there)
        at, row = s.at[own, slot], self.rows[slot]
        board[own, row, at, np.where(s.gold[own, slot], 3, 1)] = 1
        _trails(board, own, row, at - s.dx[own, slot], 2)


def _trails(board: NDArray[np.uint8], own: Numbers, y: Numbers, x: Numbers, channel: int) -> None:
    seen = (x >= 0) & (x < SIDE)
    board[own[seen], y[seen], x[seen], channel] = 1


class SpaceInvaders(Game):
    """Aliens come down and shoot. One that is shot is worth 1. Its own shot or an alien that arrives ends the game."""

    channels = 6  # cannon, aliens, those that go left, right, own shots, theirs
    minimal = (NONE, LEFT, RIGHT, FIRE)
    cool_down, shot_every, move_every, fastest = 5, 10, 12, 6

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Put 24 aliens at the top."""
        n = len(u)
        maps = {name: np.zeros((n, SIDE, SIDE), np.bool_) for name in ("aliens", "shots", "theirs")}
        maps["aliens"][:, :4, 2:8] = True
        return maps | {
            "x": _full(n, 5), "dx": _full(n, -1), "cool": _full(n, 0), "shot": _full(n, self.shot_every),
            "move": _full(n, self.move_every), "every": _full(n, self.move_every),
        }  # fmt: skip

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Shoot or move, then move shots and aliens, and let the nearest alien shoot."""
        own, bottom = np.arange(len(a)), SIDE - 1
        fires = np.flatnonzero((a == FIRE) & (s.cool == 0))
        s.shots[fires, bottom, s.x[fires]] = True
        s.cool[fires] = self.cool_down
        s.x = _moved(a, s.x, LEFT, RIGHT)
        empty = np.zeros((len(a), 1, SIDE), np.bool_)
        s.shots = np.concatenate([s.shots[:, 1:], empty], 1)
        s.theirs = np.concatenate([empty, s.theirs[:, :-1]], 1)
        s.over = s.theirs[own, bottom, s.x] | s.aliens[own, bottom, s.x]
        self._march(s)
        s.over |= s.aliens[own, bottom, s.x]
        due = np.flatnonzero(s.shot == 0)
        s.shot[due] = self.shot_every
        far = np.abs(np.arange(SIDE) - s.x[due, None])
        column = np.where(s.aliens[due].any(1), far, SIDE + 1).argmin(1)  # of two as near, the left one
        row = bottom - s.aliens[due, ::-1, column].argmax(1)
        s.theirs[due, row, column] = True
        hits = s.aliens & s.shots
        s.aliens, s.shots = s.aliens & ~hits, s.shots & ~hits
        s.cool -= s.cool > 0
        s.move -= 1
        s.shot -= 1
        cleared = ~s.aliens.any((1, 2))
        s.every -= cleared & s.ramping & (s.every > self.fastest)
        s.aliens[cleared, :4, 2:8] = True
        rewards: Numbers = hits.sum((1, 2))
        return rewards

    def _march(self, s: SimpleNamespace) -> None:
        """Move the aliens where it is time: to the side, or down and about at an edge."""
        due = s.move == 0
        s.move = np.where(due, np.minimum(s.aliens.sum((1, 2)), s.every), s.move)
        edge = np.where(s.dx < 0, s.aliens[:, :, 0].any(1), s.aliens[:, :, -1].any(1))
        down = due & edge
        s.over |= down & s.aliens[:, -1].any(1)
        s.dx = np.where(down, -s.dx, s.dx)
        for to, shift, axis in ((down, 1, 1), (due & ~edge & (s.dx < 0), -1, 2), (due & ~edge & (s.dx > 0), 1, 2)):
            s.aliens[to] = np.roll(s.aliens[to], shift, axis)

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Paint cannon, aliens, their direction, and shots."""
        board[np.arange(len(board)), SIDE - 1, s.x, 0] = 1
        left = (s.dx < 0)[:, None, None]
        for channel, cells in enumerate((s.aliens, s.aliens & left, s.aliens & ~left, s.shots, s.theirs), 1):
            board[..., channel] = cells


X, Y, DX, TIMER, SHOT = range(5)
GONE = -99
"""The x of a place in a list at which there is nothing."""


class Seaquest(Game):
    """A submarine shoots fish and submarines for 1 each, and brings divers up before its oxygen is used up.

    Things of a kind are a list: an array (n, places, 5) of x, y, dx, and the steps to the next move and shot.
    """

    # front, back, own shots, trails, theirs, fish, submarines, gauges of oxygen and divers, divers
    channels = 10
    minimal = (NONE, LEFT, UP, RIGHT, DOWN, FIRE)
    places: ClassVar[dict[str, int]] = {"shots": 4, "divers": 8, "fish": 64, "subs": 64, "theirs": 64}
    oxygen, cool_down, shot_every, diver_every, diver_move, crew = 200, 5, 10, 30, 5, 6

    def begin(self, u: NDArray[np.float64]) -> dict[str, Numbers]:
        """Put the submarine at the surface."""
        n = len(u)
        lists: dict[str, Numbers] = {k: np.full((n, size, 5), GONE, np.int16) for k, size in self.places.items()}
        return lists | {
            "x": _full(n, 5), "y": _full(n, 0), "dx": _full(n, -1), "oxygen": _full(n, self.oxygen),
            "crew": _full(n, 0), "cool": _full(n, 0), "up": np.ones(n, np.bool_),
            "spawn": _full(n, 20), "spawn_every": _full(n, 20), "diver": _full(n, self.diver_every),
            "move_every": _full(n, 5), "level": _full(n, 0),
        }  # fmt: skip

    def step(self, s: SimpleNamespace, a: Numbers, draw: Draw) -> Numbers:
        """Let things appear, act, and move own shots, divers, submarines, their shots and fish, in this order."""
        self._appear(s, draw)
        fires = np.flatnonzero((a == FIRE) & (s.cool == 0))
        _append(s.shots, fires, s.x[fires], s.y[fires], s.dx[fires])
        s.cool[fires] = self.cool_down
        s.x = _moved(a, s.x, LEFT, RIGHT)
        s.y = _moved(a, s.y, UP, DOWN, high=8)
        s.dx = np.where(a == LEFT, -1, np.where(a == RIGHT, 1, s.dx))
        rewards = self._shoot(s)
        self._pick_up(s)
        rewards += self._attack(s, s.subs)
        self._fire(s)
        s.over |= self._meets(s, s.theirs).any(1)
        _advance(s.theirs, s.theirs[..., X] != GONE)
        s.over |= self._meets(s, s.theirs).any(1)
        rewards += self._attack(s, s.fish)
        s.spawn, s.diver, s.cool = (timer - (timer > 0) for timer in (s.spawn, s.diver, s.cool))
        s.over |= s.oxygen <= 0
        below = s.y > 0
        s.oxygen -= below
        surfaces = ~below & ~s.up
        s.over |= surfaces & (s.crew == 0)
        up = surfaces & (s.crew != 0)
        s.up = ~below & (s.up | up)
        rewards += self._surface(s, up)
        for name in self.places:
            _pack(getattr(s, name))
        return rewards

    def _appear(self, s: SimpleNamespace, draw: Draw) -> None:
        due = np.flatnonzero(s.spawn == 0)
        if len(due):
            u = draw(due, 3)
            right, sub, y = u[:, 0] < 1 / 2, u[:, 1] < 1 / 3, 1 + (8 * u[:, 2]).astype(np.int64)
            x, dx, every = np.where(right, 0, SIDE - 1), np.where(right, 1, -1), s.move_every[due]
            others = np.concatenate([s.fish[due], s.subs[due]], 1)
            against = (others[..., X] != GONE) & (others[..., Y] == y[:, None]) & (others[..., DX] != dx[:, None])
            for to, which in ((s.subs, sub), (s.fish, ~sub)):
                new = which & ~against.any(1)
                _append(to, due[new], x[new], y[new], dx[new], every[new], self.shot_every)
            s.spawn[due] = s.spawn_every[due]
        due = np.flatnonzero(s.diver == 0)
        if len(due):
            u = draw(due, 2)
            right = u[:, 0] < 1 / 2
            x, dx, y = np.where(right, 0, SIDE - 1), np.where(right, 1, -1), 1 + (8 * u[:, 1]).astype(np.int64)
            _append(s.divers, due, x, y, dx, self.diver_move)
            s.diver[due] = self.diver_every

    def _meets(self, s: SimpleNamespace, things: Numbers) -> NDArray[np.bool_]:
        """Tell which things are where the submarine's front is."""
        out: NDArray[np.bool_] = (things[..., X] == s.x[:, None]) & (things[..., Y] == s.y[:, None])
        return out

    def _shoot(self, s: SimpleNamespace) -> Numbers:
        """Move own shots. Each takes the first fish in its cell, or the first submarine."""
        rewards = np.zeros(len(s.x), np.int64)
        _advance(s.shots, s.shots[..., X] != GONE)
        for k in _places(s.shots):
            shot = s.shots[:, k]
            for things in (s.fish, s.subs):
                hit = (things[..., X] == shot[:, None, X]) & (things[..., Y] == shot[:, None, Y])
                hits = np.flatnonzero((shot[:, X] != GONE) & hit.any(1))
                things[hits, hit[hits].argmax(1), X] = GONE
                shot[hits, X] = GONE
                rewards[hits] += 1
        return rewards

    def _pick_up(self, s: SimpleNamespace) -> None:
        """Take divers on board, before and after they move."""
        for k in _places(s.divers):
            diver = s.divers[:, k : k + 1]
            for moves in (True, False):
                taken = self._meets(s, diver)[:, 0] & (s.crew < self.crew)
                s.crew += taken
                diver[taken, 0, X] = GONE
                if moves:
                    there = diver[..., X] != GONE
                    due = there & (diver[..., TIMER] == 0)
                    _advance(diver, due)
                    diver[..., TIMER] = np.where(due, self.diver_move, diver[..., TIMER] - there)

    def _attack(self, s: SimpleNamespace, things: Numbers) -> Numbers:
        """Move fish or submarines. They end the game where they meet the front, and are hit where they meet a shot."""
        rewards = np.zeros(len(s.x), np.int64)
        s.over |= self._meets(s, things).any(1)
        there = things[..., X] != GONE
        due = there & (things[..., TIMER] == 0)
        things[..., TIMER] = np.where(due, s.move_every[:, None], things[..., TIMER] - there)
        s.fires = there & (things[..., SHOT] == 0)
        things[..., SHOT] = np.where(s.fires, self.shot_every, things[..., SHOT] - there)
        s.from_x = things[..., X] + things[..., DX] * due
        _advance(things, due)
        meets = due & self._meets(s, things)
        s.over |= meets.any(1)
        shots = s.shots[:, None]
        hit = (things[:, :, None, X] == shots[..., X]) & (things[:, :, None, Y] == shots[..., Y])
        hit &= (due & ~meets & (things[..., X] != GONE))[..., None]
        if hit.any():
            for k in _places(things):
                now = hit[:, k] & (s.shots[..., X] != GONE)
                hits = np.flatnonzero(now.any(1))
                s.shots[hits, now[hits].argmax(1), X] = GONE
                things[hits, k, X] = GONE
                rewards[hits] += 1
        return rewards

    def _fire(self, s: SimpleNamespace) -> None:
        """Let submarines shoot. One that was hit or has left in this step still does."""
        for k in np.flatnonzero(s.fires.any(0)):
            own = np.flatnonzero(s.fires[:, k])
            _append(s.theirs, own, s.from_x[own, k], s.subs[own, k, Y], s.subs[own, k, DX])

    def _surface(self, s: SimpleNamespace, up: NDArray[np.bool_]) -> Numbers:
        """Bring a diver up, or all six for the oxygen left, in tenths, and then lack one, as in the package."""
        full = up & (s.crew == self.crew)
        rewards: Numbers = np.where(full, s.oxygen * 10 // self.oxygen, 0)
        s.crew = np.where(full, 0, s.crew) - up
        s.oxygen = np.where(up, self.oxygen, s.oxygen)
        slow = 2
        harder = up & s.ramping & ((s.spawn_every > 1) | (s.move_every > slow))
        s.move_every -= harder & (s.move_every > slow) & (s.level % 2 == 1)
        s.spawn_every -= harder & (s.spawn_every > 1)
        s.level += harder
        return rewards

    def paint(self, s: SimpleNamespace, board: NDArray[np.uint8]) -> None:
        """Paint all there is, gauges in the last row, and where things were."""
        own, columns = np.arange(len(board)), np.arange(SIDE)
        board[own, s.y, s.x, 0] = 1
        board[own, s.y, s.x - s.dx, 1] = 1
        board[:, 9, :, 7] = columns < (np.maximum(s.oxygen, 0) * 10 // self.oxygen)[:, None]
        board[:, 9, :, 8] = (columns >= 9 - s.crew[:, None]) & (columns < 9)
        for channel, things in ((2, s.shots), (4, s.theirs), (5, s.fish), (6, s.subs), (9, s.divers)):
            lane, k = np.nonzero(things[..., X] != GONE)
            x, y, dx = things[lane, k, :3].T
            board[lane, y, x, channel] = 1
            if channel > 4:
                _trails(board, lane, y, x - dx, 3)


def _append(things: Numbers, own: NDArray[np.intp], *values: Any) -> None:
    """Add a thing to the lists of some boards, which have no gaps."""
    at = (things[own, :, X] != GONE).sum(1)
    for field, value in enumerate(values):
        things[own, at, field] = value


def _advance(things: Numbers, due: NDArray[np.bool_]) -> None:
    """Move things by dx, and let them go that leave the board."""
    x = np.where(due, things[..., X] + things[..., DX], things[..., X])
    things[..., X] = np.where(due & ((x < 0) | (x >= SIDE)), GONE, x)


def _places(things: Numbers) -> list[int]:
    """List the places that are in use on any board, the last first, as the package goes through its lists."""
    places: list[int] = np.flatnonzero((things[..., X] != GONE).any(0))[::-1].tolist()
    return places


def _pack(things: Numbers) -> None:
    """Close gaps in lists."""
    gone = things[..., X] == GONE
    if (gone[:, :-1] & ~gone[:, 1:]).any():
        things[:] = np.take_along_axis(things, gone.argsort(1, kind="stable")[..., None], 1)


GAMES: dict[str, Game] = {
    "asterix": Asterix(), "breakout": Breakout(), "freeway": Freeway(), "seaquest": Seaquest(),
    "space_invaders": SpaceInvaders(),
}  # fmt: skip


@dataclass
class MinAtar(VectorEnvironment):
    """Five small games after Atari's, on a board of 10 × 10 (Young & Tian 2019)."""

    id = "rlrun/minatar@1"
    game: Literal["asterix", "breakout", "freeway", "seaquest", "space_invaders"] = param("breakout", "Which game.")
    sticky_action_prob: float = param(
        0.1, "Probability that the action before is taken again in place of the one chosen.", minimum=0, maximum=1
    )
    difficulty_ramping: bool = param(
        True, "Whether asterix, seaquest and space_invaders become faster. The others do not.",
        when="game=asterix|seaquest|space_invaders",
    )  # fmt: skip
    minimal: bool = param(
        False, "Whether there are only the actions that do something in the game, and not all six. In seaquest all do.",
        when="game!=seaquest",
    )  # fmt: skip

    def __post_init__(self) -> None:
        self.rules = GAMES[self.game]
        self.actions = np.array(self.rules.minimal if self.minimal else range(len(NAMES)))

    @property
    def spec(self) -> Spec:
        """Describe the task. An observation is the board: 1 where a thing of a channel is."""
        board = Box(0, 1, (SIDE, SIDE, self.rules.channels), "uint8")
        return Spec(board, Discrete(len(self.actions)), reward_low=0)

    def open(self, lanes: int) -> None:
        """Make so many boards."""
        self.lane, self.rng, self.last = np.arange(lanes), Streams(lanes), np.zeros(lanes, np.int64)
        self.state = self.rules.begin(np.zeros((lanes, self.rules.first_draws)))

    def action_names(self, lane: int) -> list[str]:
        """Name the actions."""
        return [NAMES[a] for a in self.actions]

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Begin a game."""
        self.rng.seed(lanes, seeds)
        self.last[lanes] = NONE
        draws = self.rules.first_draws
        u = self.rng.random(lanes, draws) if draws else np.zeros((len(self.lane[lanes]), 0))
        for name, first in self.rules.begin(u).items():
            self.state[name][lanes] = first
        return self._boards(self._at(lanes), len(u))

    def step(self, lanes: Lanes, actions: NDArray[np.int64]) -> TimeSteps:
        """Take actions, or those before again."""
        s, every = self._at(lanes), self.lane[lanes]
        again = self.rng.random(lanes) < self.sticky_action_prob
        a = np.where(again, self.last[lanes], self.actions[actions])
        self.last[lanes] = a
        rewards = self.rules.step(s, a, lambda own, size: self.rng.random(every[own], size))
        for name, column in self.state.items():
            column[lanes] = getattr(s, name)
        return TimeSteps(self._boards(s, len(a)), rewards.astype(np.float64), s.over, np.zeros_like(s.over))

    def _at(self, lanes: Lanes) -> SimpleNamespace:
        n = len(self.lane[lanes])
        over, state = np.zeros(n, np.bool_), {name: column[lanes].copy() for name, column in self.state.items()}
        return SimpleNamespace(over=over, ramping=self.difficulty_ramping, **state)

    def _boards(self, s: SimpleNamespace, n: int) -> NDArray[np.uint8]:
        boards = np.zeros((n, SIDE, SIDE, self.rules.channels), np.uint8)
        self.rules.paint(s, boards)
        return boards


def serve_minatar() -> None:
    """Serve the plugin minatar."""
    serve(MinAtar)
