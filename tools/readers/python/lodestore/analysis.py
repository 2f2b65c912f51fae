"""The terms of a text, by which an index of texts lists it, and the terms that a query looks up.

See Format.md, "Annex: analysis of texts". The data is that of `text`: Unicode 17.0, whatever Python's version.
"""

import collections
import functools

from . import text as _text

VERSION = 1

Term = collections.namedtuple("Term", "text position range")
Word = collections.namedtuple("Word", "terms whole position range")

_LIMIT, _CUT, _MARK = 120, 117, "\u2026"
_SCALARS, _PARTS, _PIECES = 512, 32, 8
_ATTACHED, _ENDS = {"Extend", "Format", "ZWJ"}, {"CR", "LF", "Newline"}
_LETTERS = {"ALetter", "Hebrew_Letter"}
_APOSTROPHES = {0x22, 0x27, 0x2BB, 0x2BC, 0x5F3, 0x5F4, 0x2018, 0x2019}
_LEFT_OUT = {0x640, 0x115F, 0x2120, 0x2122, 0x3164}
_MADE = {0xE6: "ae", 0xF0: "d", 0xF8: "o", 0xFE: "th", 0x111: "d", 0x127: "h", 0x142: "l", 0x153: "oe", 0x167: "t",
         0x66B: ".", 0x66C: ","}


def _within(text):
    """The scalars of ranges that are separated by spaces."""
    bounds = [[int(bound, 16) for bound in item.split("-")] for item in text.split()]
    return {scalar for first, last in bounds for scalar in range(first, last + 1)}


_WHOLE = _within("E33-E33 EB3-EB3 3131-318E")
_IGNORED = _within(
    "300-74A 7EB-8FF 951-954 135D-135F 180B-180F 1AB0-1AFF 1CD0-1CFF 1DC0-1DFF 200C-20F0 2CEF-2DFF 302A-302F A66F-A69F "
    "A8E0-A8F1 FB1E-FE2F 10EAB-10EFF 1E000-1E08F 1F3FB-1F3FF E0000-E0FFF")
_HANGUL_MARKS = _within("1160-11FF D7B0-D7FB")
_HANGUL = _within("1100-11FF 3131-318E A960-A97C AC00-D7A3 D7B0-D7FB")
_NO_EMOJI = _within("0-2319 25A0-25FF")
_HYPHENS = {0x2D, 0x2010, 0x2011}


def _class(scalar):
    return _text._tables().words.get(scalar, "Other")


def segments(text):
    """The ends of the segments, as indexes of scalars: word boundaries of UAX #29."""
    scalars = [ord(one) for one in text]
    classes = [_class(scalar) for scalar in scalars]
    pictographs = _text._tables().pictographs
    ends, start = [], 0
    while start < len(scalars):
        start = _segment_end(scalars, classes, pictographs, start)
        ends.append(start)
    return ends


def _segment_end(scalars, classes, pictographs, start):
    count = len(scalars)
    before, end, has_pair = classes[start], start + 1, False
    if before in _ENDS:
        return end + (before == "CR" and end < count and classes[end] == "LF")
    while end < count:
        this = classes[end]
        if this in _ATTACHED:
            end += 1
            continue
        after = end + 1
        while after < count and classes[after] in _ATTACHED:
            after += 1
        following = classes[after] if after < count else None
        if classes[end - 1] == "ZWJ" and scalars[end] in pictographs:
            pass
        elif this == "WSegSpace" and classes[end - 1] == "WSegSpace":
            pass
        elif (this in _LETTERS or this == "Numeric") and (before in _LETTERS or before in ("Numeric", "ExtendNumLet")):
            pass
        elif this == "Katakana" and before in ("Katakana", "ExtendNumLet"):
            pass
        elif this == "ExtendNumLet" and (before in _LETTERS or before in ("Numeric", "Katakana", "ExtendNumLet")):
            pass
        elif this == before == "Regional_Indicator" and not has_pair:
            has_pair = True
        elif (before in _LETTERS and this in ("MidLetter", "MidNumLet", "Single_Quote") and following in _LETTERS
              or before == "Numeric" and this in ("MidNum", "MidNumLet", "Single_Quote") and following == "Numeric"
              or before == following == "Hebrew_Letter" and this == "Double_Quote"):
            this, end = following, after
        elif before == "Hebrew_Letter" and this == "Single_Quote":
            pass
        else:
            return end
        before, end = this, end + 1
    return end


