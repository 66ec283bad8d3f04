"""distributed-ucxx: a Dask cluster of a scheduler and two workers, each a process, that talk by UCX.

    dask_cluster.py

The functions marked `part` are the client's."""
import operator

import dask
import numpy
from dask.distributed import Client, LocalCluster, wait
from parts import expect, part, run

LENGTHS = [1, 1000, 100_000, 5_000_000]
# Every two seconds the scheduler has workers drop what others have too, which `data_from_worker_to_worker` looks at.
dask.config.set({"distributed.scheduler.active-memory-manager.start": False})


def array(length):
    return numpy.arange(length, dtype=numpy.uint8)


@part
def tasks(client, workers):
    expect(sum(client.gather(client.map(operator.neg, range(500)))) == -sum(range(500)), "other sum")


@part
def data_from_worker_to_worker(client, workers):
    for length in LENGTHS:
        made = client.submit(array, length, workers=workers[0], pure=False)
        total = client.submit(numpy.sum, made, workers=workers[1], pure=False)
        expect(total.result(60) == array(length).sum(), length)
        expect(sorted(client.who_has(made)[made.key]) == sorted(workers), "it was not sent")


@part
def data_to_and_from_the_client(client, workers):
    for length in LENGTHS:
        (sent,) = client.scatter([array(length)], workers=workers[:1])
        back = client.submit(numpy.flip, sent, workers=workers[1:], pure=False).result(60)
        expect((back == array(length)[::-1]).all(), length)


@part
def many_objects(client, workers):
    made = client.map(array, range(1, 200), workers=workers[:1], pure=False)
    wait(made, 60)
    sums = client.map(len, made, workers=workers[1:], pure=False)
    expect(client.gather(sums) == list(range(1, 200)), "other lengths")


@part
def the_protocol_is_ucx(client, workers):
    addresses = [client.scheduler.address, *workers]
    expect(all(address.startswith("ucxx://127.0.0.1:") for address in addresses), addresses)


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, protocol="ucxx", host="127.0.0.1", dashboard_address=None,
                      processes=True) as cluster, Client(cluster) as connected:
        places = sorted(connected.scheduler_info()["workers"])
        run(lambda function: function(connected, places))
