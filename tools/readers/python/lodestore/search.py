"""Search indexes: their postings, and the best matches by BM25. See Format.md, "Search indexes"."""

import heapq
import math
import struct

from . import analysis
from .pages import DamagedFile


class Posting:
    """A term in one record: the record's `id`, the weighted `frequency`, and `positions` by number of the source."""

    def __init__(self, record_id, frequency, positions):
        self.id, self.frequency, self.positions = record_id, frequency, positions


def postings(body, weights, form):
    """The postings of a block in form 1 or 2, of an index whose sources have these weights."""
    bits = int.from_bytes(body, "little")
    offset = 0

    def byte():
        nonlocal offset
        if offset >= len(body):
            raise DamagedFile("a block of postings ends too early")
        offset += 1
        return body[offset - 1]

    def varint():
        number = shift = 0
        while True:
            one = byte()
            number |= (one & 127) << shift
            shift += 7
            if one < 128:
                return number

    def packed(count):
        nonlocal offset
        width = byte()
        start = offset * 8
        offset += (count * width + 7) // 8
        return [bits >> start + index * width & (1 << width) - 1 for index in range(count)]

    first = byte()
    count = (first & 127) + 1
    if first & 128:
        varint()
    ids = [varint()]
    if count >= 33:
        for _ in range(byte()):
            varint()
            byte()
    for gap in packed(count - 1) if count > 1 else []:
        ids.append(ids[-1] + gap + 1)
    frequencies = [number + 1 for number in packed(count)] if form == 1 or len(weights) > 1 else None
    sizes = packed(count) if count > 1 else [len(body) - offset]
    # The numbers that say the positions of each posting.
    numbers = []
    if form == 1 or count == 1:
        for size in sizes:
            end = offset + size
            numbers.append([])
            while offset < end:
                numbers[-1].append(varint())
    else:
        every = packed(sum(sizes) + count)
        for size in sizes:
            numbers.append(every[: size + 1])
            del every[: size + 1]
    if offset != len(body):
        raise DamagedFile("a block of postings has positions of another size")
    found = []
    for index, record_id in enumerate(ids):
        rest = numbers[index][::-1]
        positions = {}
        while rest:
            number, source = divmod(rest.pop(), len(weights)) if len(weights) > 1 else (len(rest), 0)
            if not 0 < number <= len(rest):
                raise DamagedFile("a block of postings has a source with other positions")
            places = [rest.pop()]
            while len(places) < number:
                places.append(places[-1] + 1 + rest.pop())
            positions[source] = places
        frequency = frequencies[index] if frequencies else len(numbers[index]) * weights[0]
        found.append(Posting(record_id, frequency, positions))
    return found


class SearchIndex:
    """The words of texts. `sources` are the names and weights of the texts, `form` is that of the postings."""

    def __init__(self, pages, tree, sources, form):
        self._pages, self._tree, self.sources, self._form = pages, tree, sources, form
        found = pages.get(tree, b"\0\1")
        self.record_count, self.word_count = struct.unpack("<QQ", found) if found else (0, 0)
        self._lengths = {}

    def __repr__(self):
        return f"SearchIndex({', '.join(name for name, _ in self.sources)})"

    def length(self, record_id):
        """The number of words of a record; 0 if it has none."""
        chunk, place = divmod(record_id, 512)
        if chunk not in self._lengths:
            body = self._pages.get(self._tree, b"\0\2" + struct.pack(">Q", chunk)) or b""
            self._lengths[chunk] = struct.unpack(f"<{len(body) // 2}H", body)
        known = self._lengths[chunk]
        return known[place] if place < len(known) else 0

    def postings(self, term):
        """The postings of a term, in the order of ids."""
        start = term.encode() + b"\0"
        found = []
        for key, body, _ in self._pages.walk(self._tree, start, start + b"\xff\xff"):
            if key.startswith(start):
                found += postings(bytes(body), [weight for _, weight in self.sources], self._form)
        self._pages.check_commit()
        return found

    def terms(self, prefix=""):
        """The terms that begin with a prefix, with the number of records of each, in the order of their bytes."""
        start = prefix.encode()
        counts = {}
        for key, body, _ in self._pages.walk(self._tree, max(start, b"\1"), start + b"\xff"):
            key = bytes(key)
            if key.startswith(start):
                term = key[: key.index(0)].decode()
                counts[term] = counts.get(term, 0) + (body[0] & 127) + 1
        return counts

    def scores(self, terms, any_of=False):
        """The score of each record that has all of the terms, or with `any_of` one of them."""
        mean = max(1, self.word_count / max(1, self.record_count))
        scores, counts = {}, {}
        for term in terms:
            postings = self.postings(term)
            weight = math.log(1 + (self.record_count - len(postings) + 0.5) / (len(postings) + 0.5))
            for one in postings:
                norm = 1.2 * (0.25 + 0.75 * self.length(one.id) / mean)
                scores[one.id] = scores.get(one.id, 0) + weight * (one.frequency * 2.2 / (one.frequency + norm))
                counts[one.id] = counts.get(one.id, 0) + 1
        return {one: score for one, score in scores.items() if any_of or counts[one] == len(terms)}

    def best(self, text, count=10, any_of=False):
        """The best matches of words as (score, id); of equal scores, the lower id comes first.

        The words of the text are single terms: phrases, beginnings and exclusions have no meaning here.
        """
        terms = [term for word in analysis.query(text) for term in word.terms]
        found = self.scores(terms, any_of)
        best = heapq.nsmallest(count, ((-score, one) for one, score in found.items()))
        return [(-score, one) for score, one in best]