def _decomposed(scalar):
    tables = _text._tables()
    parts = None if scalar in _WHOLE else tables.parts.get(scalar) or tables.compat.get(scalar)
    return [made for part in parts for made in _decomposed(part)] if parts else [scalar]


def _is_ignored(scalar):
    kind = _class(scalar)
    return scalar in _LEFT_OUT or kind in ("Format", "ZWJ") or kind == "Extend" and scalar in _IGNORED


def _role(scalar):
    tables, kind = _text._tables(), _class(scalar)
    if kind == "Extend" or scalar in _HANGUL_MARKS:
        return "mark"
    if scalar in _APOSTROPHES:
        return "apostrophe"
    if scalar in tables.digits:
        return "digit"
    if scalar in tables.letters:
        return "character" if kind in ("Other", "Katakana") or scalar in _HANGUL else "letter"
    is_emoji = scalar in tables.pictographs and scalar not in _NO_EMOJI
    return "emoji" if is_emoji or kind == "Regional_Indicator" else "separator"


@functools.lru_cache(maxsize=None)
def _folded(scalar):
    """The scalars that take the place of one, each with its role and case."""
    if scalar in _LEFT_OUT:
        return ()
    tables, made = _text._tables(), []
    for part in _decomposed(scalar):
        if _is_ignored(part):
            continue
        case = "capital" if part in tables.lower else "small" if part in tables.upper else "none"
        mapped = [part]
        for table in (tables.lower, tables.upper, tables.lower):
            mapped = [one for each in mapped for one in table.get(each, (each,))]
        for one in mapped:
            digit = tables.digits.get(one)
            for final in _MADE.get(one, chr(one)) if digit is None else str(digit):
                made.append((final, case))
                case = "none" if case == "none" else "continued"
    composed = _text.nfc("".join(one for one, _ in made))
    cases = [case for _, case in made] + ["none"]
    return tuple((one, _role(ord(one)), cases[index]) for index, one in enumerate(composed))


class _Stretch:
    """A piece, a character or an emoji."""

    def __init__(self, one, source):
        self.text, self.start, self.end = one, source[0], source[1]


class _Part:
    def __init__(self, level, is_digits, dot):
        self.level, self.is_digits, self.dot = level, is_digits, dot
        self.pieces, self.count = [], 0

    text = property(lambda self: "".join(piece.text for piece in self.pieces))
    start = property(lambda self: self.pieces[0].start)
    end = property(lambda self: self.pieces[-1].end)


