from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Code(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CODE_UNSPECIFIED: _ClassVar[Code]
    CODE_NEEDS_RESET: _ClassVar[Code]
    CODE_INVALID_ACTION: _ClassVar[Code]
    CODE_INVALID_PARAMS: _ClassVar[Code]
    CODE_UNSUPPORTED: _ClassVar[Code]
    CODE_INVALID_ANSWER: _ClassVar[Code]

class DType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DTYPE_UNSPECIFIED: _ClassVar[DType]
    DTYPE_FLOAT64: _ClassVar[DType]
    DTYPE_FLOAT32: _ClassVar[DType]
    DTYPE_UINT8: _ClassVar[DType]
    DTYPE_INT64: _ClassVar[DType]
CODE_UNSPECIFIED: Code
CODE_NEEDS_RESET: Code
CODE_INVALID_ACTION: Code
CODE_INVALID_PARAMS: Code
CODE_UNSUPPORTED: Code
CODE_INVALID_ANSWER: Code
DTYPE_UNSPECIFIED: DType
DTYPE_FLOAT64: DType
DTYPE_FLOAT32: DType
DTYPE_UINT8: DType
DTYPE_INT64: DType

class Error(_message.Message):
    __slots__ = ("code", "lane", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: Code
    lane: int
    message: str
    def __init__(self, code: _Optional[_Union[Code, str]] = ..., lane: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("sources", "guest")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    GUEST_FIELD_NUMBER: _ClassVar[int]
    sources: bool
    guest: bool
    def __init__(self, sources: bool = ..., guest: bool = ...) -> None: ...

class DescribeReply(_message.Message):
    __slots__ = ("id", "kind", "doc", "params", "abilities", "sources", "breaks", "requires", "preferred_lanes", "frames_per_second", "max_actors", "draws")
    class SourcesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class BreaksEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    ABILITIES_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    BREAKS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_LANES_FIELD_NUMBER: _ClassVar[int]
    FRAMES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MAX_ACTORS_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    doc: str
    params: bytes
    abilities: _containers.RepeatedScalarFieldContainer[str]
    sources: _containers.ScalarMap[str, str]
    breaks: _containers.ScalarMap[str, str]
    requires: str
    preferred_lanes: int
    frames_per_second: float
    max_actors: int
    draws: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., doc: _Optional[str] = ..., params: _Optional[bytes] = ..., abilities: _Optional[_Iterable[str]] = ..., sources: _Optional[_Mapping[str, str]] = ..., breaks: _Optional[_Mapping[str, str]] = ..., requires: _Optional[str] = ..., preferred_lanes: _Optional[int] = ..., frames_per_second: _Optional[float] = ..., max_actors: _Optional[int] = ..., draws: _Optional[_Iterable[str]] = ...) -> None: ...

class Spec(_message.Message):
    __slots__ = ("id", "observation", "action", "reward_low", "reward_high", "continuing", "steps", "masks", "episodes", "actors")
    ID_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REWARD_LOW_FIELD_NUMBER: _ClassVar[int]
    REWARD_HIGH_FIELD_NUMBER: _ClassVar[int]
    CONTINUING_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    ACTORS_FIELD_NUMBER: _ClassVar[int]
    id: str
    observation: Space
    action: Space
    reward_low: float
    reward_high: float
    continuing: bool
    steps: int
    masks: bool
    episodes: int
    actors: int
    def __init__(self, id: _Optional[str] = ..., observation: _Optional[_Union[Space, _Mapping]] = ..., action: _Optional[_Union[Space, _Mapping]] = ..., reward_low: _Optional[float] = ..., reward_high: _Optional[float] = ..., continuing: bool = ..., steps: _Optional[int] = ..., masks: bool = ..., episodes: _Optional[int] = ..., actors: _Optional[int] = ...) -> None: ...

class Space(_message.Message):
    __slots__ = ("discrete", "multi_discrete", "box")
    DISCRETE_FIELD_NUMBER: _ClassVar[int]
    MULTI_DISCRETE_FIELD_NUMBER: _ClassVar[int]
    BOX_FIELD_NUMBER: _ClassVar[int]
    discrete: DiscreteSpace
    multi_discrete: MultiDiscreteSpace
    box: BoxSpace
    def __init__(self, discrete: _Optional[_Union[DiscreteSpace, _Mapping]] = ..., multi_discrete: _Optional[_Union[MultiDiscreteSpace, _Mapping]] = ..., box: _Optional[_Union[BoxSpace, _Mapping]] = ...) -> None: ...

class DiscreteSpace(_message.Message):
    __slots__ = ("n", "start")
    N_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    n: int
    start: int
    def __init__(self, n: _Optional[int] = ..., start: _Optional[int] = ...) -> None: ...

class MultiDiscreteSpace(_message.Message):
    __slots__ = ("nvec",)
    NVEC_FIELD_NUMBER: _ClassVar[int]
    nvec: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, nvec: _Optional[_Iterable[int]] = ...) -> None: ...

class BoxSpace(_message.Message):
    __slots__ = ("low", "high", "shape", "dtype")
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    low: _containers.RepeatedScalarFieldContainer[float]
    high: _containers.RepeatedScalarFieldContainer[float]
    shape: _containers.RepeatedScalarFieldContainer[int]
    dtype: DType
    def __init__(self, low: _Optional[_Iterable[float]] = ..., high: _Optional[_Iterable[float]] = ..., shape: _Optional[_Iterable[int]] = ..., dtype: _Optional[_Union[DType, str]] = ...) -> None: ...

class OpenEnvironmentRequest(_message.Message):
    __slots__ = ("params", "lanes")
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    lanes: int
    def __init__(self, params: _Optional[bytes] = ..., lanes: _Optional[int] = ...) -> None: ...

class OpenEnvironmentReply(_message.Message):
    __slots__ = ("instance", "spec", "models", "error", "metrics", "abilities")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    ABILITIES_FIELD_NUMBER: _ClassVar[int]
    instance: int
    spec: Spec
    models: bool
    error: Error
    metrics: _containers.RepeatedCompositeFieldContainer[Metric]
    abilities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, instance: _Optional[int] = ..., spec: _Optional[_Union[Spec, _Mapping]] = ..., models: bool = ..., error: _Optional[_Union[Error, _Mapping]] = ..., metrics: _Optional[_Iterable[_Union[Metric, _Mapping]]] = ..., abilities: _Optional[_Iterable[str]] = ...) -> None: ...

