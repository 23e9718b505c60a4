import sys

from rlberry.envs import gym_make
from rlberry.manager import ExperimentManager, compare_agents
from rlberry_scool.agents.tabular_rl import QLAgent

runs, steps = map(int, sys.argv[1:])
managers = [
    ExperimentManager(
        QLAgent,
        (gym_make, {"id": "FrozenLake-v1"}),
        agent_name=f"ε = {epsilon}",
        fit_budget=steps,
        eval_kwargs={"eval_horizon": 100, "n_simulations": 10},
        init_kwargs={"gamma": 0.99, "alpha": 0.1, "exploration_type": "epsilon", "exploration_rate": epsilon},
        n_fit=runs,
        seed=1,
    )
    for epsilon in [0.1, 0.3]
]
for manager in managers:
    manager.fit()
print(compare_agents(managers, method="permutation", n_simulations=10))
