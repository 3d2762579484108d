"""python -m bench [runs] [steps]: every peer on this machine, as a plain table."""

import sys

import jax

from bench import jax_peers, limits, ours, torch_peers
from bench.measure import disagreement
from bench.workloads import logistic_sgd


def main() -> None:
    gpu = jax.default_backend() == "gpu"
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 512 if gpu else 16
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 4096 if gpu else 1024
    workload, prefix = logistic_sgd(runs), 256
    print(
        f"{workload.name}: {jax.devices()[0].device_kind}, {workload.dtype}, {runs} runs x {workload.n_neurons} neurons"
    )
    reference = jax_peers.vmap_of_scan(workload, prefix)
    rows = [ours.widenet(workload, steps), ours.widenet(workload, steps, "blocked")]
    same = [ours.widenet(workload, prefix), ours.widenet(workload, prefix, "blocked")]
    rows += [
        reference,
        *(peer(workload, prefix) for peer in (torch_peers.cuda_graph, torch_peers.batched, torch_peers.loop)),
    ]
    rows += [
        limits.matrix_products(workload),
        limits.matrix_products(workload, "BF16_BF16_F32_X6"),
        limits.copies(workload),
    ]
    print(
        f"{'peer':34s} {'us/step/run':>12s} {'ratio':>9s} {'compile s':>9s} {'median apart':>13s} {'flipped':>8s}  note"
    )
    for index, row in enumerate(rows):
        apart, flipped = disagreement(same[index] if index < len(same) else row, reference)
        ratio = row.us_per_step_per_run / rows[0].us_per_step_per_run
        print(
            f"{row.peer:34s} {row.us_per_step_per_run:12.5f} {ratio:9.2f} {row.compile_seconds:9.2f}"
            f" {apart:13.1e} {flipped:8.4f}  {row.note}"
        )


if __name__ == "__main__":
    main()
