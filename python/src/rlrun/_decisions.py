"""Decisions between options, as they cross."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlrun._pb import plugin_pb2 as pb
from rlrun.errors import InvalidAction, InvalidAnswer
from rlrun.options import Problem, Problems
from rlrun.spaces import Array, any_array


@dataclass
class Decisions:
    """The decisions of some lanes, option after option."""

    sizes: NDArray[np.int64]  # options of each
    members: NDArray[np.int64]
    greedy: NDArray[np.int64]
    numbers: NDArray[np.int64]  # of the options, in the author's count
    names: Sequence[str]
    of: NDArray[np.int64]  # the name of each option
    reveals: NDArray[np.float64]
    holds: NDArray[np.int64]
    values: NDArray[np.float64]
    optimal: NDArray[np.float64] | None
    width: NDArray[np.int64]  # options of each in the author's count, before the pairs
    pair_counts: NDArray[np.int64]
    pairs: NDArray[np.float64]  # five numbers each

    def chosen(self, places: NDArray[np.intp], choices: NDArray[Any], lanes: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the author's numbers of the options that the decisions at these places ended with."""
        sizes = self.sizes[places]
        offered = sizes + self.pair_counts[places]
        bad = choices >= offered
        if bad.any():
            i = int(np.argmax(bad))
            raise InvalidAction(f"option {choices[i]} of a decision between {offered[i]}", lane=int(lanes[i]))
        begin = np.cumsum(self.sizes) - self.sizes
        named = self.numbers[begin[places] + np.minimum(choices, sizes - 1)]
        options: NDArray[np.int64] = np.where(choices < sizes, named, self.width[places] + choices - sizes)
        return options

    def write(self, reply: pb.AgentReply, sent: dict[str, int]) -> None:
        """Add the decisions to a reply; sent has the numbers of the names on the stream."""
        for name in self.names:
            if name not in sent:
                sent[name] = len(sent)
                reply.names.append(name)
        known = np.array([sent[name] for name in self.names], "<u4")
        reply.sizes, reply.members, reply.greedy = (
            c.astype("<u4").tobytes() for c in (self.sizes, self.members, self.greedy)
        )
        reply.options = known[self.of].tobytes()
        reply.reveals = self.reveals.astype("<f8").tobytes()
        if self.holds.any():
            reply.holds = self.holds.astype("<u4").tobytes()
        reply.values = self.values.astype("<f8").tobytes()
        if self.optimal is not None:
            reply.optimal = self.optimal.astype("<f8").tobytes()
        if self.pair_counts.any():
            reply.pair_counts = self.pair_counts.astype("<u4").tobytes()
            reply.pairs = self.pairs.astype("<f8").tobytes()


def read(answer: Problems | Sequence[Problem], lanes: Sequence[int]) -> Decisions:
    """Return the checked answer of an agent for these lanes, or raise an error that says what is wrong."""
    if isinstance(answer, Problems):
        return _columns(answer, len(lanes))
    if len(answer) != len(lanes):
        raise InvalidAnswer(f"{len(answer)} problems for {len(lanes)} lanes")
    return _each(answer, lanes)


def _columns(p: Problems, lanes: int) -> Decisions:
    n, greedy = _names(p.names), _greedy(p.greedy)
    values = _numbers(p.values, "values")
    members = values.shape[-1] if values.ndim else 0
    _check(values, (lanes, n, members), "values")
    offered = np.ones((lanes, n), np.bool_) if p.offered is None else any_array(p.offered, "offered")
    _check(offered, (lanes, n), "offered")
    if offered.dtype != np.bool_:
        raise InvalidAnswer(f"offered is an array of {offered.dtype}, must be of bool")
    if not 0 <= greedy < n or not offered[:, greedy].all():
        raise InvalidAnswer(f"the greedy option, number {p.greedy} of {n}, is not offered everywhere")
    numbers = np.nonzero(offered)[1]
    optimal = None if p.optimal is None else _numbers(p.optimal, "optimal")
    if optimal is not None:
        _check(optimal, (lanes, members), "optimal")
    each = [None] * lanes if p.pairs is None else p.pairs
    if len(each) != lanes:
        raise InvalidAnswer(f"pairs of {len(each)} lanes, want {lanes}")
    pairs = [_pairs(x) for x in each]
    return Decisions(
        sizes=offered.sum(axis=1),
        members=np.full(lanes, members),
        greedy=offered[:, :greedy].sum(axis=1),
        numbers=numbers,
        names=p.names,
        of=numbers,
        reveals=_reveals(p, n)[numbers],
        holds=np.broadcast_to(_holds(p, (n,), (lanes, n)), (lanes, n))[offered],
        values=values[offered],
        optimal=optimal,
        width=np.full(lanes, n),
        pair_counts=np.array([len(x) for x in pairs]),
        pairs=np.concatenate(pairs),
    )


