#!/usr/bin/env python3
"""A hostile peer in upstream's format: what c-tests/interop/victim.c, a process of ours, does about it.

    hostile.py OWN_ADDRESS HOST PORT

Talks to the victim's control socket at HOST:PORT and to its worker over tcp. Each attack says what is to happen: what is bad is
dropped, so that a flush behind it is answered, or the connection ends. Prints one line "attack NAME" each; the first that is
not as it should be ends the process with status 1.
"""
import socket
import struct
import sys
import threading
import time

GREETING = struct.pack("<Q", 0xCAFEBABE12345678)
# A flush is a put without data.
CONNECTION, FLUSH, FLUSH_ACK = 32, 33, 34
REQUEST, ACK = 1, 2
(WIREUP, EAGER, FIRST, MIDDLE, SYNC, SYNC_FIRST, SYNC_ACK, RTS, ATS, RTR, DATA, STREAM, ATP, PUT, GET, GET_REPLY, ATOMIC, ATOMIC_REPLY, COMPLETION,
 AM, AM_FIRST, AM_MIDDLE, AM_REPLY) = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26)
ASKS, ANSWER, CHECK, REMOVED = 1, 2, 4, 5
TCP = 0x19CF
# Messages, and how long their headers are: a shorter one is dropped, and one about memory ends its connection.
HEADERS = {WIREUP: 20, EAGER: 8, FIRST: 24, MIDDLE: 16, SYNC: 24, SYNC_FIRST: 40, SYNC_ACK: 9, RTS: 41, ATS: 9, RTR: 40, DATA: 16, STREAM: 8,
           ATP: 9, AM: 8, AM_FIRST: 32, AM_MIDDLE: 24, AM_REPLY: 16}
ACCESSES = {PUT: 20, GET: 36, GET_REPLY: 16, ATOMIC: 26, ATOMIC_REPLY: 8, COMPLETION: 8}
# The key of a release that does not tell which it is: the first domain, host memory, no bytes.
PUT_KEY = struct.pack("<QBB", 1, 0, 0)
PATIENCE = 10
MOST = (1 << 64) - 1
# Messages whose answers are not read, how long it takes at most until no more are taken, and what may wait of them.
UNREAD, UNREAD_SECONDS, UNREAD_KIB = 200000, 5, 9216


def words(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *(number & MOST for number in numbers))


class Wrong(Exception):
    """What was seen instead of what should be."""


class Control:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        self.lines = self.socket.makefile("r")

    def line(self):
        return self.lines.readline().split()

    def ask(self, text):
        self.socket.sendall(text.encode() + b"\n")
        return self.line()

    def received(self, tag):
        """The bytes of a receive that is over, or its status."""
        words = self.ask(f"wait {tag}")
        return bytes.fromhex("".join(words[1:])) if words[0] == "ok" else " ".join(words)


def listener_of(address):
    """IP address and port of the tcp device in a worker address of ours."""
    at = 9
    while address[at] & 0x80:
        at += 2 + (address[at + 1] & 0x1F)
    device = address[at + 2:at + 2 + (address[at + 1] & 0x1F)]
    at += 2 + len(device)
    assert struct.unpack_from("<H", address, at)[0] == TCP and device[1] == socket.AF_INET
    return socket.inet_ntoa(device[2:6]), struct.unpack_from(">H", address, at + 19)[0]


