"""Codes and blocks of vectors. See Format.md, "Codes of vectors" and "Blocks of vectors"."""

import math
import struct

_WORD = (1 << 64) - 1
SIGNS, LEVELS, GROUPS, LISTS, LISTED_SIGNS = range(5)


def _word(number):
    z = (number + 1) * 0x9E3779B97F4A7C15 & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31


def _float(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def width(dimensions):
    return max(64, (dimensions + 63) // 64 * 64)


def span(part, dimensions):
    size = width(dimensions) // (8 if part in (SIGNS, LISTED_SIGNS) else 1) + 6
    return max(1, 12_272 // size)


def rotated(vector):
    """The vector in rotated axes."""
    count = width(len(vector))
    part = 1 << (count.bit_length() - 1)
    factor = 1 / math.sqrt(part)
    numbers = [float(number) for number in vector] + [0.0] * (count - len(vector))
    for turn in range(4):
        for i in range(count):
            if _word(turn * count // 64 + i // 64) >> i % 64 & 1:
                numbers[i] = -numbers[i]
        start = 0 if turn % 2 == 0 else count - part
        half = 1
        while half < part:
            for first in range(start, start + part, 2 * half):
                for i in range(first, first + half):
                    a, b = numbers[i], numbers[i + half]
                    numbers[i], numbers[i + half] = a + b, a - b
            half *= 2
        for i in range(start, start + part):
            numbers[i] *= factor
    return numbers


def code(vector):
    """The norm, the scale, the signs and the levels of a vector; None for one that has no code."""
    total = 0.0
    for number in vector:
        total += float(number) * float(number)
    if not math.isfinite(total) or math.sqrt(total) >= 3.4028235677973366e38:
        return None
    numbers = rotated(vector)
    scale = _float(max(abs(number) for number in numbers) / 127)
    signs = bytearray(len(numbers) // 8)
    for i, number in enumerate(numbers):
        if number >= 0:
            signs[i // 8] |= 1 << i % 8
    levels = bytes(
        (0 if scale == 0 else min(max(math.floor(number / scale + 0.5), -127), 127)) & 0xFF
        for number in numbers)
    return _float(math.sqrt(total)), scale, bytes(signs), levels


def centroids(pairs, dimensions):
    """The levels and factors of the groups, and of the lists, given by the pairs of an index."""
    found, size = ([], []), width(dimensions)
    for key in sorted(pairs):
        if key[0] in (GROUPS, LISTS):
            body = pairs[key]
            count = len(body) // (size + 6)
            factors = struct.unpack_from(f"<{count}f", body, count * size)
            for i in range(count):
                found[key[0] - GROUPS].append((body[i * size:(i + 1) * size], factors[i]))
    return found


def _levels(code_bytes):
    return struct.unpack(f"{len(code_bytes)}b", code_bytes)


def _nearest(levels, choices):
    best, highest = 0, -math.inf
    for i, (own, factor) in enumerate(choices):
        score = float(sum(a * b for a, b in zip(_levels(own), levels))) * factor
        if score > highest:
            best, highest = i, score
    return best


def list_of(levels, groups, lists):
    """The number of the list of a vector, given by the bytes of its levels."""
    levels = _levels(levels)
    first = _nearest(levels, groups) * len(groups)
    return first + _nearest(levels, lists[first:first + len(groups)])


def blocks(vectors, dimensions, groups=(), lists=()):
    """The pairs of the index of the vectors, given by record ids, without those of centroids."""
    found = {}
    for record_id in sorted(vectors):
        made = code(vectors[record_id])
        if made is None:
            continue
        norm, scale, signs, levels = made
        block, offset = divmod(record_id, span(LEVELS, dimensions))
        found.setdefault(bytes([LEVELS]) + block.to_bytes(8, "big"), []).append((levels, scale, offset))
        if not groups:
            block, offset = divmod(record_id, span(SIGNS, dimensions))
            key = bytes([SIGNS]) + block.to_bytes(8, "big")
        else:
            section, offset = divmod(record_id, 1 << 16)
            key = struct.pack(">BH", LISTED_SIGNS, list_of(levels, groups, lists)) + section.to_bytes(6, "big")
            run = 0
            while len(found.get(key + run.to_bytes(2, "big"), ())) == span(SIGNS, dimensions):
                run += 1
            key += run.to_bytes(2, "big")
        found.setdefault(key, []).append((signs, norm, offset))
    return {
        key: b"".join(one[0] for one in rows)
        + b"".join(struct.pack("<f", one[1]) for one in rows)
        + b"".join(struct.pack("<H", one[2]) for one in rows)
        for key, rows in found.items()
    }