class Metric(_message.Message):
    __slots__ = ("name", "unit", "doc", "better", "total")
    NAME_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    BETTER_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    unit: str
    doc: str
    better: str
    total: str
    def __init__(self, name: _Optional[str] = ..., unit: _Optional[str] = ..., doc: _Optional[str] = ..., better: _Optional[str] = ..., total: _Optional[str] = ...) -> None: ...

class MeasureRequest(_message.Message):
    __slots__ = ("instance", "lanes")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    instance: int
    lanes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, instance: _Optional[int] = ..., lanes: _Optional[_Iterable[int]] = ...) -> None: ...

class MeasureReply(_message.Message):
    __slots__ = ("values", "error")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    values: bytes
    error: Error
    def __init__(self, values: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class OpenAgentRequest(_message.Message):
    __slots__ = ("params", "lanes", "spec")
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    lanes: int
    spec: Spec
    def __init__(self, params: _Optional[bytes] = ..., lanes: _Optional[int] = ..., spec: _Optional[_Union[Spec, _Mapping]] = ...) -> None: ...

class OpenAgentReply(_message.Message):
    __slots__ = ("instance", "error", "options", "metrics", "greedy", "abilities", "masks")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    GREEDY_FIELD_NUMBER: _ClassVar[int]
    ABILITIES_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    instance: int
    error: Error
    options: bool
    metrics: _containers.RepeatedCompositeFieldContainer[Metric]
    greedy: bool
    abilities: _containers.RepeatedScalarFieldContainer[str]
    masks: bool
    def __init__(self, instance: _Optional[int] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., options: bool = ..., metrics: _Optional[_Iterable[_Union[Metric, _Mapping]]] = ..., greedy: bool = ..., abilities: _Optional[_Iterable[str]] = ..., masks: bool = ...) -> None: ...

class EnvironmentRequest(_message.Message):
    __slots__ = ("instance", "signals", "seeds", "actions", "step")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    instance: int
    signals: bytes
    seeds: bytes
    actions: bytes
    step: int
    def __init__(self, instance: _Optional[int] = ..., signals: _Optional[bytes] = ..., seeds: _Optional[bytes] = ..., actions: _Optional[bytes] = ..., step: _Optional[int] = ...) -> None: ...

class EnvironmentReply(_message.Message):
    __slots__ = ("observations", "rewards", "terminated", "truncated", "error", "step", "masks")
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    observations: bytes
    rewards: bytes
    terminated: bytes
    truncated: bytes
    error: Error
    step: int
    masks: bytes
    def __init__(self, observations: _Optional[bytes] = ..., rewards: _Optional[bytes] = ..., terminated: _Optional[bytes] = ..., truncated: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., step: _Optional[int] = ..., masks: _Optional[bytes] = ...) -> None: ...

class AheadRequest(_message.Message):
    __slots__ = ("agent", "environment", "steps", "seeds")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    agent: AgentRequest
    environment: int
    steps: int
    seeds: bytes
    def __init__(self, agent: _Optional[_Union[AgentRequest, _Mapping]] = ..., environment: _Optional[int] = ..., steps: _Optional[int] = ..., seeds: _Optional[bytes] = ...) -> None: ...

class AheadReply(_message.Message):
    __slots__ = ("error", "steps", "actions", "observations", "rewards", "terminated", "truncated", "step")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    error: Error
    steps: int
    actions: bytes
    observations: bytes
    rewards: bytes
    terminated: bytes
    truncated: bytes
    step: int
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., steps: _Optional[int] = ..., actions: _Optional[bytes] = ..., observations: _Optional[bytes] = ..., rewards: _Optional[bytes] = ..., terminated: _Optional[bytes] = ..., truncated: _Optional[bytes] = ..., step: _Optional[int] = ...) -> None: ...

