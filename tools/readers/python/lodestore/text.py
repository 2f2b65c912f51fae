"""Text in the form of index keys and derived attributes: Unicode 17.0, whatever Python's own version.

See Format.md, "Annex: data of Unicode", and the file that it names.
"""

import functools
import os

_NAME = "Format-Unicode-17.0.txt"
_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7
_SYLLABLES = range(_S, _S + 11172)


class _Tables:
    def __init__(self):
        self.classes, self.parts, self.pairs = {}, {}, {}
        self.lower, self.upper, self.marks = {}, {}, set()
        # For the analysis of texts.
        self.compat, self.words, self.digits, self.letters, self.pictographs = {}, {}, {}, set(), set()
        here = os.path.dirname(os.path.abspath(__file__))
        # A copied package has the file in its own folder; otherwise it is in the project's folder.
        places = (here, os.path.join(here, "..", "..", "..", ".."))
        path = next((p for p in (os.path.join(place, _NAME) for place in places) if os.path.exists(p)), _NAME)
        with open(path, encoding="ascii") as file:
            for line in file:
                if not line.startswith("#") and line.strip():
                    self._take(line.split())

    def _take(self, words):
        bounds = [int(word, 16) for word in words[1].split("..")]
        scalars = range(bounds[0], bounds[-1] + 1)
        if words[0] == "class":
            self.classes.update(dict.fromkeys(scalars, int(words[2])))
        elif words[0] in ("mark", "letter", "pictograph"):
            getattr(self, words[0] + "s").update(scalars)
        elif words[0] == "word":
            self.words.update(dict.fromkeys(scalars, words[2]))
        elif words[0] == "digit":
            self.digits.update((scalar, (scalar - bounds[0]) % 10) for scalar in scalars)
        else:
            result = tuple(int(word, 16) for word in words[2:])
            if words[0] in ("lower", "upper", "compat"):
                getattr(self, words[0])[bounds[0]] = result
            else:
                self.parts[bounds[0]] = result
                if words[0] == "pair":
                    self.pairs[result] = bounds[0]


@functools.lru_cache(maxsize=None)
def _tables():
    return _Tables()


def _decompose(scalar, parts, result):
    if scalar in _SYLLABLES:
        index = scalar - _S
        result += [_L + index // 588, _V + index % 588 // 28]
        if index % 28:
            result.append(_T + index % 28)
    elif scalar in parts:
        for part in parts[scalar]:
            _decompose(part, parts, result)
    else:
        result.append(scalar)


def _nfd(scalars):
    tables, result = _tables(), []
    for scalar in scalars:
        _decompose(scalar, tables.parts, result)
    classes, start = tables.classes, 0
    while start < len(result):
        end = start
        while end < len(result) and result[end] in classes:
            end += 1
        result[start:end] = sorted(result[start:end], key=classes.get)
        start = end + 1
    return result


def _composite(first, second, pairs):
    if _L <= first < _L + 19 and _V <= second < _V + 21:
        return _S + ((first - _L) * 21 + second - _V) * 28
    if first in _SYLLABLES and (first - _S) % 28 == 0 and _T < second < _T + 28:
        return first + second - _T
    return pairs.get((first, second))


def _nfc(scalars):
    tables, result, starter, last = _tables(), [], None, 0
    for scalar in _nfd(scalars):
        number = tables.classes.get(scalar, 0)
        is_next = starter == len(result) - 1
        if starter is not None and (is_next or 0 < last < number):
            made = _composite(result[starter], scalar, tables.pairs)
            if made is not None:
                result[starter] = made
                continue
        if number == 0:
            starter = len(result)
        result.append(scalar)
        last = number
    return result


def _scalars(text):
    return [ord(one) for one in text]


def _text(scalars):
    return "".join(map(chr, scalars))


def _mapped(scalars, table):
    return [made for scalar in scalars for made in table.get(scalar, (scalar,))]


def nfd(text):
    """The text in Normalization Form D."""
    return text if text.isascii() else _text(_nfd(_scalars(text)))


def nfc(text):
    """The text in Normalization Form C, the form in index keys."""
    return text if text.isascii() else _text(_nfc(_scalars(text)))


def uppercase(text):
    """The text of a derived attribute of the kind `uppercase`."""
    return _text(_mapped(_scalars(text), _tables().upper))


def lowercase(text):
    """The text of a derived attribute of the kind `lowercase`."""
    return _text(_mapped(_scalars(text), _tables().lower))


def canonical(text):
    """The text of a derived attribute of the kind `canonical`: without case and marks."""
    tables = _tables()
    bare = [scalar for scalar in _nfd(_scalars(text)) if scalar not in tables.marks]
    for table in (tables.lower, tables.upper, tables.lower):
        bare = _mapped(bare, table)
    return _text(_nfc(bare))
