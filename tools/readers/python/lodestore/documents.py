"""Documents: self-describing values. See Format.md, "Documents" and "Attribute types"."""

import datetime
import decimal
import struct
import uuid

Decimal = decimal.Decimal
EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
DEEPEST = 128

# The number of digits of a significand of 128 bits.
_EXACT = decimal.Context(prec=60, Emin=-99999, Emax=99999)


class DocumentError(Exception):
    """The bytes are not a document of this format."""


def date(seconds):
    """The date in UTC for seconds since 2001; the seconds themselves if Python has no such date."""
    try:
        return EPOCH + datetime.timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return seconds


def decimal_value(data):
    """A decimal of 19 bytes."""
    kind, exponent = struct.unpack_from("<Bh", data)
    significand = int.from_bytes(data[3:19], "little")
    if kind == 2 and exponent == 0 and significand == 0:
        return Decimal("NaN")
    if kind > 1 or not -16384 <= exponent <= 16383:
        raise DocumentError("a decimal is none")
    if significand % 10 == 0 and (significand or kind or exponent):
        raise DocumentError("a decimal has zeros at its end")
    return Decimal((kind, Decimal(significand).as_tuple().digits, exponent))


def scalar_count(data, offset):
    value, shift = 0, 0
    for index in range(10):
        if offset + index >= len(data):
            raise DocumentError("a number goes beyond the document")
        byte = data[offset + index]
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            if value >= 1 << 64 or (index > 0 and byte == 0):
                raise DocumentError("a number is not in its shortest form, or beyond 64 bits")
            return value, offset + index + 1
        shift += 7
    raise DocumentError("a number is longer than 10 bytes")


def decode(data):
    """The value of a whole document.

    Null is None; data bytes; a date a datetime in UTC; a UUID a uuid.UUID; a decimal a decimal.Decimal.
    """
    value, end = _value(memoryview(data), 0, 0)
    if end != len(data):
        raise DocumentError(f"there are {len(data) - end} bytes behind the document")
    return value


def _take(data, offset, count):
    if count > len(data) - offset:
        raise DocumentError("a value goes beyond the document")
    return data[offset : offset + count], offset + count


def _text(data, offset):
    count, offset = scalar_count(data, offset)
    text, offset = _take(data, offset, count)
    try:
        return str(text, "utf-8"), offset
    except UnicodeDecodeError as error:
        raise DocumentError("a text is not UTF-8") from error


def _value(data, offset, depth):
    code, offset = _take(data, offset, 1)
    code = code[0]
    if code <= 2:
        return (None, False, True)[code], offset
    if code in (3, 4):
        number, offset = scalar_count(data, offset)
        if code == 3:
            return number >> 1 ^ -(number & 1), offset
        if number < 1 << 63:
            raise DocumentError("an integer has the code of larger ones")
        return number, offset
    if code in (5, 8):
        number, offset = _take(data, offset, 8)
        number = struct.unpack("<d", number)[0]
        return (number if code == 5 else date(number)), offset
    if code == 6:
        return _text(data, offset)
    if code == 7:
        count, offset = scalar_count(data, offset)
        found, offset = _take(data, offset, count)
        return bytes(found), offset
    if code == 9:
        found, offset = _take(data, offset, 16)
        return uuid.UUID(bytes=bytes(found)), offset
    if code == 10:
        found, offset = _take(data, offset, 19)
        return decimal_value(bytes(found)), offset
    if code in (12, 13):
        return _container(data, offset, depth + 1, code == 13)
    raise DocumentError(f"document code {code:02x} is not known")


def _container(data, offset, depth, is_object):
    if depth > DEEPEST:
        raise DocumentError(f"arrays and objects are nested more than {DEEPEST} deep")
    head, offset = _take(data, offset, 8)
    length, count = struct.unpack("<II", head)
    end = offset - 4 + length
    if length < 4 or end > len(data) or count > length:
        raise DocumentError("an array or object goes beyond the document")
    inner = data[:end]
    array, members, last = [], {}, None
    for _ in range(count):
        if is_object:
            start = offset
            name, offset = _text(inner, offset)
            key = name.encode("utf-8")
            if last is not None and key <= last:
                raise DocumentError(f"member '{name}' at {start} is not behind the one before it")
            last = key
            members[name], offset = _value(inner, offset, depth)
        else:
            item, offset = _value(inner, offset, depth)
            array.append(item)
    if offset != end:
        raise DocumentError("an array or object has another length than its values")
    return (members if is_object else array), end
