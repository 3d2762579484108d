"""What a PyTorch user would write: a loop, a batch over runs, the batch in a CUDA graph. Torch is imported late."""

import time
from typing import Any

import numpy as np

from bench.measure import Measured, missing, timed
from bench.workloads import Workload

UNROLLED = 16
"""Steps per CUDA graph: enough to hide the launches."""


def torch_or_none() -> Any:
    """The module, or None where it is not installed."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch


class _Problem:
    """A workload as tensors, with one step for all runs by `torch.func`."""

    def __init__(self, torch: Any, workload: Workload, steps: int):
        self.torch, self.workload = torch, workload
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        put = lambda array: torch.tensor(np.asarray(array), device=self.device)  # noqa: E731
        data, networks = workload.data(), workload.networks()
        self.inputs, self.labels = put(data.inputs), put(data.labels)
        self.weights, self.outgoing = put(networks.hidden_weights), put(networks.output_weights[0])
        self.orders = put(workload.orders(steps)).long()

    def loss(self, weights: Any, x: Any, y: Any) -> Any:
        features = self.torch.nn.functional.leaky_relu(weights @ x, self.workload.slope)
        return self.torch.nn.functional.softplus(-y * (features @ self.outgoing))

    def step(self, weights: Any, chosen: Any) -> None:
        """One SGD step of every run, in place."""
        gradient = self.torch.func.vmap(self.torch.func.grad(self.loss))
        found = gradient(weights, self.inputs[chosen], self.labels[chosen])
        weights.sub_(found, alpha=self.workload.step_size)

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()


def loop(workload: Workload, steps: int) -> Measured:
    """One run, one step at a time, autograd and `torch.optim.SGD`."""
    torch = torch_or_none()
    if torch is None:
        return missing("torch loop", "torch is not installed")
    problem = _Problem(torch, workload, steps)

    def train() -> np.ndarray:
        weights = problem.weights[0].clone().requires_grad_(True)
        optimizer = torch.optim.SGD([weights], lr=workload.step_size)
        for index in problem.orders[0].tolist():
            optimizer.zero_grad()
            problem.loss(weights, problem.inputs[index], problem.labels[index]).backward()
            optimizer.step()
        problem.wait()
        return weights.detach().cpu().numpy()[None]

    seconds, compiling, weights = timed(train, repeats=1)
    return Measured("torch loop", seconds / steps * 1e6, compiling, weights, steps, "one run at a time")


def batched(workload: Workload, steps: int) -> Measured:
    """All runs at once by `torch.func.vmap(grad)`, one step after the other."""
    torch = torch_or_none()
    if torch is None:
        return missing("torch batched", "torch is not installed")
    problem = _Problem(torch, workload, steps)

    def train() -> np.ndarray:
        weights = problem.weights.clone()
        for step in range(steps):
            problem.step(weights, problem.orders[:, step])
        problem.wait()
        return weights

    seconds, compiling, weights = timed(train, repeats=2)
    per = seconds / steps / workload.n_runs * 1e6
    return Measured("torch batched", per, compiling, weights.cpu().numpy(), steps, "torch.func")


def cuda_graph(workload: Workload, steps: int) -> Measured:
    """The batched step in a CUDA graph, `UNROLLED` steps per replay."""
    torch = torch_or_none()
    if torch is None:
        return missing("torch CUDA graph", "torch is not installed")
    if not torch.cuda.is_available():
        return missing("torch CUDA graph", "no GPU")
    steps = max(1, steps // UNROLLED) * UNROLLED
    problem = _Problem(torch, workload, steps)
    start = time.perf_counter()
    weights, chosen = problem.weights.clone(), problem.orders[:, :UNROLLED].clone()
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # warm up, as capture asks for
        for _ in range(3):
            problem.step(weights, chosen[:, 0])
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for step in range(UNROLLED):
            problem.step(weights, chosen[:, step])
    problem.wait()
    compiling = time.perf_counter() - start

    def train() -> np.ndarray:
        weights.copy_(problem.weights)
        for first in range(0, steps, UNROLLED):
            chosen.copy_(problem.orders[:, first : first + UNROLLED])
            graph.replay()
        problem.wait()
        return weights

    seconds, _, final = timed(train)
    per = seconds / steps / workload.n_runs * 1e6
    return Measured("torch CUDA graph", per, compiling, final.cpu().numpy(), steps, f"{UNROLLED} steps per graph")
