"""K Q-networks, their loss and their update by Adam: functions of arrays, compiled once a process.

An array of weights has the members as its first axis: a layer is a pair of weights (K, inputs, outputs) and biases
(K, outputs). The last layer has the values of A actions, once as the member's own, Q_k, and with ``heads`` K + 1 times
more: head j of member k is the value, in member k, of an action and then the greedy policy of member j, or with j = K
the greedy policy of the members' mean.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

import rlrun

Layers = list[tuple[Any, Any]]

Draw = Callable[[int], NDArray[np.float64]]
"""Draws n numbers of the standard normal distribution."""

FEATURES = 64
"""Outputs of the networks of random network distillation."""

BETA_1, BETA_2, TINY = 0.9, 0.999, 1e-8
"""Adam's decays of the moments, and what it adds to a divisor (Kingma & Ba 2015)."""


def check(hidden: tuple[int, ...], **factors: float) -> None:
    """Refuse layers without units, and factors of what is learnt that are 0 in float32."""
    if min(hidden, default=1) < 1:
        raise rlrun.InvalidParams(f"hidden is {hidden}: a layer has at least 1 unit")
    for name, value in factors.items():
        if np.float32(value) == 0:
            raise rlrun.InvalidParams(f"{name} is {value:g}, which is 0 in float32: nothing would be learnt from it")


class Design(NamedTuple):
    """What a program is compiled for."""

    shape: tuple[int, ...]
    """Of an observation: () of a number of a state, (n,), or (height, width, channels) of an image with filters."""
    inputs: int
    """How many states there are, or how many numbers an observation has."""
    actions: int
    members: int
    hidden: tuple[int, ...]
    filters: int
    """Filters 3 × 3 of a convolution before the hidden layers, or 0."""
    prior: tuple[float, ...]
    """The scale of each member's prior network. If all are 0 there is none."""
    centred: bool
    """Whether the mean of the priors over the members is taken from each."""
    heads: bool
    double: bool
    gamma: float
    rate: float
    target: int
    """Updates between two copies to the target networks."""
    bonus: float = 0.0
    """What a reward gains where the next observation is as new as the average, by random network distillation, or 0."""

    def layers(self, *, prior: bool = False) -> list[tuple[int, int]]:
        """Return inputs and outputs of each layer, of a network or of its prior."""
        return self.layers_to((1 if prior or not self.heads else self.members + 2) * self.actions)

    def layers_to(self, last: int) -> list[tuple[int, int]]:
        """Return inputs and outputs of each layer of a network with so many outputs."""
        if self.filters:
            height, width, channels = self.shape
            first, inputs = [(9 * channels, self.filters)], (height - 2) * (width - 2) * self.filters
        else:
            first, inputs = [], self.inputs
        units = [inputs, *self.hidden, last]
        return first + list(itertools.pairwise(units))


class Batch(NamedTuple):
    """Steps to learn from: B of each, and in the arguments of a program U × B."""

    observations: Any
    actions: Any
    rewards: Any
    goes_on: Any
    """1, and 0 after a step that terminated."""
    next_observations: Any
    weights: Any
    """(B, K): whether a member learns from a step."""
    allowed: Any = None
    """(B, A): which actions are allowed at the next observations. None: all."""


class State(NamedTuple):
    """All that is learned, and the priors."""

    networks: Layers
    targets: Layers
    prior: Layers
    """Empty without priors."""
    first: Layers
    """Adam's means of gradients."""
    second: Layers
    """Adam's means of their squares."""
    updates: Any
    novelty: list[Any]
    """Of random network distillation: the fixed network, the one that learns it, Adam's moments, the mean square of the
    errors so far, and how often it has learned. Empty without a bonus."""


def size(design: Design) -> int:
    """Return the bytes of a state."""

    def weights(layers: list[tuple[int, int]]) -> int:
        return 4 * sum((i + 1) * o for i, o in layers)

    own = weights(design.layers(prior=True)) if any(design.prior) else 0
    novelty = 4 * weights(design.layers_to(FEATURES)) + 8 if design.bonus else 0
    return design.members * (4 * weights(design.layers()) + own) + novelty + 4


def draw(design: Design, normal: Draw) -> State:
    """Draw a state: weights with variance 1/inputs (LeCun et al. 1998), biases 0."""
    k = design.members

    def layers(k: int, shapes: list[tuple[int, int]]) -> Layers:
        return [
            ((normal(k * i * o).reshape(k, i, o) / np.sqrt(i)).astype(np.float32), np.zeros((k, o), np.float32))
            for i, o in shapes
        ]

    def zeros(layers: Layers) -> Layers:
        return [(np.zeros_like(w), np.zeros_like(b)) for w, b in layers]

    networks = layers(k, design.layers())
    own = layers(k, design.layers(prior=True)) if any(design.prior) else []
    novelty: list[Any] = []
    if design.bonus:
        fixed, learns = (layers(1, design.layers_to(FEATURES)) for _ in range(2))
        if not design.shape:  # of the numbers of a state one is not 0, and states are to be far from each other
            for layer in (fixed, learns):
                layer[0] = layer[0][0] * np.sqrt(np.float32(design.inputs)), layer[0][1]
        novelty = [fixed, learns, zeros(learns), zeros(learns), np.float32(0), np.int32(0)]
    state = State(networks, networks, own, zeros(networks), zeros(networks), np.int32(0), novelty)
    copied: State = jax.tree.map(lambda x: jnp.array(x, copy=True), state)
    return copied


