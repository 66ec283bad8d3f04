"""Rounds of what a peer may try against the worker of c-tests/torture/attacked.c: each is one kind, with its variants drawn
by a seed. A round says how many bytes it sent."""
import random
import socket
import struct
import time

from raw_peer import Identity, address_of, extents, frame, frames_of, mem_key, packed, rkey, rts, rtr, welcome

# Tag of the receives that the victim posts for attackers.
TAG = 60
SECRET = b"\xa5\x5a" * 8


def wireup(uuid, ep, serial, entries, ticket=0):
    return frame(1, struct.pack("<QQIBQ", uuid, ep, serial, 0, ticket) + packed(uuid, entries))


class Leak(Exception):
    """The victim gave, or took, what it must not."""


class Attack:
    def __init__(self, seed, victim, third, most=False):
        self.rng = random.Random(seed)
        self.victim, self.third, self.most = victim, third, most
        self.address = victim.address
        self.me = Identity(self.rng)
        self.uuid = self.rng.getrandbits(64)

    def many(self, low, high):
        return high if self.most else self.rng.randrange(low, high)

    def dial(self, room=None):
        s = socket.socket()
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.connect(("127.0.0.1", self.address.port))
        s.settimeout(2)
        return s

    def greeted(self, room=None, **more):
        s = self.dial(room)
        s.sendall(self.me.hello(self.address.id, **more))
        s.recv(28, socket.MSG_WAITALL)
        return s

    def entry(self, port, ident):
        return 4, self.address.device, struct.pack("<BHQ", 0x10, port, ident), self.address.domain

    def own(self):
        """An introduction that tells the truth."""
        return wireup(self.uuid, 1, 0, [self.entry(9, self.me.id)])

    def send(self, s, frames):
        """Sends as far as the worker takes it."""
        data = b"".join(frames)
        try:
            s.sendall(data)
        except OSError:
            pass
        return len(data)

    def forged(self):
        """Greetings with a signature that is not the sender's, in the honest peer's name too, then right ones that repeat old
        attempts."""
        sent, kept = 0, []
        for _ in range(self.many(1, 40)):
            s = self.dial()
            attempt = self.rng.getrandbits(63)
            hello = bytearray(self.me.hello(self.address.id, attempt=attempt, forged=self.rng.randrange(2) == 0))
            if self.rng.randrange(2):
                # A key that is not the signer's.
                hello[40:72] = Identity(self.rng).key
            cut = self.rng.randrange(len(hello)) if self.rng.randrange(8) == 0 else len(hello)
            sent += self.send(s, [bytes(hello[:cut])])
            kept.append(s)
        for attempt in (3, 2, 3, 9):
            kept.append(self.dial())
            sent += self.send(kept[-1], [self.me.hello(self.address.id, attempt=attempt)])
        self.victim.state()
        for s in kept:
            s.close()
        return sent

    def wireups(self):
        """Introductions of many workers, at the attacker's address, at somebody else's and at the honest one's."""
        frames = []
        for at in range(self.many(10, 3000)):
            port, ident = self.rng.choice([(self.third, self.rng.getrandbits(64) | 1), (9, self.me.id),
                                           (self.address.port, self.address.id)])
            uuid = self.rng.choice([self.uuid, self.rng.getrandbits(64), self.address.uuid])
            entries = [self.entry(port, ident)]
            if self.rng.randrange(4) == 0:
                entries += [e for e in self.address.entries if e[0] != 4]
            frames.append(wireup(uuid, self.rng.getrandbits(32), at, entries, self.rng.getrandbits(64)))
        s = self.greeted()
        sent = self.send(s, frames)
        s.close()
        return sent

    def fragments(self):
        """First fragments of messages that never go on, of tags and of active messages."""
        kind = self.rng.choice([10, 2])
        inner = struct.pack("<IHBB", 0, 1, 0, 0) if kind == 10 else struct.pack("<Q", self.rng.getrandbits(64) | 1 << 60)
        frames = [self.own()]
        total = 1 << self.rng.randrange(10, 50)
        for at in range(self.many(10, 20000)):
            frames.append(frame(4, struct.pack("<QQQB", self.uuid, at + 1, total, kind) + inner + b"x"))
        s = self.greeted()
        sent = self.send(s, frames)
        s.close()
        return sent

    def replies(self):
        """Announcements, requests for data, answers and failures of endpoints, with keys and ids that nobody gave."""
        frames = [self.own()]
        for _ in range(self.many(10, 2000)):
            kind = self.rng.choice([6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 27, 28, 29])
            body = bytearray(self.rng.randbytes(self.rng.randrange(8, 120)))
            struct.pack_into("<Q", body, 0, self.uuid)
            frames.append(frame(kind, bytes(body)))
        s = self.greeted()
        sent = self.send(s, frames)
        s.close()
        return sent

    def numbered(self):
        """Paths and numbered messages of endpoints with failover, in the attacker's name and in those of others."""
        frames = [self.own()]
        uuids = [self.uuid, self.uuid, self.address.uuid, self.rng.getrandbits(64)]
        for at in range(self.many(10, 3000)):
            uuid, ep, token = self.rng.choice(uuids), self.rng.randrange(1 + at), self.rng.choice([5, self.rng.getrandbits(64)])
            name = struct.pack("<QQQ", uuid, ep, token)
            port, ident = self.third, self.rng.choice([self.me.id, self.rng.getrandbits(64)])
            join = struct.pack("<IIQQ", self.rng.randrange(20), at, self.rng.choice([0, 0, 1 << 40]), 0)
            kind = self.rng.randrange(8)
            inner = bytes([self.rng.choice([2, 4, 6, 10, 13, 18, 24])]) + self.rng.randbytes(40)
            frames.append({0: frame(25, name + struct.pack("<QIIB", self.rng.choice([0, 1, 1 << 60]), 0, at, at & 1)),
                           1: frame(26, name),
                           2: frame(23, name + join + packed(uuid, [self.entry(port, ident)])),
                           3: frame(23, name + join + packed(uuid, [self.entry(9, self.me.id)]))
                           }.get(kind, frame(24, name + struct.pack("<QI", self.rng.randrange(4), self.rng.randrange(20)) + inner)))
        s = self.greeted()
        sent = self.send(s, frames)
        s.close()
        return sent

    def questions(self):
        """Asks for answers and reads none of them: gets, fences and atomics, by many endpoints."""
        eps = self.rng.choice([1, 1, 50])
        frames = [wireup(self.uuid, ep + 1, ep, [self.entry(9, self.me.id)]) for ep in range(eps)]
        s = self.greeted(room=4096)
        sent = self.send(s, frames)
        s.settimeout(0.5)
        before = self.victim.state()
        for _ in range(self.many(1, 400)):
            kind = self.rng.randrange(3)
            ep = self.rng.randrange(eps) + 1
            one = {0: frame(17, struct.pack("<QQQ", self.uuid, ep, 5)),
                   1: frame(13, struct.pack("<QQQQQQ", self.uuid, ep, 99, 0x1000, self.rng.choice([8, 1 << 40]), 5)),
                   2: frame(15, struct.pack("<QQQQQQQBB", self.uuid, ep, 99, 0x1000, 1, 0, 5, 0, 8))}[kind]
            try:
                s.sendall(one * 1000)
                sent += 1000 * len(one)
            except OSError:
                break
        during = self.victim.state()
        if during.resident - before.resident > 24 << 10:
            raise Leak(f"{during.resident - before.resident} KB for answers that nobody reads")
        s.close()
        return sent

    def forged_key(self):
        """A remote key of memory that is not the attacker's: of the third process, of the victim, of nobody."""
        owners = [entry[2][8:24] for entry in self.victim.third.entries + self.address.entries if entry[0] in (1, 2)]
        owner = self.rng.choice(owners + [self.rng.randbytes(16)]) if owners else self.rng.randbytes(16)
        base = self.rng.choice([self.victim.third_base, self.victim.own_base, 0x10000])
        length = self.rng.choice([60, 4096, 1 << 16, 1 << 40])
        made = mem_key(self.rng.choice([1, 2]), self.rng.randrange(0, 8), owner, base, length)
        component = self.rng.randrange(5)
        if self.rng.randrange(3) == 0:
            return base, length, self.victim.third_key
        domain = self.rng.choice([entry[3] for entry in self.address.entries])
        keys = [(component, domain, made)]
        key = rkey(self.rng.getrandbits(64), self.rng.getrandbits(64), base, length, keys, self.rng.randrange(4))
        return base, length, key

    def list_of(self, base, length, total):
        """Extents that make up a message, or nearly; in its memory, or around it."""
        places, left = [], total
        while left > 0 and len(places) < self.rng.choice([1, 3, 40]):
            size = self.rng.choice([left, self.rng.randrange(left + 1)])
            at = self.rng.choice([base, base + length - size, base + length, base - 1, 0, (1 << 64) - 1])
            places.append((at, self.rng.choice([size, size, size, (1 << 64) - max(size, 1)])))
            left -= size
        return places

    def deputies(self):
        """Has the victim read others' memory into its own receives: announcements with keys of other processes, or from a
        sender that says it is another process of this host."""
        sent = 0
        for at in range(self.many(1, 12)):
            self.victim.post_receive()
            s = self.greeted(attempt=at + 1)
            entries = [self.entry(9, self.me.id)]
            others = [e for e in self.address.entries + self.victim.third.entries if e[0] != 4]
            entries += self.rng.sample(others, min(len(others), self.rng.randrange(4)))
            self.rng.shuffle(entries)
            uuid = self.rng.choice([self.uuid, self.rng.getrandbits(64)])
            base, length, key = self.forged_key()
            guard = self.rng.choice([(0, 0), (base & ~7, self.rng.getrandbits(64))])
            total = min(length, self.rng.choice([1, 60, 4096]))
            places = self.list_of(base, length, total) if self.rng.randrange(2) else []
            frames = [wireup(uuid, 1, 0, entries, self.rng.getrandbits(64)),
                      rts(uuid, 1, 77, total, base, key + extents(places), guard, key if guard[0] else b"", 2,
                          struct.pack("<Q", TAG))]
            sent += self.send(s, frames)
            # Answers come, if any do, once the victim has seen it.
            self.victim.state()
            self.look(s)
            s.close()
        self.victim.state()
        return sent

    def look(self, s):
        """Nothing that the victim sends may hold what is secret."""
        s.setblocking(False)
        try:
            data = s.recv(1 << 20)
        except OSError:
            return b""
        if SECRET in data:
            raise Leak("the victim sent what is secret")
        return data

    def writers(self):
        """Has the victim write into others' memory: it sends to the attacker, which gives a key of another process."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(5)
        port = listener.getsockname()[1]
        self.victim.send_to(address_of(self.uuid, [self.entry(port, self.me.id)]))
        s, _ = listener.accept()
        s.settimeout(5)
        s.recv(136, socket.MSG_WAITALL)
        s.sendall(welcome())
        data, done, sent = b"", False, 0
        end = time.monotonic() + 5
        while not done and time.monotonic() < end:
            data += s.recv(65536)
            for kind, body in frames_of(data):
                if kind == 6:
                    request, total = struct.unpack_from("<QQ", body, 16)
                    base, length, key = self.forged_key()
                    sent += self.send(s, [rtr(request, 1, min(total, length), base, self.uuid, 1, key)])
                    done = True
                    break
        self.victim.state()
        s.close()
        listener.close()
        self.victim.sent()
        return sent


KINDS = ["forged", "wireups", "fragments", "replies", "numbered", "questions", "deputies", "writers"]
