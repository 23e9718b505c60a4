"""Rules and sources of options as the protocol wants them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlrun._pb import plugin_pb2 as pb
from rlrun.environment import Spec
from rlrun.errors import InvalidAnswer, blame
from rlrun.rules import Decisions, DeclaredOption, Experience, OptionSource, Rule, VectorRule
from rlrun.spaces import any_array, as_array, shown


class RuleInstance:
    """An opened rule."""

    def __init__(self, rule: Rule | VectorRule, spec: Spec, failure: Callable[[BaseException], pb.Error]) -> None:
        self.lock, self.failure = threading.Lock(), failure
        self.rule, self.table = rule, list[str]()
        self.answer: Callable[[Decisions, NDArray[Any]], tuple[Any, Mapping[str, Any]]] = (
            self._each if isinstance(rule, Rule) else self._all
        )
        rule.begin(spec)

    def step(self, m: pb.RuleRequest) -> pb.RuleReply:
        """Answer a request."""
        with self.lock:
            try:
                return self._step(m)
            except BaseException as e:
                return pb.RuleReply(error=self.failure(e), step=m.step)

    def _step(self, m: pb.RuleRequest) -> pb.RuleReply:
        self.table += m.names
        read = np.frombuffer
        sizes, members = read(m.sizes, "<u4").astype(np.int64), read(m.members, "<u4").astype(np.int64)
        n = len(sizes)
        options, values, optimal = read(m.options, "<u4"), read(m.values, "<f8"), read(m.optimal, "<f8")
        greedy, steps, left = read(m.greedy, "<u4"), read(m.steps, "<u8"), read(m.left, "<f8")
        seeds, features = read(m.seeds, "<u8"), read(m.features, "<f8").reshape(n, -1)
        reveals, holds, shares = read(m.reveals, "<f8"), read(m.holds, "<u4"), read(m.shares, "<f8")
        counts, followed, rewards = read(m.counts, "<u4"), read(m.followed, "<u8"), read(m.rewards, "<f8")
        chosen, numbers = np.empty(n, np.int32), dict[str, NDArray[np.float64]]()
        starts, ends = np.cumsum(sizes) - sizes, np.cumsum(sizes * members) - sizes * members
        optima = np.cumsum(members) - members
        groups = {(int(sizes[0]), int(members[0]))} if n else set()
        if n and not ((sizes == sizes[0]).all() and (members == members[0]).all()):
            groups = set(zip(sizes.tolist(), members.tolist(), strict=True))
        for size, k in groups:
            whole = len(groups) == 1
            rows = np.arange(n) if whole else np.flatnonzero((sizes == size) & (members == k))
            at: Any = slice(None) if whole else rows

            def pick(column: NDArray[Any], begin: NDArray[Any], width: int) -> NDArray[Any]:
                if whole:  # noqa: B023  it is called before the loop goes on
                    return column.reshape(n, width)
                return column[begin[rows][:, None] + np.arange(width)]  # noqa: B023

            d = Decisions(
                self.table,
                pick(options, starts, size),
                pick(values, ends, size * k).reshape(len(rows), size, k),
                greedy[at],
                steps[at],
                left[at],
                pick(holds, starts, size),
                pick(shares, starts, size),
                pick(reveals, starts, size),
                pick(optimal, optima, k) if len(optimal) else np.empty((len(rows), 0)),
                pick(counts, starts, size),
                pick(followed, starts, size),
                pick(rewards, starts, size),
                features[at],
                seeds[at],
            )
            answer, log = self.answer(d, rows)
            chosen[at] = answer
            for name, column in log.items():
                numbers.setdefault(name, np.full(n, np.nan))[at] = column
        return pb.RuleReply(
            options=chosen.astype("<i4").tobytes(),
            names=list(numbers),
            numbers=np.column_stack(list(numbers.values())).astype("<f8").tobytes() if numbers else b"",
            step=m.step,
        )

    def _all(self, d: Decisions, rows: NDArray[Any]) -> tuple[Any, Mapping[str, Any]]:
        out = self.rule.choose(d)  # type: ignore[arg-type]
        answer, log = _parts(out)
        if np.ma.is_masked(answer):
            raise InvalidAnswer(f"choose answered masked numbers ({shown(answer)}): fill them in")
        answer = np.asarray(answer)
        if answer.shape != (len(d),):
            raise InvalidAnswer(f"choose answered an array of shape {answer.shape} for {len(d)} decisions")
        if answer.dtype.kind not in "iu":
            bad = next((i for i, x in enumerate(answer.tolist()) if type(x) is not int), 0)
            error = InvalidAnswer(
                f"choose answered {shown(answer[bad])}, which is not the number of an option, "
                f"in an array of {answer.dtype}"
            )
            blame(error, int(rows[bad]))
            raise error
        for name, logged in log.items():
            column = any_array(logged, f"the numbers {name!r} for the log").astype(np.float64)
            if column.shape != (len(d),):
                raise InvalidAnswer(
                    f"the numbers {name!r} for the log have shape {column.shape} for {len(d)} decisions"
                )
            if np.isnan(column).any():
                error = InvalidAnswer(f"the number {name!r} for the log is NaN")
                blame(error, int(rows[np.isnan(column).argmax()]))
                raise error
        outside = (answer < 0) | (answer >= d.values.shape[1])
        if outside.any():
            i = int(outside.argmax())
            raise _not_offered(int(answer[i]), d.values.shape[1], int(rows[i]))
        return answer, log

    def _each(self, d: Decisions, rows: NDArray[Any]) -> tuple[Any, Mapping[str, Any]]:
        chosen, log = np.empty(len(d), np.int64), dict[str, NDArray[np.float64]]()
        for i, (row, decision) in enumerate(zip(rows.tolist(), d, strict=True)):
            try:
                out = self.rule.choose(decision)  # type: ignore[arg-type]
                answer, numbers = _parts(out)
                if not isinstance(answer, (int, np.integer)) or isinstance(answer, bool):
                    raise InvalidAnswer(f"choose answered {shown(answer)}, which is not the number of an option")
                if not 0 <= answer < d.values.shape[1]:
                    raise _not_offered(int(answer), d.values.shape[1], row)
                chosen[i] = answer
                for name, x in numbers.items():
                    if np.isnan(as_array(x, (), f"the number {name!r} for the log")):
                        raise InvalidAnswer(f"the number {name!r} for the log is NaN")
                    log.setdefault(name, np.full(len(d), np.nan))[i] = x
            except BaseException as e:
                blame(e, row)
                raise
        return chosen, log

    def close(self) -> None:
        """Nothing is left to do."""


def _parts(out: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return what a rule chose, and its numbers for the log."""
    answer, log = out if isinstance(out, tuple) and len(out) == 2 else (out, {})
    if isinstance(answer, tuple) or not isinstance(log, Mapping) or any(type(name) is not str for name in log):
        raise InvalidAnswer(
            f"choose answered {shown(out)}: it returns what it chose, or (what it chose, numbers for the log by name)"
        )
    return answer, log