def shapes(tree: Any) -> Any:
    """Return the shape and the type of every array in a tree."""
    return jax.tree.map(lambda x: (np.shape(x), np.asarray(x).dtype), tree)


def shape(space: rlrun.Space, filters: int) -> tuple[tuple[int, ...], int]:
    """Return the shape of an observation as networks take it, and how many inputs it has."""
    shape, image = space.shape, 3
    if filters:
        height, width, *channels = (*shape, 0, 0) if len(shape) < 2 else shape
        if len(channels) > 1 or min(height, width) < image:
            raise rlrun.Unsupported(
                f"filters take images of shape (height, width) or (height, width, channels), of {image} × {image} or "
                f"more, and observations are {space}: leave filters out"
            )
        shape = (height, width, *(channels or [1]))
    elif not isinstance(space, rlrun.Discrete):
        shape = (int(np.prod(shape)),)
    return shape, space.n if isinstance(space, rlrun.Discrete) else int(np.prod(shape))


def scale(space: rlrun.Space) -> NDArray[np.float64]:
    """Return 1 over the largest absolute bound of each number of an observation, 1 of one without a bound."""
    if isinstance(space, rlrun.Discrete):
        return np.ones(())
    if isinstance(space, rlrun.MultiDiscrete):
        most = np.array(space.nvec) - 1.0
    else:
        most = np.maximum(np.abs(space.low), np.abs(space.high))
    bounded = np.isfinite(most) & (most > 0) & (most < 1e6)
    factors: NDArray[np.float64] = 1.0 / np.where(bounded, most, 1.0)
    return factors


def encoded(
    space: rlrun.Space, scale: NDArray[np.float64], shape: tuple[int, ...], observations: NDArray[Any]
) -> NDArray[Any]:
    """Return observations as networks take them: states from 0 on, or numbers divided by their largest bound."""
    if isinstance(space, rlrun.Discrete):
        return (observations - space.start).astype(np.int32)
    many = observations.shape[: observations.ndim - len(space.shape)]
    with np.errstate(over="ignore"):  # what float32 cannot have ends the run by its values
        return (observations * scale).astype(np.float32).reshape(*many, *shape)


def outputs(design: Design, layers: Layers, observations: Any) -> Any:
    """Return (K, B, outputs of the last layer)."""
    (w, b), *rest = layers
    if not design.shape:
        h = w[:, observations]
    elif design.filters:
        h = _convolved(design, w, b, observations)
        (w, b), *rest = rest
        h = jnp.einsum("kbi,kio->kbo", h, w)
    else:
        h = jnp.einsum("bi,kio->kbo", observations, w)
    h = h + b[:, None]
    for w, b in rest:
        h = jnp.einsum("kbi,kio->kbo", jax.nn.relu(h), w) + b[:, None]
    return h


def _convolved(design: Design, w: Any, b: Any, images: Any) -> Any:
    """Return what the filters make of images: max(0, x), (K, B, places × filters). Members see the same patches."""
    height, width, _ = design.shape
    places = [images[:, i : i + height - 2, j : j + width - 2] for i in range(3) for j in range(3)]
    patches = jnp.concatenate(places, -1).reshape(len(images), (height - 2) * (width - 2), -1)
    h = jax.nn.relu(jnp.einsum("bpi,kio->kbpo", patches, w) + b[:, None, None])
    return h.reshape(*h.shape[:2], -1)


def priors(design: Design, prior: Layers, observations: Any) -> Any:
    """Return what the prior networks add to the values: (K, B, A), or 0."""
    if not prior:
        return 0.0
    scales = jnp.array([design.prior[k % len(design.prior)] for k in range(design.members)], jnp.float32)
    f = scales[:, None, None] * outputs(design, prior, observations)
    return f - f.mean(0) if design.centred else f


def values(design: Design, layers: Layers, prior: Any, observations: Any) -> Any:
    """Return (K, B, 1 + heads, A), given what the prior adds."""
    q = outputs(design, layers, observations)
    q = q.reshape(*q.shape[:2], -1, design.actions)
    return q + (prior if isinstance(prior, float) else prior[:, :, None])


def targets(design: Design, state: State, batch: Batch) -> Any:
    """Return what each value is moved to: (K, B, 1 + heads)."""
    prior = priors(design, state.prior, batch.next_observations)
    after = values(design, state.targets, prior, batch.next_observations)
    own = after[:, :, 0]
    chooses = values(design, state.networks, prior, batch.next_observations)[:, :, 0] if design.double else own
    follows = _at(own, _best(chooses, batch))[..., None]
    if design.heads:
        policies = jnp.concatenate([_best(own, batch), _best(own.mean(0), batch)[None]]).T  # B × (K + 1)
        heads = _at(after[:, :, 1:], jnp.broadcast_to(policies, (design.members, *policies.shape)))
        follows = jnp.concatenate([follows, heads], -1)
    return batch.rewards[:, None] + design.gamma * batch.goes_on[:, None] * follows