class AgentRequest(_message.Message):
    __slots__ = ("instance", "signals", "seeds", "observations", "rewards", "terminated", "truncated", "step", "epochs", "choices", "masks")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    EPOCHS_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    MASKS_FIELD_NUMBER: _ClassVar[int]
    instance: int
    signals: bytes
    seeds: bytes
    observations: bytes
    rewards: bytes
    terminated: bytes
    truncated: bytes
    step: int
    epochs: bytes
    choices: bytes
    masks: bytes
    def __init__(self, instance: _Optional[int] = ..., signals: _Optional[bytes] = ..., seeds: _Optional[bytes] = ..., observations: _Optional[bytes] = ..., rewards: _Optional[bytes] = ..., terminated: _Optional[bytes] = ..., truncated: _Optional[bytes] = ..., step: _Optional[int] = ..., epochs: _Optional[bytes] = ..., choices: _Optional[bytes] = ..., masks: _Optional[bytes] = ...) -> None: ...

class AgentReply(_message.Message):
    __slots__ = ("actions", "error", "step", "names", "sizes", "members", "greedy", "options", "reveals", "values", "optimal", "pair_counts", "pairs", "holds")
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    GREEDY_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    REVEALS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    OPTIMAL_FIELD_NUMBER: _ClassVar[int]
    PAIR_COUNTS_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    actions: bytes
    error: Error
    step: int
    names: _containers.RepeatedScalarFieldContainer[str]
    sizes: bytes
    members: bytes
    greedy: bytes
    options: bytes
    reveals: bytes
    values: bytes
    optimal: bytes
    pair_counts: bytes
    pairs: bytes
    holds: bytes
    def __init__(self, actions: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., step: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., sizes: _Optional[bytes] = ..., members: _Optional[bytes] = ..., greedy: _Optional[bytes] = ..., options: _Optional[bytes] = ..., reveals: _Optional[bytes] = ..., values: _Optional[bytes] = ..., optimal: _Optional[bytes] = ..., pair_counts: _Optional[bytes] = ..., pairs: _Optional[bytes] = ..., holds: _Optional[bytes] = ...) -> None: ...

class ModelsRequest(_message.Message):
    __slots__ = ("instance",)
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    instance: int
    def __init__(self, instance: _Optional[int] = ...) -> None: ...