def _not_offered(answer: int, n: int, lane: int) -> InvalidAnswer:
    error = InvalidAnswer(f"choose answered option {answer}, and the options are 0 to {n - 1}")
    blame(error, lane)
    return error


class SourceInstance:
    """An opened source of options."""

    def __init__(self, source: OptionSource, spec: Spec) -> None:
        self.lock = threading.Lock()
        self.source = source
        source.begin(spec)

    def make(self, m: pb.OptionsRequest) -> pb.OptionsReply:
        """Make options for every lane."""
        reply = pb.OptionsReply()
        with self.lock:
            for i, lane in enumerate(m.lanes):
                rows = np.frombuffer(lane.transitions, "<u4").reshape(-1, 4).astype(np.int64)
                x = Experience(
                    m.states,
                    m.actions,
                    rows[:, :3],
                    rows[:, 3],
                    np.frombuffer(lane.rewards, "<f8"),
                    lane.steps,
                    lane.seed,
                )
                try:
                    out: Any = self.source.options(x)
                    if not isinstance(out, Iterable):
                        raise InvalidAnswer(f"options answered {shown(out)}, which is no list of rlrun.DeclaredOption")
                    made = [_option(o, m.states, m.actions) for o in out]
                except BaseException as e:
                    blame(e, i)
                    raise
                reply.lanes.append(pb.OptionList(options=made))
        return reply

    def close(self) -> None:
        """Nothing is left to do."""


def _option(o: Any, states: int, actions: int) -> pb.DeclaredOption:
    """Return an option as it crosses."""
    if not isinstance(o, DeclaredOption):
        raise InvalidAnswer(f"options answered {shown(o)}, which is no rlrun.DeclaredOption")

    def whole(x: Any, n: int, what: str) -> int:
        if not isinstance(x, (int, np.integer)) or isinstance(x, bool) or not 0 <= x < n:
            raise InvalidAnswer(f"option {o.name!r}: {what} {shown(x)} is not in 0..{n - 1}")
        return int(x)

    def numbers(x: Any, shape: tuple[int, ...], what: str) -> NDArray[Any]:
        return as_array(x, shape, f"option {o.name!r}: {what}")

    rows = np.zeros((states, actions))
    rows[:, 0] = 1
    end = np.ones(states)
    for s, a in o.policy.items():
        at = whole(s, states, "the policy's state")
        end[at] = numbers(o.end.get(s, 0), (), f"the probability of ending in state {s}")
        if np.ndim(a) == 0:
            rows[at] = 0
            rows[at, whole(a, actions, f"in state {s} the action")] = 1
        else:
            rows[at] = numbers(a, (actions,), f"the probabilities of actions in state {s}")
    for s, p in o.end.items():
        if s not in o.policy and p != 1:
            raise InvalidAnswer(f"option {o.name!r}: it has no policy in state {s}, where it surely ends")
    begins = np.zeros(states, np.uint8)
    for s in o.initiation if o.initiation is not None else [s for s in o.policy if end[s] < 1]:
        if s not in o.policy:
            raise InvalidAnswer(
                f"option {o.name!r}: it may begin in state {whole(s, states, 'the state')}, where it has no policy"
            )
        begins[whole(s, states, "the state of the initiation set")] = 1
    sure = bool((rows == np.eye(actions)[rows.argmax(axis=1)]).all())
    return pb.DeclaredOption(
        name=o.name,
        initiation=begins.tobytes(),
        actions=rows.argmax(axis=1).astype("<i4").tobytes() if sure else b"",
        policy=b"" if sure else rows.astype("<f8").tobytes(),
        end=end.astype("<f8").tobytes(),
    )
