"""The agent in PyTorch of docs/deep.md, where that is installed."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

import rlrun
import rlrun.testing
from rlrun import saved

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The page's agent, as a file."""
    page = (ROOT / "docs" / "deep.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(# torch_dqn.py\n.*?)```", page, re.DOTALL)
    (config,) = re.findall(r"```yaml\n(# torch.yaml\n.*?)```", page, re.DOTALL)
    (tmp_path / "torch.yaml").write_text(config)
    path = tmp_path / "torch_dqn.py"
    path.write_text(code)
    return path


def test_keeps_every_rule(program: str, agent: Path) -> None:
    rlrun.testing.check(agent)


def test_goes_on_to_the_same_bits(program: str, agent: Path) -> None:
    """An interrupted run that goes on from its checkpoint has the record of one that was not."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def start(out: str, *flags: str) -> subprocess.Popen[bytes]:
        command = [program, "run", "torch.yaml", "--quiet", "--runs=2", "--steps=800", f"--out={out}", *flags]
        command += ["--set=checkpoint.every=100", "--set=agents.0.params.decay=300"]
        return subprocess.Popen(command, cwd=agent.parent, env=environment)

    assert start("whole").wait() == 0
    cut = start("cut")
    while cut.poll() is None and not list(agent.parent.glob("cut/checkpoints/*")):
        time.sleep(0.01)
    cut.send_signal(signal.SIGINT)
    assert cut.wait() == 130
    assert start("cut", "--resume").wait() == 0
    whole, cut_off = (rlrun.read_results(agent.parent / out).curves for out in ("whole", "cut"))
    assert whole.equals(cut_off)


def test_tensors_are_packed() -> None:
    values = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.tensor(3), "c": torch.zeros(0, 2, dtype=torch.uint8)}
    back = rlrun.unpack(rlrun.pack(values))
    assert all(torch.equal(values[k], back[k]) and values[k].dtype == back[k].dtype for k in values)
    with pytest.raises(rlrun.Error, match=r"is a tensor of torch\.bfloat16"):
        rlrun.pack({"a": torch.zeros(2, dtype=torch.bfloat16)})
    for gradient in (torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True) * 2):
        with pytest.raises(rlrun.Error, match=r"requires a gradient \(its detach"):
            rlrun.pack({"a": gradient})
    with pytest.raises(rlrun.Error, match=r"Linear \(its state_dict\(\) can be packed\)"):
        rlrun.pack({"a": torch.nn.Linear(1, 1)})


def test_pickled_tensors_share_memory_as_before() -> None:
    weights, layer = torch.zeros(4), torch.nn.Linear(2, 2, bias=False)
    layer.weight = torch.nn.Parameter(weights.view(2, 2))
    flat, head, bits, net, apart = pickle.loads(
        saved._pickle([weights, weights[:2], weights.view(torch.int32), layer, weights.clone()])
    )
    flat += 1
    assert head.tolist() == [1, 1]
    assert net.weight.tolist() == [[1, 1], [1, 1]]
    assert bits.all()
    assert not apart.any()