def _best(q: Any, batch: Batch) -> Any:
    """Return the best of the actions that are allowed at the next observations."""
    return (q if batch.allowed is None else jnp.where(batch.allowed, q, -jnp.inf)).argmax(-1)


def _at(q: Any, actions: Any) -> Any:
    return jnp.take_along_axis(q, actions[..., None], -1)[..., 0]


def loss(networks: Layers, design: Design, state: State, batch: Batch) -> Any:
    """Return the sum over members of the mean squared error of Q_k, plus that of the heads on average.

    Steps that a mask hides from a member count as 0.
    """
    y = targets(design, state, batch)
    prior = priors(design, state.prior, batch.observations)
    taken = jax.nn.one_hot(batch.actions, design.actions, dtype=jnp.float32)
    q = (values(design, networks, prior, batch.observations) * taken[:, None]).sum(-1)
    errors = jnp.square(jax.lax.stop_gradient(y) - q)
    total = errors[..., 0] + (errors[..., 1:].mean(-1) if design.heads else 0.0)
    return (total * batch.weights.T).mean(1).sum()


def update(design: Design, state: State, batch: Batch) -> tuple[State, Any]:
    """Return the state after a step of Adam, and the loss per member before it."""
    if design.bonus:
        batch = batch._replace(rewards=batch.rewards + bonuses(design, state.novelty, batch.next_observations))
    n = state.updates + 1
    value, gradient = jax.value_and_grad(loss)(state.networks, design, state, batch)
    networks, first, second = _adam(design.rate, n, gradient, state.networks, (state.first, state.second))
    copies = n % design.target == 0
    kept = jax.tree.map(lambda t, w: jnp.where(copies, w, t), state.targets, networks)
    return State(networks, kept, state.prior, first, second, n, state.novelty), value / design.members


def _adam(rate: float, n: Any, gradient: Layers, layers: Layers, moments: tuple[Layers, Layers]) -> tuple[Layers, ...]:
    """Return layers and moments after the nth step of Adam."""
    first = jax.tree.map(lambda m, g: BETA_1 * m + (1 - BETA_1) * g, moments[0], gradient)
    second = jax.tree.map(lambda v, g: BETA_2 * v + (1 - BETA_2) * g * g, moments[1], gradient)
    count = n.astype(jnp.float32)
    c1, c2 = 1 / (1 - BETA_1**count), 1 / (1 - BETA_2**count)
    layers = jax.tree.map(lambda w, m, v: w - rate * m * c1 / (jnp.sqrt(v * c2) + TINY), layers, first, second)
    return layers, first, second


def errors(design: Design, learns: Layers, fixed: Layers, observations: Any) -> Any:
    """Return how far a network is from a fixed random one at B observations: the mean square over their outputs."""
    return jnp.square(outputs(design, learns, observations) - outputs(design, fixed, observations)).mean((0, 2))


def bonuses(design: Design, novelty: list[Any], observations: Any) -> Any:
    """Return the bonuses of B observations: errors by the root of the mean square of those so far."""
    fixed, learns, _, _, square, _ = novelty
    return design.bonus * errors(design, learns, fixed, observations) / (jnp.sqrt(square) + TINY)


def notice(design: Design, state: State, observations: Any) -> State:
    """Return the state after it has learned that there were these B observations (Burda et al. 2018)."""
    fixed, learns, first, second, square, n = state.novelty

    def mean(layers: Layers) -> tuple[Any, Any]:
        each = errors(design, layers, fixed, observations)
        return each.mean(), each

    (_, each), gradient = jax.value_and_grad(mean, has_aux=True)(learns)
    n = n + 1
    square = square + (jnp.square(each).mean() - square) / n.astype(jnp.float32)
    learns, first, second = _adam(design.rate, n, gradient, learns, (first, second))
    return state._replace(novelty=[fixed, learns, first, second, square, n])


class Programs(NamedTuple):
    """Compiled for a design."""

    learn: Callable[[State, Batch], tuple[State, Any]]
    """Return the state after the U updates of a batch, and the loss of the last. The state given is used up."""
    values: Callable[[Layers, Layers, Any], Any]
    """Return (K, B, 1 + heads, A), given networks, their priors and B observations."""
    notice: Callable[[State, Any], State]
    """Return the state after B observations. The state given is used up."""


@functools.lru_cache(maxsize=32)
def programs(design: Design) -> Programs:
    """Return the programs of a design, one a process: agents that are opened again find them compiled."""

    def learn(state: State, batch: Batch) -> tuple[State, Any]:
        state, losses = jax.lax.scan(lambda s, b: update(design, s, b), state, batch)
        return state, losses[-1]

    def look(networks: Layers, prior: Layers, observations: Any) -> Any:
        return values(design, networks, priors(design, prior, observations), observations)

    noticed = jax.jit(functools.partial(notice, design), donate_argnums=0)
    return Programs(jax.jit(learn, donate_argnums=0), jax.jit(look), noticed)