class Connection:
    """A connection to the victim's worker, or one that it has opened."""
    number = 1 << 40

    def __init__(self, opened=None, to=None, listener=None):
        self.socket = opened or socket.create_connection(to, timeout=PATIENCE)
        self.socket.settimeout(PATIENCE)
        self.bytes, self.flushes = b"", 0
        if opened is None:
            Connection.number += 1
            body = struct.pack("<IBQH", REQUEST, 0, Connection.number, socket.AF_INET) + struct.pack(">H", listener[1])
            self.send(GREETING + self.frame(CONNECTION, body + socket.inet_aton(listener[0]) + bytes(8)))
            self.expect(CONNECTION)

    @staticmethod
    def frame(kind, body):
        return struct.pack("<BI", kind, len(body)) + body

    def send(self, data):
        self.socket.sendall(data)

    def take(self, count):
        while len(self.bytes) < count:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                more = b""
            if not more:
                return None
            self.bytes += more
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def next(self):
        """The next frame's kind and body; None at the end."""
        head = self.take(5)
        if head is None:
            return None
        kind, length = struct.unpack("<BI", head)
        return kind, self.take(length)

    def expect(self, wanted):
        while True:
            frame = self.next()
            if frame is None:
                raise Wrong(f"the connection ended before a message {wanted}")
            if frame[0] == wanted:
                return frame[1]

    def message(self, kind, body):
        self.send(self.frame(kind, body))

    @classmethod
    def put(cls, at, data, number, length=None):
        """A put by the transport."""
        return cls.frame(FLUSH, struct.pack("<QQI", at, len(data) if length is None else length, number)) + data

    def survives(self):
        """Whether the connection still answers, after everything before."""
        self.flushes += 1
        try:
            self.message(FLUSH, struct.pack("<QQI", 0, 0, self.flushes))
            while (frame := self.next()) is not None:
                if frame == (FLUSH_ACK, struct.pack("<I", self.flushes)):
                    return True
        except ConnectionError:
            pass
        return False


