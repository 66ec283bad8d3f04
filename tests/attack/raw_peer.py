"""A peer made of raw sockets and bytes, for tests that send what no honest process does: identities and their signed
greetings, worker addresses, remote keys and frames of tcp. Used by tests/attacks."""
import hashlib
import struct

# Ed25519 (RFC 8032), as short as a test may have it.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    e, f = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    g, h = 2 * t1 * t2 * D, 2 * z1 * z2
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point):
    total = (0, 1, 1, 0)
    while n:
        total = add(total, point) if n & 1 else total
        point, n = add(point, point), n >> 1
    return total


def encode(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    return ((y * inverse % P) | (x * inverse % P & 1) << 255).to_bytes(32, "little")


BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE_Y = 46316835694926478169428394003475163141307993866256225615783033603165251855960
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)
# Of the interface, among those of its process.
NUMBER = 7


def digest(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Identity:
    def __init__(self, rng):
        h = hashlib.sha512(rng.randbytes(32)).digest()
        self.scalar = int.from_bytes(h[:32], "little") & ((1 << 254) - 8) | 1 << 254
        self.prefix, self.key = h[32:], encode(times(self.scalar, BASE))
        self.id = max(1, struct.unpack_from("<Q", hashlib.sha512(self.key + struct.pack("<I", NUMBER)).digest())[0])

    def sign(self, message):
        r = digest(self.prefix, message) % L
        point = encode(times(r, BASE))
        return point + ((r + digest(point, self.key, message) * self.scalar) % L).to_bytes(32, "little")

    def hello(self, to, attempt=1, max_am=8200, forged=False):
        body = struct.pack("<4sHBBQQII", b"fxtc", 3, 0, 0, to, attempt, max_am, NUMBER) + self.key
        signature = bytes(64) if forged else self.sign(body)
        return frame(0x40, body + signature)


def crc16(data):
    crc = 0xffff
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021) & 0xffff if crc & 0x8000 else crc << 1 & 0xffff
    return crc


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 if crc & 1 else crc >> 1
    return crc ^ 0xffffffff


VERSION = 9


def seal(body, before=b""):
    """A blob with our head between what stands before it and the body."""
    length = len(before) + 8 + len(body)
    low, high = length & 255, length >> 8
    mark = 0xfc ^ low ^ ((high << 3 | high >> 5) & 255)
    begin = before + struct.pack("<HBB", length, mark, VERSION)
    return begin + struct.pack("<I", crc32c(begin + body)) + body


def devices(data):
    """What devices without transports hold together. Behind them are devices as upstream knows them."""
    found = b""
    while data and data[0] == 0x9f:
        length = data[1] & 0x1f
        found, data = found + data[2:2 + length], data[2 + length:]
    return found


class Address:
    """A worker's address as applications get it: its number and its entries, each of a transport, the addresses of its
    device and interface, and its memory domain."""

    def __init__(self, data):
        if data[0] != 0x20 or seal(data[19:], data[:11]) != data:
            raise SystemExit("the format of worker addresses has changed")
        self.uuid, = struct.unpack_from("<Q", data, 1)
        body = devices(data[9:])[8:]
        count, at, self.entries = body[0], 1, []
        device = iface = b""
        for _ in range(count):
            transport, domain, device_length, iface_length = body[at:at + 4]
            at += 4
            # A bit of a length: the device is that of the entry before, the interface's address ends as that does.
            if device_length & 128 == 0:
                device = body[at:at + device_length]
                at += device_length
            end = iface[-16:] if iface_length & 128 else b""
            own = (iface_length & 127) - len(end)
            iface = body[at:at + own] + end
            at += own
            self.entries.append((transport, device, iface, domain))
        self.device, self.iface, self.domain = next(e[1:] for e in self.entries if e[0] == 4)
        self.port, self.id = struct.unpack_from("<HQ", self.iface, 1)


def packed(uuid, entries):
    words = [struct.pack("BBBB", t, domain, len(d), len(i)) + d + i for t, d, i, domain in entries]
    return seal(struct.pack("<QB", uuid, len(entries)) + b"".join(words))


def frame(kind, body=b""):
    return struct.pack("<B3xI", kind, len(body)) + body


def wireup(uuid, ep, serial, entries, ticket=0):
    return frame(1, struct.pack("<QQIBQ", uuid, ep, serial, 0, ticket) + packed(uuid, entries))


def welcome(attempt=0, max_am=8200):
    return frame(0x41, struct.pack("<4sHHQI", b"fxtc", 3, 0, attempt, max_am))


def address_of(uuid, entries):
    """A worker's address as applications exchange it."""
    words = [struct.pack("BBBB", t, domain, len(d), len(i)) + d + i for t, d, i, domain in entries]
    body = bytes([len(entries)]) + b"".join(words)
    # The head stands in front of the body, both in devices of at most 31 bytes without transports.
    inner = bytes(8) + body
    outside = struct.pack("<BQ", 0x20, uuid)
    for at in range(0, len(inner), 31):
        part = inner[at:at + 31]
        last = 0x80 if at + 31 >= len(inner) else 0
        outside += bytes([0x9f, len(part) | last]) + part
    return seal(outside[19:], outside[:11])


def mem_key(kind, serial, owner, base, length, version=3):
    """The shared-memory domain's key of a segment: 1 posix, 2 sysv; `owner` is the encoded name of a process."""
    key = bytearray(struct.pack("<BBHI", version, kind, 0, serial) + owner + struct.pack("<QQ", base, length))
    struct.pack_into("<H", key, 2, crc16(bytes(key[:2] + key[4:])))
    return bytes(key)


def rkey(context, region, base, length, keys, uses=3):
    words = [struct.pack("BBB", component, domain, len(key)) + key for component, domain, key in keys]
    sizes = [(number.bit_length() + 7) // 8 for number in (base, length)]
    place = bytes([sizes[0] | sizes[1] << 4]) + base.to_bytes(sizes[0], "little") + length.to_bytes(sizes[1], "little")
    return seal(struct.pack("<QQ", context, region) + place + bytes([uses << 5, len(keys)]) + b"".join(words))


def rts(uuid, ep, request, total, address, key=b"", guard=(0, 0), guard_key=b"", kind=2, inner=struct.pack("<Q", 7)):
    head = struct.pack("<QQQQQQQHHB", uuid, ep, request, total, address, *guard, len(key), len(guard_key), kind)
    return frame(6, head + key + guard_key + inner)


def extents(places):
    """What stands behind the key of a list: addresses and lengths."""
    return b"".join(struct.pack("<QQ", address, length) for address, length in places)


def rtr(request, receiver, length, address, uuid, ep, key=b""):
    return frame(7, struct.pack("<QQQQQQ", request, receiver, length, address, uuid, ep) + key)


def frames_of(data):
    """The whole frames in `data`: kinds and bodies."""
    at = 0
    while len(data) - at >= 8:
        kind, length = struct.unpack_from("<B3xI", data, at)
        if len(data) - at < 8 + length:
            return
        yield kind, data[at + 8:at + 8 + length]
        at += 8 + length
