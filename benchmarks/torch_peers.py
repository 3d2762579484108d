"""What a PyTorch user would write: a loop, a batch over runs, the batch in a CUDA graph.

Torch is an extra and is imported late; without it every peer is a row that says so. Each peer gets the number of
threads it is fastest with.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.descent import DescentWorkload
from benchmarks.flow import TOLERANCE, FlowWorkload
from benchmarks.measure import Peer, seconds_of
from benchmarks.softmax import SoftmaxWorkload
from benchmarks.workloads import SgdWorkload
from benchmarks.xord import XordWorkload
from widenet.losses import hinge
from widenet.training.engine.memory import cores

GRAPH, BATCHED, LEAN, LOOP = "torch CUDA graph", "torch batched", "torch lean loop", "torch loop"
SOLVER = "torchdiffeq"
UNROLLED = 16
"""Steps per CUDA graph: enough to hide the launches."""
TRIED_SECONDS = 0.05
"""How long each number of threads is tried."""
ABSENT = "torch is not installed: pip install -e '.[bench]'"
NO_SOLVER = "torchdiffeq is not installed: pip install --no-deps torchdiffeq"


def torch_or_none() -> Any:
    """The module, or None where it is not installed."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch


def torchdiffeq_or_none() -> Any:
    """The module, or None where it is not installed."""
    try:
        import torchdiffeq  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    return torchdiffeq


def peers(
    workload: SgdWorkload | XordWorkload | SoftmaxWorkload | DescentWorkload, steps: int, on_gpu: bool
) -> list[Peer]:
    """All of them, the fastest first; those that cannot run here say why."""
    torch = torch_or_none()
    if torch is None:
        return [Peer(name, None, note=ABSENT) for name in (GRAPH, BATCHED, LEAN, LOOP)]
    if on_gpu and not torch.cuda.is_available():
        return [Peer(name, None, note="this torch has no CUDA") for name in (GRAPH, BATCHED, LEAN, LOOP)]
    device = "cuda" if on_gpu else "cpu"
    here: _Problem
    match workload:
        case SgdWorkload():
            here = _Sgd(torch, device, workload, steps)
        case SoftmaxWorkload():
            here = _Softmax(torch, device, workload, steps)
        case DescentWorkload():
            here = _Descent(torch, device, workload)
        case XordWorkload():
            here = _Xord(torch, device, workload)
    graph = _graph(here, steps) if on_gpu else Peer(GRAPH, None, note="needs a GPU")
    return [graph, _batched(here, steps), _lean_loop(here, steps), _loop(here, steps)]


def flow(workload: FlowWorkload, steps: int, on_gpu: bool) -> Peer:
    """torchdiffeq's adaptive solver, all runs as one equation."""
    torch, solver = torch_or_none(), torchdiffeq_or_none()
    if torch is None or solver is None:
        return Peer(SOLVER, None, note=ABSENT if torch is None else NO_SOLVER)
    if on_gpu and not torch.cuda.is_available():
        return Peer(SOLVER, None, note="this torch has no CUDA")

    def put(array):
        return torch.tensor(np.asarray(array), device="cuda" if on_gpu else "cpu")

    inputs, labels = put(workload.data.inputs), put(workload.data.labels)
    start, votes = put(workload.networks.hidden_weights), put(workload.networks.output_weights[0])
    functional = torch.nn.functional

    def loss(weights: Any) -> Any:
        outputs = functional.leaky_relu(inputs @ weights.T, workload.slope) @ votes
        return functional.softplus(-labels * outputs).mean()

    gradient = torch.func.vmap(torch.func.grad(loss))

    def train(steps: int) -> Any:
        times = torch.tensor([0.0, steps * workload.tick], dtype=start.dtype, device=start.device)

        def field(_, weights):
            return -gradient(weights)

        end = solver.odeint(field, start, times, rtol=TOLERANCE, atol=TOLERANCE, method="dopri5")[-1]
        if on_gpu:
            torch.cuda.synchronize()
        return end

    return Peer(SOLVER, train, workload.n_runs, steps, note=f"dopri5, tolerances {TOLERANCE:.0e}")