class Hostile:
    def __init__(self, own, host, port):
        self.control = Control(host, port)
        at, address = self.control.line()
        self.memory, self.worker = int(at, 16), listener_of(bytes.fromhex(address))
        listening = socket.create_server((own, 0))
        listening.settimeout(PATIENCE)
        self.listener = listening.getsockname()[:2]
        self.out = self.connect()
        # An endpoint of ours: the victim connects to the listener and answers there.
        self.endpoint = 0x7777
        device = bytes([0, 6 | 0x80, 0, socket.AF_INET]) + socket.inet_aton(own)
        transport = struct.pack("<HfffI", TCP, 5e-5, 1e9, 3e-5, 0x230301) + bytes([0xC3, 2 | 0x80]) + struct.pack(">H", self.listener[1])
        self.address = b"\x20" + words(0x1234) + device + transport
        self.out.message(WIREUP, struct.pack("<BBHQQ", ASKS, 0, 0, self.endpoint, 0) + self.address)
        opened, _ = listening.accept()
        self.back = self.accepted(opened)
        reply = self.back.expect(WIREUP)
        self.ep, mine = struct.unpack_from("<QQ", reply, 4)
        if reply[0] != 2 or mine != self.endpoint:
            raise Wrong(f"the reply is {reply.hex()}")
        self.before = self.control.ask("memory")

    @staticmethod
    def accepted(opened):
        """A connection that the victim has opened."""
        connection = Connection(opened=opened)
        if connection.take(8) != GREETING:
            raise Wrong("no greeting")
        connection.expect(CONNECTION)
        connection.message(CONNECTION, struct.pack("<I", ACK))
        return connection

    def connect(self):
        return Connection(to=self.worker, listener=self.listener)

    def refused(self, name, at, data, length=None, listener=None):
        """A put by the transport that ends the connection it comes by, and changes nothing."""
        print(f"attack put by the transport {name}", flush=True)
        connection = Connection(to=self.worker, listener=listener or self.listener)
        try:
            connection.send(connection.put(at, data, 0, length))
        except ConnectionError:
            pass
        self.check(not connection.survives(), "the connection goes on")
        self.check(self.control.ask("memory") == self.before, "exported memory has changed")

    def check(self, condition, text):
        if not condition:
            raise Wrong(text)

    def dropped(self, name, *messages):
        """Messages that change nothing, also each byte less of them."""
        print(f"attack {name}", flush=True)
        for kind, body in messages:
            self.out.message(kind, body)
        self.check(self.out.survives(), "the connection has ended")
        self.check(self.control.ask("memory") == self.before, "exported memory has changed")

    def ended(self, name, kind, body):
        """A message that ends the connection it comes by, and changes nothing."""
        print(f"attack {name}", flush=True)
        connection = self.connect()
        connection.message(kind, body)
        self.check(not connection.survives(), "the connection goes on")
        self.check(self.control.ask("memory") == self.before, "exported memory has changed")

    def run(self):
        self.short()
        self.forged()
        self.accesses()
        self.puts()
        self.unmapped()
        self.eager_parts()
        self.announced()
        self.overtaking()
        self.requested()
        self.unread()
        self.death()
        self.check(int(self.control.ask("resident")[0]) < self.resident + 65536, "the memory of the process has grown")

    def short(self):
        """Messages that end before their headers do, and lengths that are too large."""
        self.resident = int(self.control.ask("resident")[0])
        for kind, header in HEADERS.items():
            self.dropped(f"short {kind}", *((kind, bytes([7] * length)) for length in range(header)))
        for kind in range(32):
            if kind not in (WIREUP, EAGER, STREAM) and not PUT <= kind <= COMPLETION:
                self.dropped(f"noise {kind}", (kind, bytes([0xFF] * 16)))
        for kind, header in ACCESSES.items():
            for length in range(header):
                self.ended(f"short {kind}, {length} bytes", kind, bytes(length))
        self.dropped("header beyond its message", (AM, struct.pack("<HHI", 7, 0, 1 << 31) + bytes(8)))
        self.dropped("a long message without bytes", (FIRST, words(90, 1 << 62, 900)), (RTS, words(91, self.ep, 5, 0, 1 << 62) + b"\0"))
        connection = self.connect()
        connection.send(struct.pack("<BI", EAGER, 1 << 31))
        self.check(connection.next() is None, "a frame of 2 GiB is waited for")

    def forged(self):
        """Ids of endpoints and requests that nobody gave out."""
        for bit in range(64):
            other = self.ep ^ 1 << bit
            self.dropped(f"endpoint, bit {bit}", (RTS, words(1, other, 5, 0, 8) + b"\0"), (STREAM, words(other) + b"x"),
                         (AM_REPLY, struct.pack("<HHI", 7, 1, 0) + words(other)), (COMPLETION, words(other)),
                         (GET, words(self.memory, 8, other, 5) + bytes(4)))
        # Whether an endpoint is there: only of one that is not comes an answer. The notice that one of another worker is gone.
        other = b"\x20" + words(0x1235) + self.address[9:]
        self.dropped("check of an endpoint", (WIREUP, struct.pack("<BBHQQ", CHECK, 0, 0, self.endpoint, self.ep) + self.address),
                     (WIREUP, struct.pack("<BBHQQ", REMOVED, 0, 0, self.endpoint, self.ep) + other),
                     (WIREUP, struct.pack("<BBHQQ", REMOVED, 0, 0, self.endpoint, self.ep ^ 1) + self.address))
        for bit in range(0, 64, 7):
            self.dropped(f"check of no endpoint, bit {bit}", (WIREUP, struct.pack("<BBHQQ", CHECK, 0, 0, self.endpoint + bit, self.ep ^ 1 << bit) + self.address))
            answer = self.back.expect(WIREUP)
            self.check((answer[0], answer[12:20]) == (REMOVED, words(self.endpoint + bit)), f"the answer is {answer.hex()}")
        for request in [0, 1, 2, 1 << 32, self.ep, MOST]:
            self.dropped(f"request {request:#x}", (SYNC_ACK, words(request) + b"\0"), (ATS, words(request) + b"\0"), (RTR, words(request, 5, 0, 8, 0)),
                         (DATA, words(request, 0) + b"12345678"), (GET_REPLY, words(request, 0) + b"12345678"), (ATOMIC_REPLY, words(request) + bytes(8)))
        self.dropped("completion of nothing", *[(COMPLETION, words(self.ep))] * 3)

    def accesses(self):
        """Memory that was not exported, and words that are none."""
        start, end = self.memory, self.memory + 256
        for name, at, length in [("before", start - 8, 8), ("across the start", start - 1, 8), ("behind", end, 8), ("across the end", end - 1, 2),
                                 ("all", start, 257), ("around the end of memory", MOST - 3, 8), ("nowhere", 0, 8)]:
            self.ended(f"put {name}", PUT, words(at, self.ep) + bytes(4) + bytes([0xEE] * length))
            self.ended(f"get {name}", GET, words(at, length, self.ep, 5) + bytes(4))
            if at != start:
                self.ended(f"add {name}", ATOMIC, words(at, self.ep, 0) + bytes([8, 0]) + words(1))
        self.ended("get of all memory", GET, words(start, MOST, self.ep, 5) + bytes(4))
        for name, at, size, operation, operands in [("unaligned", start + 1, 8, 0, 8), ("of 3 bytes", start, 3, 0, 3), ("of 16 bytes", start, 16, 0, 16),
                                                    ("of 0 bytes", start, 0, 0, 0), ("unknown", start, 8, 6, 8), ("without its operand", start, 8, 0, 7),
                                                    ("without its second operand", start, 8, 5, 15)]:
            self.ended(f"atomic {name}", ATOMIC, words(at, self.ep, 0) + bytes([size, operation]) + bytes([1] * operands))
        # What is allowed: the bytes go there and nowhere else.
        self.out.message(PUT, words(start + 8, self.ep) + bytes(4) + bytes([0xEE] * 16))
        self.check(self.back.expect(COMPLETION) == words(self.endpoint), "a put is not confirmed")
        after = bytes.fromhex(self.control.ask("memory")[1])
        wanted = bytearray(bytes.fromhex(self.before[1]))
        wanted[72:88] = bytes([0xEE] * 16)
        self.check(after == wanted, "a put has written something else")
        self.before = ["bytes", after.hex()]

    def puts(self):
        """Puts by the transport: into exported memory, and once into that of a rendezvous, by who was asked for the data."""
        start, end = self.memory, self.memory + 256
        for name, at, length in [("before", start - 8, 8), ("across the start", start - 1, 8), ("behind", end, 8), ("across the end", end - 1, 2),
                                 ("all", start, 257), ("around the end of memory", MOST - 3, 8), ("nowhere", 0, 8)]:
            self.refused(name, at, bytes([0xEE] * length))
        self.refused("of all memory", start, b"\xee" * 64, MOST)
        # The number is the sender's affair.
        for number in (1 << 31, 3):
            self.out.send(self.out.put(start + 100, b"\xdd" * 16, number))
            self.check(self.out.expect(FLUSH_ACK) == struct.pack("<I", number), "another put is acknowledged")
        after = bytes.fromhex(self.control.ask("memory")[1])
        wanted = bytearray(bytes.fromhex(self.before[1]))
        wanted[164:180] = bytes([0xDD] * 16)
        self.check(after == wanted, "a put has written something else")
        self.before = ["bytes", after.hex()]

        data = bytes(range(240))
        receiver, at = self.asked(8, 240)
        other = (self.listener[0], self.listener[1] ^ 1)
        for name, where, length, listener in [("of a receive in another's name", at, 8, other), ("in front of a receive", at - 1, 8, None),
                                              ("across the end of a receive", at + 233, 8, None), ("behind a receive", at + 240, 8, None),
                                              ("around a receive", at - 1, 242, None)]:
            self.refused(name, where, bytes([0xEE] * length), listener=listener)
        self.dropped("more than was asked for is put", (ATP, words(receiver) + b"\0" + words(241)), (ATP, words(receiver ^ 1 << 40) + b"\0" + words(240)))
        self.out.send(self.out.put(at + 200, data[200:], 5) + self.out.put(at, data[:200], 6))
        self.out.message(ATP, words(receiver) + b"\0" + words(1))
        self.out.message(ATP, words(receiver) + b"\0" + words(239))
        self.check(self.control.received(8) == data, "the message is not what was put")
        self.refused("after the end of a receive", at, b"\xee" * 8)
        self.check(self.control.received(8) == data, "a put has changed a buffer after the end")

        # The data come in messages after all: a late put is dropped.
        receiver, at = self.asked(9, 240)
        self.out.message(DATA, words(receiver, 0) + data)
        self.check(self.control.received(9) == data, "the message is not what was sent")
        self.out.send(self.out.put(at, b"\xee" * 240, 7))
        self.check(self.out.survives() and self.control.received(9) == data, "a late put is not dropped")
        self.refused("twice after the end of a receive", at, b"\xee" * 8)

        # Memory that is unmapped while it is written.
        length = 64 << 20
        at = int(self.control.ask(f"map {length}")[0], 16)
        writer = self.connect()
        writer.send(writer.put(at, b"\xee" * 4096, 0, length))
        self.control.ask("memory")
        self.control.ask("unmap")
        try:
            writer.send(bytes(4096))
        except ConnectionError:
            pass
        self.check(not writer.survives(), "a put into memory that is unmapped goes on")

    def asked(self, tag, length):
        """Announces a message that is received: the receive's id, and where its data may be put."""
        self.control.ask(f"recv {tag} {length}")
        self.out.message(RTS, words(tag, self.ep, 50 + tag, 0, length) + b"\0")
        asks = self.back.expect(RTR)
        sender, receiver, at, size, offset = struct.unpack_from("<5Q", asks)
        self.check((sender, size, offset) == (50 + tag, length, 0) and at != 0, "not the data of this message are asked for")
        self.check(asks[40:] == PUT_KEY, f"the key is {asks[40:].hex()}")
        return receiver, at

    def unmapped(self):
        """Memory that its owner unmaps while it is read: the reader's connection ends."""
        print("attack unmapped while it is read", flush=True)
        length = 64 << 20  # more than the sockets hold
        at = int(self.control.ask(f"map {length}")[0], 16)
        reader = self.connect()
        reader.message(GET, words(at, length, self.ep, 77) + bytes(4))
        come = len(self.back.expect(GET_REPLY)) - 16
        self.control.ask("unmap")
        while (count := len(self.back.expect(GET_REPLY)) - 16) > 0:
            come += count
        self.check(come < length, "all bytes have come")
        self.check(reader.next() is None, "the reader's connection goes on")

    def eager_parts(self):
        """Parts of a message that overlap or go beyond its end."""
        data = bytes(range(200))
        self.control.ask("recv 1 200")
        self.out.message(FIRST, words(1, 200, 901) + data[:100])
        self.dropped("overlapping parts", (MIDDLE, words(901, 50) + bytes(60)), (MIDDLE, words(901, 99) + bytes(1)), (MIDDLE, words(901, 150) + bytes(51)),
                     (MIDDLE, words(901, MOST) + bytes(8)), (FIRST, words(1, 300, 901) + bytes(300)), (MIDDLE, words(902, 0) + bytes(8)))
        self.out.message(MIDDLE, words(901, 150) + data[150:])
        self.dropped("a part that came before", (MIDDLE, words(901, 150) + bytes(50)))
        self.out.message(MIDDLE, words(901, 100) + data[100:150])
        self.check(self.control.received(1) == data, "the message is not what was sent")

    def announced(self):
        """Data of announced messages, in any order, overlapping and too many."""
        data = bytes(range(250))
        for tag, order in [(2, [(0, 100), (100, 250)]), (3, [(200, 250), (100, 200), (0, 100)]), (4, [(k, k + 1) for k in range(249, -1, -1)])]:
            self.control.ask(f"recv {tag} 250")
            self.out.message(RTS, words(tag, self.ep, 50 + tag, self.memory, 250) + b"\0" + b"a key")
            sender, receiver, _, size, offset = struct.unpack_from("<5Q", self.back.expect(RTR))
            self.check((sender, size, offset) == (50 + tag, 250, 0), "not the data of this message are asked for")
            for bit in range(64):
                self.out.message(DATA, words(receiver ^ 1 << bit, 0) + bytes(250))
            for begin, end in order:
                self.out.message(DATA, words(receiver, begin) + data[begin:end])
                if end - begin > 1 and len(order) > 1 and (begin, end) != order[-1]:
                    self.dropped(f"overlapping data of {tag}", (DATA, words(receiver, begin) + bytes(end - begin)), (DATA, words(receiver, begin + 1) + bytes(1)),
                                 (DATA, words(receiver, 249) + bytes(2)), (DATA, words(receiver, MOST) + bytes(2)), (DATA, words(receiver, 0) + bytes(251)),
                                 (DATA, words(receiver, 250)))
            self.check(self.control.received(tag) == data, f"the message of tag {tag} is not what was sent")
            self.dropped(f"data after the end of {tag}", (DATA, words(receiver, 0) + bytes(250)))
        self.control.ask("recv 5 8")
        self.out.message(RTS, words(5, self.ep, 55, 0, 1 << 62) + b"\0")
        self.check(self.back.expect(ATS)[:9] == words(55) + b"\0", "a message that is too long is not answered")
        self.check(self.control.received(5) == "Message truncated", "a message that is too long is received")
        self.dropped("an unknown kind of announcement", (RTS, words(6, self.ep, 56, 0, 8) + b"\2"), (RTS, words(7 | 99 << 32, self.ep, 56, 0, 8) + b"\1short"))

    def asking_endpoint(self, uuid, abilities):
        """The victim makes an endpoint to a worker of ours, which gets its request by the connection that is there."""
        device = bytes([0, 6 | 0x80, 0, socket.AF_INET]) + socket.inet_aton(self.listener[0])
        transport = struct.pack("<HfffI", TCP, 5e-5, 1e9, 3e-5, abilities) + bytes([2 | 0x80]) + struct.pack(">H", self.listener[1])
        self.control.ask(f"connect {(bytes([0x20]) + words(uuid) + device + transport).hex()}")
        asks = self.back.expect(WIREUP)
        self.check(asks[0] == ASKS, f"the request is {asks.hex()}")
        return struct.unpack_from("<Q", asks, 4)[0]

    def answer(self, uuid, mine, ep):
        self.out.message(WIREUP, struct.pack("<BBHQQ", ANSWER, 0, 0, mine, ep) + bytes([0x20]) + words(uuid) + b"\xff")

    def requested(self):
        """What a receiver may ask for of a message that the victim announces, and what it may not."""
        length, at, receiver, host, cuda = 1 << 20, 0x7000, 60, bytes(9), bytes(8) + b"\1"
        data = bytes(k % 251 for k in range(length))
        for uuid, abilities, takes_puts in [(0x1237, 0x231301, True), (0x1238, 0x230301, False)]:
            self.answer(uuid, 0x9999, self.asking_endpoint(uuid, abilities))
            _, _, request = struct.unpack("<3Q", self.back.expect(SYNC)[:24])
            self.out.message(SYNC_ACK, words(request) + b"\0")
            for key, place, puts in [(host, at, takes_puts), (cuda, at, False), (host, 0, False), (b"", at, False), (b"\xff" * 9, at, False)]:
                print(f"attack request for data at {place:#x} by the key {key.hex()}", flush=True)
                self.control.ask(f"send 9 {length}")
                rts = self.back.expect(RTS)
                tag, _, request, _, size = struct.unpack_from("<5Q", rts)
                self.check((tag, size) == (9, length), f"announced is {rts.hex()}")
                self.dropped("a request for more than there is", (RTR, words(request, receiver, place, length + 1, 0) + key))
                self.out.message(RTR, words(request, receiver, place, length, 0) + key)
                come = self.put_of(at, length, receiver) if puts else self.data_of(length, receiver)
                self.check(come == data, "other bytes have come")
                self.check(self.control.received(9) == b"", "the send has not completed")
                self.dropped("a request for a message that is sent", (RTR, words(request, receiver, place, length, 0) + key))
            print("attack request for a part", flush=True)
            self.control.ask(f"send 9 {length}")
            request, = struct.unpack_from("<Q", self.back.expect(RTS), 16)
            self.out.message(RTR, words(request, receiver, at, 8, 8) + host)
            self.check(self.control.received(9) == "Unsupported operation", "a part is sent")

    def put_of(self, at, length, receiver):
        """The data of a put by the transport, and that it is told behind them."""
        place, count, _ = struct.unpack("<QQI", self.back.expect(FLUSH))
        self.check((place, count) == (at, length), f"{count} bytes are put at {place:#x}")
        come = self.back.take(length)
        told = self.back.next()
        self.check(told == (ATP, words(receiver) + b"\0" + words(length)), f"behind the put stands {told}")
        return come

    def data_of(self, length, receiver):
        come = b""
        while len(come) < length:
            frame = self.back.expect(DATA)
            self.check(frame[:16] == words(receiver, len(come)), f"the data begin with {frame[:16].hex()}")
            come += frame[16:]
        return come

    def overtaking(self):
        """Messages that name an endpoint come before the answer that names this one, as they do by another connection."""
        print("attack messages before the answer", flush=True)
        mine, at = 0x8888, self.memory + 40
        ep = self.asking_endpoint(0x1236, 0x230301)
        self.control.ask("recv 8 5")
        for kind, body in [(PUT, words(at, ep) + bytes(4) + b"12345678"), (ATOMIC, words(at + 8, ep, 0) + bytes([8, 0]) + words(1)),
                           (GET, words(at, 8, ep, 71) + bytes(4)), (ATOMIC, words(at, ep, 72) + bytes([8, 0]) + words(0)),
                           (SYNC, words(8, ep, 73) + b"early")]:
            self.out.message(kind, body)
        self.check(self.out.survives(), "the connection has ended")
        self.check(self.control.received(8) == b"early", "a synchronous message has not come")
        self.answer(0x1236, mine, ep)
        wanted = sorted([(COMPLETION, words(mine)), (COMPLETION, words(mine)), (GET_REPLY, words(71, 0) + b"12345678"), (ATOMIC_REPLY, words(72) + b"12345678"),
                         (SYNC_ACK, words(73) + b"\0")])
        come = []
        while len(come) < len(wanted) + 1:
            frame = self.back.next()
            self.check(frame is not None, f"the connection has ended after {come}")
            come += [frame] if frame[0] in (COMPLETION, GET_REPLY, ATOMIC_REPLY, SYNC_ACK, SYNC) else []
        sync = next(body for kind, body in come if kind == SYNC)
        self.check(sync[:16] == words(70, mine), f"the message is {sync.hex()}")
        come = sorted(frame for frame in come if frame[0] != SYNC)
        self.check(come == wanted, f"the answers are {come}")
        self.out.message(SYNC_ACK, sync[16:24] + b"\0")
        self.check(self.control.received(0) == bytes(8), "a synchronous send is not over")
        self.before = self.control.ask("memory")

    def unread(self):
        """Answers that are not read, of messages before the one that names the remote endpoint and behind it. None is lost, and those that
        wait are limited."""
        own = self.listener[0]
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listening.bind((own, 0))
        listening.listen()
        listening.settimeout(PATIENCE)
        mine, uuid, start = 0x9999, words(0x1237), self.memory
        device = bytes([0, 6 | 0x80, 0, socket.AF_INET]) + socket.inet_aton(own)
        transport = struct.pack("<HfffI", TCP, 5e-5, 1e9, 3e-5, 0x230301) + bytes([2 | 0x80]) + struct.pack(">H", listening.getsockname()[1])
        self.control.ask(f"connect {(bytes([0x20]) + uuid + device + transport).hex()}")
        back = self.accepted(listening.accept()[0])
        ep, = struct.unpack_from("<Q", back.expect(WIREUP), 4)
        word = bytes.fromhex(self.before[1])[64:72]
        put, get = (PUT, words(start, ep) + bytes(4) + word), (GET, words(start, 8, ep, 71) + bytes(4))
        resident = int(self.control.ask("resident")[0])

        def unread(name, connection, message, answer, count):
            """Sends so many messages while no answer is read."""
            print(f"attack unread {name}", flush=True)
            data = connection.frame(*message) * count
            sender = threading.Thread(target=lambda: connection.socket.sendall(data))
            connection.socket.settimeout(60)
            sender.start()
            end, before, taken = time.monotonic() + UNREAD_SECONDS, -1, 0
            while sender.is_alive() and before != taken and time.monotonic() < end:
                sender.join(0.3)
                before, taken = taken, int(self.control.ask("resident")[0]) - resident
            self.check(taken < UNREAD_KIB, f"{taken} KiB of answers wait")
            for _ in range(count):
                back.expect(answer)
            sender.join()
            self.check(connection.survives(), "the connection has ended")

        self.out.send(self.out.frame(*put) * UNREAD)
        self.check(self.out.survives(), "the connection has ended")
        self.out.message(WIREUP, struct.pack("<BBHQQ", ANSWER, 0, 0, mine, ep) + bytes([0x20]) + uuid + b"\xff")
        self.check(self.out.survives(), "the connection has ended")
        print("attack unread confirmations of puts before the answer", flush=True)
        taken = int(self.control.ask("resident")[0]) - resident
        self.check(taken < UNREAD_KIB, f"{taken} KiB of answers wait")
        sync = back.expect(SYNC)
        for _ in range(UNREAD):
            back.expect(COMPLETION)
        self.out.message(SYNC_ACK, sync[16:24] + b"\0")
        self.check(self.control.received(0) == bytes(8), "a synchronous send is not over")
        unread("gets", self.connect(), get, GET_REPLY, UNREAD)
        unread("confirmations of puts", self.connect(), put, COMPLETION, UNREAD)
        adds = (ATOMIC, words(start, ep, 72) + bytes([8, 0]) + words(0))
        unread("atomics", self.connect(), adds, ATOMIC_REPLY, UNREAD)
        self.dropped("nothing more")

        # Checks of endpoints that are not there may go without an answer: who asks asks again.
        print("attack unread answers to checks", flush=True)
        check = (WIREUP, struct.pack("<BBHQQ", CHECK, 0, 0, mine, ep ^ 1) + bytes([0x20]) + uuid + device + transport[:18] + bytes([0xC3]) + transport[18:])
        self.out.send(self.out.frame(*check) * UNREAD)
        self.check(self.out.survives(), "the connection has ended")
        taken = int(self.control.ask("resident")[0]) - resident
        self.check(taken < UNREAD_KIB, f"{taken} KiB of answers wait")
        self.check(back.expect(WIREUP)[0] == REMOVED, "no answer says that the endpoint is gone")

    def death(self):
        """It ends while its messages are coming: what waits for them ends too."""
        print("attack death", flush=True)
        self.control.ask("recv 6 250")
        self.control.ask("recv 7 250")
        self.out.message(FIRST, words(6, 250, 903) + bytes(100))
        self.out.message(RTS, words(7, self.ep, 57, 0, 250) + b"\0")
        receiver = struct.unpack_from("<5Q", self.back.expect(RTR))[1]
        self.out.message(DATA, words(receiver, 0) + bytes(100))
        self.check(self.out.survives(), "the connection has ended")
        self.out.socket.close()
        self.back.socket.close()
        for tag in (6, 7):
            status = self.control.received(tag)
            self.check(status == "Connection reset by remote peer", f"a receive ends with {status}")


def main():
    try:
        Hostile(sys.argv[1], sys.argv[2], int(sys.argv[3])).run()
    except (Wrong, OSError, ValueError, IndexError, struct.error, TypeError) as seen:
        print(f"not as it should be: {type(seen).__name__}: {seen}", flush=True)
        return 1
    print("all attacks were met", flush=True)
    return 0


sys.exit(main())
