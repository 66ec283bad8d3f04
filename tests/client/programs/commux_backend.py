"""commux: torch.distributed's operations between ranks that are processes, by its backend over UCX. No GPU.

    commux_backend.py RANKS

The functions marked `part` are the client's."""
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from parts import expect, part, run

LENGTHS = [1, 7, 1000, 50_000, 3_000_000]


def filled(length, seed):
    return torch.arange(length, dtype=torch.int64) * 3 + seed


def same(tensor, seed):
    expect(torch.equal(tensor, filled(len(tensor), seed)), "other data", len(tensor), seed)


@part
def lengths_both_ways(rank, ranks):
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    for length in LENGTHS:
        came = torch.zeros(length, dtype=torch.int64)
        for work in [dist.irecv(came, left, tag=1), dist.isend(filled(length, rank), right, tag=1)]:
            work.wait()
        same(came, left)


@part
def tags_in_another_order(rank, ranks):
    tags = range(16)
    if rank == 0:
        # The tensors have to live until they are sent.
        sent = [filled(LENGTHS[tag % 4], tag) for tag in tags]
        for work in [dist.isend(tensor, 1, tag=tag) for tag, tensor in zip(tags, sent)]:
            work.wait()
    elif rank == 1:
        came = {tag: torch.zeros(LENGTHS[tag % 4], dtype=torch.int64) for tag in reversed(tags)}
        for work in [dist.irecv(tensor, 0, tag=tag) for tag, tensor in came.items()]:
            work.wait()
        for tag, tensor in came.items():
            same(tensor, tag)


@part
def from_any_source(rank, ranks):
    if rank > 0:
        dist.send(filled(100, rank), 0, tag=9)
        return
    seen = []
    for _ in range(1, ranks):
        came = torch.zeros(100, dtype=torch.int64)
        dist.recv(came, tag=9)
        seen.append(int(came[0]))
        same(came, seen[-1])
    expect(sorted(seen) == list(range(1, ranks)), seen)


@part
def several_tensors_in_one_message(rank, ranks):
    group = dist.group.WORLD
    if rank == 0:
        sent = [filled(length, 5) for length in LENGTHS]
        group.send(sent, 1, 77).wait()
    elif rank == 1:
        came = [torch.zeros(length, dtype=torch.int64) for length in LENGTHS]
        group.recv(came, 0, 77).wait()
        for tensor in came:
            same(tensor, 5)


@part
def exchanges_in_one_batch(rank, ranks):
    others = [other for other in range(ranks) if other != rank]
    came = {other: torch.zeros(1000, dtype=torch.int64) for other in others}
    sent = filled(1000, rank)
    work = [dist.P2POp(dist.irecv, came[other], other) for other in others]
    work += [dist.P2POp(dist.isend, sent, other) for other in others]
    for request in dist.batch_isend_irecv(work):
        request.wait()
    for other in others:
        same(came[other], other)


@part
def sums_and_extremes(rank, ranks):
    for length in LENGTHS:
        for op, expected in [(dist.ReduceOp.SUM, sum(filled(length, seed) for seed in range(ranks))),
                             (dist.ReduceOp.MIN, filled(length, 0)), (dist.ReduceOp.MAX, filled(length, ranks - 1))]:
            tensor = filled(length, rank)
            dist.all_reduce(tensor, op)
            expect(torch.equal(tensor, expected), op, length)


@part
def broadcasts_and_reductions_of_each_root(rank, ranks):
    for root in range(ranks):
        tensor = filled(LENGTHS[3], rank)
        dist.broadcast(tensor, root)
        same(tensor, root)
        dist.reduce(tensor, root)
        if rank == root:
            expect(torch.equal(tensor, filled(LENGTHS[3], root) * ranks), root)


@part
def many_barriers(rank, ranks):
    for _ in range(200):
        dist.barrier()


def main(rank, ranks, store):
    # Not earlier: it changes LD_LIBRARY_PATH, which the process that starts the ranks hands on.
    import commux
    commux.register()
    torch.set_num_threads(1)
    dist.init_process_group("ucx", init_method=f"file://{store}", rank=rank, world_size=ranks)
    run(lambda function: function(rank, ranks), quiet=rank > 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1])
    if "RANK" in os.environ:
        main(int(os.environ["RANK"]), count, os.environ["STORE"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            started = [subprocess.Popen([sys.executable, *sys.argv],
                                        env={**os.environ, "RANK": str(rank), "STORE": f"{folder}/store"})
                       for rank in range(count)]
            sys.exit(max(abs(process.wait()) for process in started))
