"""Index keys: tuples whose bytes have the order of their values. See Format.md, "Index keys"."""

import datetime
import decimal
import hashlib
import math
import struct
import uuid

from . import text
from .documents import EPOCH

LONGEST = 479
_KEPT = 463


def _integer(number):
    size = (abs(number).bit_length() + 7) // 8
    if number >= 0:
        return bytes([0x14 + size]) + number.to_bytes(size, "big")
    return bytes([0x14 - size]) + ((1 << 8 * size) - 1 + number).to_bytes(size, "big")


def _ordered(number):
    if math.isnan(number):
        bits = 0x7FF8000000000000
    else:
        bits = struct.unpack(">Q", struct.pack(">d", number + 0.0))[0]
    return struct.pack(">Q", bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63))


def _decimal(number):
    if number.is_nan():
        return b"\x40\x04"
    sign, digits, exponent = number.as_tuple()
    while digits and digits[-1] == 0:
        digits, exponent = digits[:-1], exponent + 1
    if not digits:
        return b"\x40\x02"
    body = struct.pack(">H", 32768 + exponent + len(digits)) + bytes(one + 1 for one in digits) + b"\0"
    return b"\x40\x01" + bytes(255 - one for one in body) if sign else b"\x40\x03" + body


def _escaped(code, data):
    return bytes([code]) + data.replace(b"\0", b"\0\xff") + b"\0"


def element(kind, value):
    """The element of one value of an attribute of the type `kind`; None is null."""
    if value is None:
        return b"\0"
    if kind == "bool":
        return b"\x27" if value else b"\x26"
    if kind in ("float", "double"):
        return b"\x21" + _ordered(value)
    if kind == "date":
        seconds = (value - EPOCH) / datetime.timedelta(seconds=1) if isinstance(value, datetime.datetime) else value
        return b"\x33" + _ordered(seconds)
    if kind == "uuid":
        return b"\x30" + (value if isinstance(value, uuid.UUID) else uuid.UUID(value)).bytes
    if kind == "decimal":
        return _decimal(decimal.Decimal(value))
    if kind in ("string", "url"):
        return _escaped(2, text.nfc(value).encode("utf-8"))
    if kind == "data":
        return _escaped(1, bytes(value))
    if kind == "id" or kind.startswith(("int", "uint")):
        return _integer(value)
    raise KeyError(f"attributes of type {kind} cannot be indexed")


def whole(kinds, values):
    """The tuple of values, of any length."""
    return b"".join(map(element, kinds, values))


def cut(key):
    """A tuple in the form of an index. The end of one that is too long is replaced by a digest."""
    return key if len(key) <= LONGEST else key[:_KEPT] + b"\xff" + hashlib.sha256(key).digest()[:16]