class ModelsReply(_message.Message):
    __slots__ = ("models", "lanes", "error")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedScalarFieldContainer[bytes]
    lanes: _containers.RepeatedScalarFieldContainer[int]
    error: Error
    def __init__(self, models: _Optional[_Iterable[bytes]] = ..., lanes: _Optional[_Iterable[int]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class CloseRequest(_message.Message):
    __slots__ = ("instance",)
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    instance: int
    def __init__(self, instance: _Optional[int] = ...) -> None: ...

class CloseReply(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: Error
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class AskRequest(_message.Message):
    __slots__ = ("instance", "lane", "ability", "question")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    ABILITY_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    instance: int
    lane: int
    ability: str
    question: bytes
    def __init__(self, instance: _Optional[int] = ..., lane: _Optional[int] = ..., ability: _Optional[str] = ..., question: _Optional[bytes] = ...) -> None: ...

class AskReply(_message.Message):
    __slots__ = ("answer", "error")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    answer: bytes
    error: Error
    def __init__(self, answer: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class SetOptionKindsRequest(_message.Message):
    __slots__ = ("instance", "kinds")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    instance: int
    kinds: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, instance: _Optional[int] = ..., kinds: _Optional[_Iterable[str]] = ...) -> None: ...

class SetOptionKindsReply(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: Error
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class GreedyPolicyRequest(_message.Message):
    __slots__ = ("instance", "lane")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    instance: int
    lane: int
    def __init__(self, instance: _Optional[int] = ..., lane: _Optional[int] = ...) -> None: ...

class GreedyPolicyReply(_message.Message):
    __slots__ = ("actions", "error")
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    actions: bytes
    error: Error
    def __init__(self, actions: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class OpenDecisionsRequest(_message.Message):
    __slots__ = ("params", "spec")
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    spec: Spec
    def __init__(self, params: _Optional[bytes] = ..., spec: _Optional[_Union[Spec, _Mapping]] = ...) -> None: ...

class OpenDecisionsReply(_message.Message):
    __slots__ = ("instance", "error")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    instance: int
    error: Error
    def __init__(self, instance: _Optional[int] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class RuleRequest(_message.Message):
    __slots__ = ("instance", "step", "names", "sizes", "members", "greedy", "steps", "left", "seeds", "features", "options", "reveals", "holds", "shares", "values", "optimal", "counts", "followed", "rewards")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    GREEDY_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    REVEALS_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    OPTIMAL_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    FOLLOWED_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    instance: int
    step: int
    names: _containers.RepeatedScalarFieldContainer[str]
    sizes: bytes
    members: bytes
    greedy: bytes
    steps: bytes
    left: bytes
    seeds: bytes
    features: bytes
    options: bytes
    reveals: bytes
    holds: bytes
    shares: bytes
    values: bytes
    optimal: bytes
    counts: bytes
    followed: bytes
    rewards: bytes
    def __init__(self, instance: _Optional[int] = ..., step: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., sizes: _Optional[bytes] = ..., members: _Optional[bytes] = ..., greedy: _Optional[bytes] = ..., steps: _Optional[bytes] = ..., left: _Optional[bytes] = ..., seeds: _Optional[bytes] = ..., features: _Optional[bytes] = ..., options: _Optional[bytes] = ..., reveals: _Optional[bytes] = ..., holds: _Optional[bytes] = ..., shares: _Optional[bytes] = ..., values: _Optional[bytes] = ..., optimal: _Optional[bytes] = ..., counts: _Optional[bytes] = ..., followed: _Optional[bytes] = ..., rewards: _Optional[bytes] = ...) -> None: ...

class RuleReply(_message.Message):
    __slots__ = ("options", "error", "step", "names", "numbers")
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    options: bytes
    error: Error
    step: int
    names: _containers.RepeatedScalarFieldContainer[str]
    numbers: bytes
    def __init__(self, options: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., step: _Optional[int] = ..., names: _Optional[_Iterable[str]] = ..., numbers: _Optional[bytes] = ...) -> None: ...

class OptionsRequest(_message.Message):
    __slots__ = ("instance", "states", "actions", "lanes")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    LANES_FIELD_NUMBER: _ClassVar[int]
    instance: int
    states: int
    actions: int
    lanes: _containers.RepeatedCompositeFieldContainer[Experience]
    def __init__(self, instance: _Optional[int] = ..., states: _Optional[int] = ..., actions: _Optional[int] = ..., lanes: _Optional[_Iterable[_Union[Experience, _Mapping]]] = ...) -> None: ...

class Experience(_message.Message):
    __slots__ = ("steps", "seed", "transitions", "rewards")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    steps: int
    seed: int
    transitions: bytes
    rewards: bytes
    def __init__(self, steps: _Optional[int] = ..., seed: _Optional[int] = ..., transitions: _Optional[bytes] = ..., rewards: _Optional[bytes] = ...) -> None: ...

class OptionsReply(_message.Message):
    __slots__ = ("lanes", "error")
    LANES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    lanes: _containers.RepeatedCompositeFieldContainer[OptionList]
    error: Error
    def __init__(self, lanes: _Optional[_Iterable[_Union[OptionList, _Mapping]]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class OptionList(_message.Message):
    __slots__ = ("options",)
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    options: _containers.RepeatedCompositeFieldContainer[DeclaredOption]
    def __init__(self, options: _Optional[_Iterable[_Union[DeclaredOption, _Mapping]]] = ...) -> None: ...

class DeclaredOption(_message.Message):
    __slots__ = ("name", "initiation", "actions", "policy", "end")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INITIATION_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    name: str
    initiation: bytes
    actions: bytes
    policy: bytes
    end: bytes
    def __init__(self, name: _Optional[str] = ..., initiation: _Optional[bytes] = ..., actions: _Optional[bytes] = ..., policy: _Optional[bytes] = ..., end: _Optional[bytes] = ...) -> None: ...
