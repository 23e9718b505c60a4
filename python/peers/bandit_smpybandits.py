import sys

from SMPyBandits.Arms import Bernoulli
from SMPyBandits.Environment import Evaluator
from SMPyBandits.Policies import UCB, Thompson

runs, steps = map(int, sys.argv[1:])
evaluation = Evaluator(
    {
        "horizon": steps,
        "repetitions": runs,
        "n_jobs": 1,
        "verbosity": 0,
        "environment": [{"arm_type": Bernoulli, "params": [0.05 + 0.1 * k for k in range(10)]}],
        "policies": [
            {"archtype": UCB, "params": {}},
            {"archtype": Thompson, "params": {}},
        ],
    }
)
evaluation.startAllEnv()
evaluation.printLastRegrets()
for policy, name in enumerate(["UCB1", "Thompson"]):
    print(f"regret of {name}: {evaluation.getLastRegrets(policy).mean():.6g}")
