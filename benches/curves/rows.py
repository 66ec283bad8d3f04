"""What is measured: rows of benches/programs/curves.c, with transports, the numbers N, and the bounds of their exponents."""
import dataclasses

SELF = {"UCX_TLS": "self"}
POSIX = {"UCX_TLS": "posix"}
TCP = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"}
MANY = (10, 100, 1000, 10000, 100000)
# What has descriptors, or mappings of the kernel.
FEWER = (10, 100, 1000, 3000)
WORKERS = (4, 16, 64, 256)
SENDERS = (2, 8, 64, 512)
MOST = 0.1


@dataclasses.dataclass(frozen=True)
class Row:
    text: str  # what one operation is
    name: str  # of the program's row
    env: dict
    sizes: tuple = MANY
    counted: bool = True  # whether its instructions mean something: they do not where it waits for another process
    check: tuple = (100, 1000)  # the numbers of the short test; () if it takes longer than that may
    most: float = MOST  # bound of the exponent
    reason: str = ""  # why the bound is another one

    @property
    def key(self):
        return f"{self.name} {self.env['UCX_TLS']}"


ROWS = [
    Row("receive with a tag of its own, and its message, in any order", "receives_exact", SELF),
    Row("message with N receives by masks in front", "receives_wild", SELF),
    Row("receive that is cancelled, in any order", "cancels", SELF),
    Row("unexpected message, received in order", "unexpected_forth", SELF),
    Row("unexpected message, received backwards", "unexpected_back", SELF),
    Row("unexpected message, received backwards and by masks", "unexpected_wild", SELF),
    Row("probe among N unexpected messages", "probes", SELF),
    Row("synchronous send, received in order", "synchronous_forth", SELF),
    Row("synchronous send, received backwards", "synchronous_back", SELF),
    Row("announced message, received backwards", "announced_back", {**SELF, "UCX_RNDV_THRESH": "0"}),
    Row("entry of a list that is sent", "iov_send", SELF),
    Row("entry of a list that is received into", "iov_receive", SELF),
    Row("endpoint made, self", "eps_create", SELF),
    Row("endpoint made, posix", "eps_create", POSIX),
    Row("progress with N idle endpoints", "eps_idle", SELF),
    Row("message over one of N endpoints in turn", "eps_active", SELF),
    Row("endpoint closed, self", "eps_close", SELF),
    Row("endpoint closed, posix", "eps_close", POSIX),
    Row("endpoint destroyed with its worker", "eps_destroy", SELF),
    Row("endpoint whose peer is killed, posix", "eps_fail", POSIX),
    Row("endpoint whose peer is killed, tcp", "eps_fail", TCP),
    Row("message from each of N senders at once, posix", "senders_all", POSIX, SENDERS, check=(8, 64)),
    Row("message from each of N senders at once, tcp", "senders_all", TCP, SENDERS, check=()),
    Row("message from one of N senders, posix", "senders_one", POSIX, SENDERS, check=(8, 64)),
    Row("message from one of N senders, tcp", "senders_one", TCP, SENDERS, check=()),
    Row("progress with N connected peers, posix", "peers_idle", POSIX, (10, 100, 1000), check=()),
    Row("progress with N connected peers, tcp", "peers_idle", TCP, (10, 30, 100, 300), check=()),
    Row("progress with N peers that do not answer, tcp", "peers_silent", TCP, (10, 30, 100, 300), check=()),
    Row("connection to one of N workers, posix", "connect_to_many", POSIX, (10, 30, 100, 300), check=()),
    Row("connection to one of N workers, tcp", "connect_to_many", TCP, (10, 30, 100, 300), check=()),
    Row("connection of N workers to one, posix", "connect_from_many", POSIX, (10, 30, 100, 300), check=()),
    Row("connection of N workers to one, tcp", "connect_from_many", TCP, (10, 30, 100, 300), check=()),
    Row("connection of N workers, each to all, posix", "connect_all_to_all", POSIX, (4, 8, 16, 32), check=()),
    Row("connection of N workers, each to all, tcp", "connect_all_to_all", TCP, (4, 8, 16, 32), check=()),
    Row("connection of one of N clients to a listener", "clients_connect", TCP, FEWER, check=()),
    Row("progress with N clients of a port that does not answer", "clients_silent", TCP, (10, 30, 100, 300), check=()),
    Row("listener made and destroyed", "listeners", TCP, FEWER),
    Row("progress with N listeners", "listeners_idle", TCP, FEWER),
    Row("timer added and removed, in any order", "timers_add", SELF),
    Row("poll with N timers that are not due", "timers_idle", SELF),
    Row("region mapped, key packed and unpacked, unmapped; self", "regions_map", SELF),
    Row("region mapped, key packed and unpacked, unmapped; tcp", "regions_map", TCP),
    Row("region mapped, each in a mapping of its own; self", "regions_apart", SELF, (10, 100, 1000, 10000, 30000)),
    Row("put through one of N keys", "regions_put", SELF),
    Row("message in pieces from one of N workers, tcp", "pieces",
        {**TCP, "UCX_RNDV_THRESH": "inf", "UCX_TCP_SNDBUF": "8k", "UCX_TCP_RCVBUF": "8k"}, (10, 100, 1000), counted=False),
]