def _each(problems: Sequence[Problem], lanes: Sequence[int]) -> Decisions:
    names: dict[str, int] = {}
    values, reveals, holds, optimal, pairs = [], [], [], [], []
    some = any(getattr(p, "optimal", None) is not None for p in problems)
    for p, lane in zip(problems, lanes, strict=True):
        try:
            if not isinstance(p, Problem):
                raise InvalidAnswer(f"problem returned a value of type {type(p).__name__}, must return a Problem")
            n, greedy = _names(p.names), _greedy(p.greedy)
            v = _numbers(p.values, "values")
            _check(v, (n, v.shape[-1] if v.ndim else 0), "values")
            best = np.zeros(v.shape[1]) if p.optimal is None else _numbers(p.optimal, "optimal")
            _check(best, v.shape[1:], "optimal")
            if not 0 <= greedy < n:
                raise InvalidAnswer(f"the greedy option is number {p.greedy} of {n}")
            reveals.append(_reveals(p, n))
            holds.append(_holds(p, (n,)))
            pairs.append(_pairs(p.pairs))
        except InvalidAnswer as e:
            e.lane = lane
            raise
        values.append(v)
        optimal.append(best)
        for name in p.names:
            names.setdefault(name, len(names))
    return Decisions(
        sizes=np.array([len(v) for v in values]),
        members=np.array([v.shape[1] for v in values]),
        greedy=np.array([p.greedy for p in problems]),
        numbers=np.concatenate([np.arange(len(v)) for v in values]),
        names=list(names),
        of=np.array([names[name] for p in problems for name in p.names]),
        reveals=np.concatenate(reveals),
        holds=np.concatenate(holds),
        values=np.concatenate([v.ravel() for v in values]),
        optimal=np.concatenate(optimal) if some else None,
        width=np.array([len(v) for v in values]),
        pair_counts=np.array([len(x) for x in pairs]),
        pairs=np.concatenate(pairs),
    )


def _holds(p: Problem | Problems, *shapes: tuple[int, ...]) -> NDArray[np.int64]:
    if p.steps is None:
        return np.zeros(shapes[0], np.int64)
    steps = _numbers(p.steps, "steps")
    if steps.shape not in shapes:
        _check(steps, shapes[0], "steps")
    if not ((steps >= 0) & (steps < 2**31) & (steps == np.floor(steps))).all():
        raise InvalidAnswer(f"steps are {steps.tolist()}, must be whole numbers of at least 0")
    return steps.astype(np.int64)


def _reveals(p: Problem | Problems, n: int) -> NDArray[np.float64]:
    reveals = np.full(n, -1.0) if p.reveals is None else _numbers(p.reveals, "reveals")
    _check(reveals, (n,), "reveals")
    return reveals


def _pairs(pairs: Any) -> NDArray[np.float64]:
    if pairs is None or len(pairs) == 0:
        return np.empty((0, 5))
    numbers = _numbers(pairs, "pairs")
    _check(numbers, (len(pairs), 5), "pairs")
    return numbers


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    return any_array(values, name).astype(np.float64)


def _names(names: Any) -> int:
    """Return the number of names of options."""
    if isinstance(names, (str, bytes)) or not all(isinstance(name, str) for name in names):
        raise InvalidAnswer(f"names are {names!r}, must be a list of texts")
    return len(names)


def _greedy(greedy: Any) -> int:
    """Return the number of the greedy option."""
    try:
        return operator.index(greedy)
    except TypeError:
        raise InvalidAnswer(f"the greedy option is {greedy!r}, must be a whole number") from None


def _check(array: Array, shape: tuple[int, ...], name: str) -> None:
    if array.shape != shape:
        raise InvalidAnswer(f"{name} of shape {array.shape}, must be of shape {shape}")