class _Analysis:
    def __init__(self, text):
        self.text, self.words, self.position = text, [], 0
        self.kind, self.gap, self.place, self.count = None, None, 0, 0
        offsets = [0]
        for one in text:
            offsets.append(offsets[-1] + len(one.encode()))
        start = 0
        for end in segments(text):
            if not self._begin_segment(text[start:end], (offsets[start], offsets[end])):
                for index in range(start, end):
                    self._take_source(ord(text[index]), (offsets[index], offsets[index + 1]))
            start = end
        self._close()

    def _begin_segment(self, segment, source):
        """Handles the open word where a segment begins; true if the segment is the hyphen of a word."""
        if self.kind not in ("word", "emoji") or self.gap == "hyphen":
            return False
        is_hyphen = len(segment) == 1 and ord(segment) in _HYPHENS
        if self.kind == "word" and self.gap is None and self.place == source[0] and is_hyphen:
            self.gap, self.place = "hyphen", source[1]
            return True
        self._close()
        return False

    def _take_source(self, scalar, source):
        adjacent = source[0] == self.place
        made = _folded(scalar)
        if not made:
            if self.kind and self.gap is None and adjacent:
                self._extend(source)
            return
        for index, (one, role, case) in enumerate(made):
            self._take(one, role, case, source, adjacent or index > 0)

    def _extend(self, source):
        self.place = self.last.end = source[1]

    def _take(self, one, role, case, source, adjacent):
        if role in ("letter", "digit"):
            self._take_letter(one, role == "digit", case, source, adjacent)
        elif role == "character":
            if self.kind == "run" and adjacent and self.gap in (None, "dot"):
                self.gap = None
            else:
                self._close()
                self.kind, self.stretches = "run", []
            self._begin_stretch(self.stretches, one, source)
        elif role == "emoji":
            if self.kind == "emoji" and adjacent and self.count < _SCALARS:
                self._append(one, source)
            else:
                self._close()
                self.kind, self.stretches = "emoji", []
                self._begin_stretch(self.stretches, one, source)
        elif role == "mark":
            if self.kind and self.gap is None and adjacent:
                if self.kind == "emoji" or self.count >= _SCALARS:
                    self._extend(source)
                else:
                    self._append(one, source)
        elif self.kind == "emoji" or self.kind == "word" and self.gap == "hyphen":
            self._close()
        elif self.kind == "run":
            if one == "\u30fb" and self.gap is None and adjacent:
                self.gap, self.place = "dot", source[1]
            else:
                self._close()
        elif self.kind == "word":
            self.dot = one == "." or self.gap is not None and self.dot
            self.gap = "apostrophe" if role == "apostrophe" and self.gap in (None, "apostrophe") else "sign"

    def _begin_stretch(self, stretches, one, source, count=0):
        self.last = _Stretch("", source)
        stretches.append(self.last)
        self.count = count
        self._append(one, source)

    def _append(self, one, source):
        self.last.text += one
        self.count += 1
        self._extend(source)

    def _take_letter(self, one, is_digit, case, source, adjacent):
        if self.kind != "word" or not adjacent and self.gap in (None, "hyphen"):
            self._begin_word(one, is_digit, case, source)
            return
        part, gap, self.gap = self.parts[-1], self.gap, None
        is_change = part.is_digits != is_digit
        if gap is None:
            if is_change:
                self._begin_part(2, one, is_digit, case, source)
            elif case == "capital" and self.case == "small":
                self._begin_part(1, one, is_digit, case, source)
            elif self.count >= _SCALARS:
                self._begin_word(one, is_digit, case, source)
            else:
                if case == "small" and self.case == "capital" and self.capitals > 1:
                    self._split()
                self._note(case, source)
                self._append(one, source)
        elif gap == "apostrophe":
            if is_change or len(part.pieces) >= _PIECES or self.count >= _SCALARS:
                self._begin_part(2, one, is_digit, case, source)
            else:
                self._begin_piece(one, case, source, self.count)
        elif gap == "sign":
            both = part.is_digits and is_digit
            self._begin_part(1 if both else 2, one, is_digit, case, source, both and self.dot)
        else:
            self._begin_part(3, one, is_digit, case, source)

    def _begin_word(self, one, is_digit, case, source):
        self._close()
        self.kind, self.parts = "word", []
        self._add_part(3, one, is_digit, case, source, False)

    def _begin_part(self, level, one, is_digit, case, source, dot=False):
        self.parts[-1].count = self.count
        if len(self.parts) >= _PARTS or sum(part.count for part in self.parts) >= _SCALARS:
            self._begin_word(one, is_digit, case, source)
        else:
            self._add_part(level, one, is_digit, case, source, dot)

    def _add_part(self, level, one, is_digit, case, source, dot):
        self.parts.append(_Part(level, is_digit, dot))
        self._begin_piece(one, case, source, 0)

    def _begin_piece(self, one, case, source, count):
        self.case, self.capitals, self.count = "none", 0, count
        piece = self.last = _Stretch("", source)
        self.parts[-1].pieces.append(piece)
        self._note(case, source)
        self._append(one, source)

    def _note(self, case, source):
        if case == "continued":
            return
        self.capitals = self.capitals + 1 if case == "capital" else 0
        if case == "capital":
            # A character such as U+3394, THz, has letters of two parts.
            self.capital = (len(self.last.text), source[0], max(source[0], self.last.end), self.count)
        self.case = case

    def _split(self):
        """Makes the last capital the beginning of a part."""
        index, start, end, count = self.capital
        piece, part = self.last, self.parts[-1]
        part.count = count
        self.last = _Stretch(piece.text[index:], (start, piece.end))
        piece.text, piece.end = piece.text[:index], end
        self.parts.append(_Part(1, False, False))
        self.parts[-1].pieces.append(self.last)
        self.count -= count
        self.capitals = 0

    def _close(self):
        kind, self.kind, self.gap = self.kind, None, None
        if kind == "word":
            for part in self.parts:
                for piece in part.pieces:
                    piece.text = _text.nfc(piece.text)
            self._add_word(self.parts)
        elif kind:
            for stretch in self.stretches:
                stretch.text = _text.nfc(stretch.text)
            if kind == "run":
                self._add_run(self.stretches)
            else:
                one = self.stretches[0]
                self._add([[(one.text, one)]], [one.text], None, one.start, one.end)

    def _add(self, positions, terms, whole, start, end):
        """Adds a word: for each position the terms with their sources, and the terms that a query looks up."""
        listed = []
        for offset, found in enumerate(positions):
            known = set()
            for text, source in found:
                text = _cut(text)
                if text not in known:
                    known.add(text)
                    listed.append(Term(text, self.position + offset, (source.start, source.end)))
        word = Word([_cut(term) for term in terms], whole and _cut(whole), self.position, (start, end))
        self.words.append((word, listed))
        self.position += len(positions)

    def _add_run(self, run):
        positions = []
        for index, one in enumerate(run):
            found = [(one.text, one)]
            if index + 1 < len(run):
                following = run[index + 1]
                found.append((one.text + following.text, _Stretch("", (one.start, following.end))))
            positions.append(found)
        terms = [found[-1][0] for found in positions[:-1]] or [run[0].text]
        self._add(positions, terms, None, run[0].start, run[-1].end)

    def _add_word(self, parts):
        positions = [[] for _ in parts]
        for level in (3, 2, 1):
            first = 0
            while first < len(parts):
                last = first
                while last + 1 < len(parts) and parts[last + 1].level <= level:
                    last += 1
                if any(part.level == level for part in parts[first + 1:last + 1]):
                    group = _group(parts[first:last + 1])
                    positions[first].append(group)
                    positions[last].append(group)
                first = last + 1
        for part, found in zip(parts, positions):
            found.append((part.text, part))
            if len(part.pieces) > 1:
                found += [(piece.text, piece) for piece in part.pieces]
        whole = _group(parts)[0] if len(parts) > 1 else None
        self._add(positions, [part.text for part in parts], whole, parts[0].start, parts[-1].end)


def _group(parts):
    text = "".join(("." if index and part.dot else "") + part.text for index, part in enumerate(parts))
    return text, _Stretch("", (parts[0].start, parts[-1].end))


def _cut(term):
    data = term.encode()
    return term if len(data) <= _LIMIT else data[:_CUT].decode(errors="ignore") + _MARK


def terms(text):
    """The terms of a text in the order of positions. Ranges are in bytes of UTF-8."""
    return [term for _, listed in _Analysis(text).words for term in listed]


def query(text):
    """The words of a query: their terms, the group of all parts or `None`, the position and the range."""
    return [word for word, _ in _Analysis(text).words]