class _Problem:
    """A workload as tensors: a loss of one run, and the samples of a step."""

    weights: Any
    step_size: float
    n_runs: int
    orders: Any = None
    """Which sample each run visits, one row per step; None where every step sees everything."""
    stops_at_zero = False
    """Whether a loss of zero has no gradient, so that a loop may leave it out."""
    has_rule = False
    """Whether a step depends on the loss."""
    batched_by = "torch.func"
    """How all runs are moved at once."""

    def __init__(self, torch: Any, device: str):
        self.torch, self.device = torch, device

    def put(self, array: Any) -> Any:
        return self.torch.tensor(np.asarray(array), device=self.device)

    def loss(self, weights: Any, *sample: Any) -> Any:
        raise NotImplementedError

    def samples(self, chosen: Any) -> tuple[Any, ...]:
        """What the runs see in a step in which they visit `chosen`."""
        raise NotImplementedError

    def sample_of_first_run(self, step: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def rate(self, loss: float) -> float:
        """The size of a step from this loss."""
        return self.step_size

    def chosen(self, step: int) -> Any:
        return None if self.orders is None else self.orders[step]

    def stepper(self) -> Callable[[Any, Any], None]:
        """One step of every run, in place."""
        gradient = self.torch.func.vmap(self.torch.func.grad(self.loss))

        def step(weights: Any, chosen: Any) -> None:
            weights.sub_(gradient(weights, *self.samples(chosen)), alpha=self.step_size)

        return step

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()


class _Sgd(_Problem):
    def __init__(self, torch: Any, device: str, workload: SgdWorkload, steps: int):
        super().__init__(torch, device)
        self.inputs, self.labels = self.put(workload.data.inputs), self.put(workload.data.labels)
        self.weights = self.put(workload.networks.hidden_weights)
        self.outgoing = self.put(workload.networks.output_weights[0])
        self.orders = self.put(workload.orders(steps)).long().T.contiguous()
        self.first_run = self.orders[:, 0].tolist()
        self.step_size, self.slope, self.n_runs = workload.step_size, workload.slope, workload.n_runs
        self.stops_at_zero = workload.loss is hinge

    def loss(self, weights: Any, *sample: Any) -> Any:
        x, y = sample
        functional = self.torch.nn.functional
        margin = y * (functional.leaky_relu(weights @ x, self.slope) @ self.outgoing)
        return functional.relu(1 - margin) if self.stops_at_zero else functional.softplus(-margin)

    def samples(self, chosen: Any) -> tuple[Any, ...]:
        return self.inputs[chosen], self.labels[chosen]

    def sample_of_first_run(self, step: int) -> tuple[Any, ...]:
        return self.samples(self.first_run[step])


class _Softmax(_Problem):
    batched_by = "gradients by hand, updates in place"

    def __init__(self, torch: Any, device: str, workload: SoftmaxWorkload, steps: int):
        super().__init__(torch, device)
        self.inputs, self.labels = self.put(workload.data.inputs), self.put(workload.data.labels).long()
        self.weights, self.votes = (
            self.put(workload.networks.hidden_weights),
            self.put(workload.networks.output_weights),
        )
        self.targets = torch.nn.functional.one_hot(self.labels, workload.n_classes).to(self.inputs.dtype)
        self.orders = self.put(workload.orders(steps)).long().transpose(0, 1).contiguous()
        self.step_size, self.n_runs, self.batch_size = workload.step_size, workload.n_runs, workload.batch_size

    def loss(self, weights: Any, *sample: Any) -> Any:
        x, y = sample
        outputs = self.torch.relu(x @ weights.T) @ self.votes[0].T
        return self.torch.nn.functional.cross_entropy(outputs, y)

    def sample_of_first_run(self, step: int) -> tuple[Any, ...]:
        chosen = self.orders[step, 0]
        return self.inputs[chosen], self.labels[chosen]

    def stepper(self) -> Callable[[Any, Any], None]:
        torch = self.torch

        def step(weights: Any, chosen: Any) -> None:
            x = self.inputs[chosen]
            hidden = torch.bmm(x, weights.mT)
            outputs = torch.bmm(torch.relu(hidden), self.votes.mT)
            slopes = torch.softmax(outputs, -1).sub_(self.targets[chosen])
            pull = torch.bmm(slopes, self.votes).mul_(hidden > 0)
            weights.baddbmm_(pull.mT, x, alpha=-self.step_size / self.batch_size)

        return step


class _Descent(_Problem):
    has_rule = True

    def __init__(self, torch: Any, device: str, workload: DescentWorkload):
        super().__init__(torch, device)
        self.all = self.put(workload.inputs), self.put(workload.data.labels), self.put(workload.networks.output_weights)
        self.first = tuple(part[0] for part in self.all)
        self.weights, self.n_runs, self.factor = self.put(workload.weights), workload.n_runs, workload.factor
        self.step_size = workload.factor

    def loss(self, weights: Any, *sample: Any) -> Any:
        x, y, votes = sample
        outputs = self.torch.relu(x @ weights.T) @ votes
        return self.torch.nn.functional.softplus(-y * outputs).mean()

    def rate(self, loss: float) -> float:
        return self.factor * math.log(loss) ** 2

    def sample_of_first_run(self, step: int) -> tuple[Any, ...]:
        return self.first

    def stepper(self) -> Callable[[Any, Any], None]:
        both = self.torch.func.vmap(self.torch.func.grad_and_value(self.loss))

        def step(weights: Any, chosen: Any) -> None:
            gradient, loss = both(weights, *self.all)
            weights.sub_((self.factor * loss.log() ** 2)[:, None, None] * gradient)

        return step


class _Xord(_Problem):
    def __init__(self, torch: Any, device: str, workload: XordWorkload):
        super().__init__(torch, device)
        labels = self.put(workload.data.labels)
        asked = torch.where(labels > 0, workload.margin, 1.0).to(labels.dtype)
        self.all = self.put(workload.patches), labels, asked
        self.first = tuple(part[0] for part in self.all)
        self.weights, self.votes = self.put(workload.networks.filters), self.put(workload.networks.output_weights[0])
        self.step_size, self.n_runs = workload.step_size, workload.n_runs

    def loss(self, weights: Any, *sample: Any) -> Any:
        patches, labels, asked = sample
        fits = self.torch.relu(self.torch.einsum("npd,kd->nkp", patches, weights)).amax(-1)
        return self.torch.relu(asked - labels * (fits @ self.votes)).sum() * (2 / labels.shape[-1])

    def samples(self, chosen: Any) -> tuple[Any, ...]:
        return self.all

    def sample_of_first_run(self, step: int) -> tuple[Any, ...]:
        return self.first


def _loop(problem: _Problem, steps: int) -> Peer:
    """One run, one step at a time, as PyTorch's own pages write it."""
    torch = problem.torch

    def train(steps: int) -> Any:
        weights = problem.weights[0].clone().requires_grad_(True)
        optimizer = torch.optim.SGD([weights], lr=problem.step_size)
        for step in range(steps):
            optimizer.zero_grad()
            loss = problem.loss(weights, *problem.sample_of_first_run(step))
            loss.backward()
            if problem.has_rule:
                optimizer.param_groups[0]["lr"] = problem.rate(loss.item())
            optimizer.step()
        problem.wait()
        return weights.detach()[None]

    return _with_threads(Peer(LOOP, train, 1, steps, note="one run at a time, torch.optim.SGD"), problem)


def _lean_loop(problem: _Problem, steps: int) -> Peer:
    """The same with all that can be spared left out: no optimizer, and no backward pass where the loss is zero."""
    torch = problem.torch

    def train(steps: int) -> Any:
        weights = problem.weights[0].clone().requires_grad_(True)
        for step in range(steps):
            loss = problem.loss(weights, *problem.sample_of_first_run(step))
            if problem.stops_at_zero and loss.item() == 0:
                continue
            (gradient,) = torch.autograd.grad(loss, weights)
            with torch.no_grad():
                rate = problem.rate(loss.item()) if problem.has_rule else problem.step_size
                weights.sub_(gradient, alpha=rate)
        problem.wait()
        return weights.detach()[None]

    return _with_threads(Peer(LEAN, train, 1, steps, note="one run at a time, autograd.grad"), problem)


def _batched(problem: _Problem, steps: int) -> Peer:
    """All runs at once by `torch.func`, one step after the other."""
    step = problem.stepper()

    def train(steps: int) -> Any:
        weights = problem.weights.clone()
        for place in range(steps):
            step(weights, problem.chosen(place))
        problem.wait()
        return weights

    return _with_threads(Peer(BATCHED, train, problem.n_runs, steps, note=problem.batched_by), problem)


def _graph(problem: _Problem, steps: int) -> Peer:
    """The batched step in a CUDA graph, recorded in the first call."""
    torch, step, recorded = problem.torch, problem.stepper(), []
    if steps % UNROLLED:
        raise ValueError(f"steps must be a multiple of {UNROLLED}, got {steps}")

    def record() -> tuple[Any, Any, Any]:
        weights = problem.weights.clone()
        chosen = None if problem.orders is None else problem.orders[:UNROLLED].clone()

        def at(place):
            return None if chosen is None else chosen[place]

        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # warm up, as recording asks for
            for _ in range(3):
                step(weights, at(0))
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for place in range(UNROLLED):
                step(weights, at(place))
        return graph, weights, chosen

    def train(steps: int) -> Any:
        if not recorded:
            recorded.append(record())
        graph, weights, chosen = recorded[0]
        weights.copy_(problem.weights)
        for first in range(0, steps, UNROLLED):
            if chosen is not None:
                chosen.copy_(problem.orders[first : first + UNROLLED])
            graph.replay()
        problem.wait()
        return weights.clone()

    return Peer(GRAPH, train, problem.n_runs, steps, note=f"{UNROLLED} steps per graph")


def _with_threads(peer: Peer, problem: _Problem) -> Peer:
    """The peer with the number of threads that makes it fastest; on a GPU they do not matter."""
    torch, train = problem.torch, peer.train
    assert train is not None
    if problem.device == "cuda":
        return peer

    def with_threads(count: int, steps: int) -> Any:
        torch.set_num_threads(count)
        return train(steps)

    counts = sorted({1, cores()})
    with_threads(counts[-1], 2)  # loads what is loaded once
    one = seconds_of(lambda: with_threads(counts[-1], 2)) / 2
    few = min(peer.steps, max(2, round(TRIED_SECONDS / one)))
    tried = {count: min(seconds_of(lambda count=count: with_threads(count, few)) for _ in range(4)) for count in counts}
    best = min(tried, key=lambda count: tried[count])
    note = f"{peer.note}, {best} thread{'s' if best > 1 else ''}"
    return replace(peer, train=lambda steps: with_threads(best, steps), note=note)
