"""LMDB's files of a 64-bit little-endian machine, of LMDB 0.9 and of LMDB 1.0, read with plain calls.

See Format.md, "LMDB's pages". Nothing in the file is believed: every number is checked before it is used,
and a page is visited once.
"""

import os
import struct

MAGIC = 0xBEEFC0DE
NO_PAGE = (1 << 64) - 1
BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8
LARGE, TREE = 1, 2
DEEPEST = 32


class Format:
    """The differences between files of LMDB 0.9 (data version 1) and of LMDB 1.0 (data version 3)."""

    def __init__(self, version, header, origin, reference, largest_page):
        self.version = version
        # The size of a page's header; the meta fields follow it.
        self.header = header
        # The offset from which offsets in a page are counted.
        self.origin = origin
        # The number of bytes in a leaf for a value in overflow pages.
        self.reference = reference
        self.largest_page = largest_page
        self.meta_size = header + 136

    def value_start(self, key_end, key_size):
        """The start of a value, which in files of LMDB 1.0 is at an even offset."""
        return key_end + (key_size & 1 if self.version == 3 else 0)

    def tree_name(self, key):
        """The name of a tree: LMDB 1.0 adds a zero byte."""
        return key[:-1] if self.version == 3 and key.endswith(b"\0") else key


FORMATS = (Format(1, 16, 0, 8, 32768), Format(3, 24, 24, 24, 65536))


class NotAStore(Exception):
    """The file is not a Lodestore file."""


class DamagedFile(Exception):
    """The file has bytes that no program can have written; the message names the place."""


class Overtaken(Exception):
    """Other processes have written so much that the commit being read no longer exists; open the file again."""


class Tree:
    """LMDB's record of a tree: 48 bytes."""

    def __init__(self, data):
        _, self.flags, self.depth, _, _, _, self.entries, self.root = struct.unpack("<IHHQQQQQ", data)


class Pages:
    """The pages of the newest commit."""

    def __init__(self, path):
        self.path = str(path)
        flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        self.descriptor = os.open(self.path, flags)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self):
        metas = self._metas()
        newest = max(metas, key=lambda meta: meta[0])
        self.transaction, self.last_page, self.main = newest

    def close(self):
        """Closes the file; the second time it does nothing."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def _metas(self):
        first = self._read(0, 160)
        for form in FORMATS:
            if len(first) >= form.meta_size and struct.unpack_from("<I", first, form.header)[0] == MAGIC:
                self.format = form
                break
        else:
            raise NotAStore(f"{self.path}: it is no LMDB file of a 64-bit little-endian machine")
        header = form.header
        version = struct.unpack_from("<I", first, header + 4)[0]
        if version != form.version:
            raise NotAStore(f"{self.path}: its LMDB data version is {version}, must be {form.version}")
        self.page_size = struct.unpack_from("<I", first, header + 24)[0]
        if not 512 <= self.page_size <= form.largest_page or self.page_size & (self.page_size - 1):
            raise DamagedFile(f"{self.path}: the page size is {self.page_size}")
        second = self._read(self.page_size, form.meta_size)
        metas = []
        for number, data in enumerate((first, second)):
            if len(data) < form.meta_size or struct.unpack_from("<II", data, header) != (MAGIC, version):
                raise DamagedFile(f"{self.path}: meta page {number} is no meta page")
            last_page, transaction = struct.unpack_from("<QQ", data, header + 120)
            metas.append((transaction, last_page, Tree(data[header + 72 : header + 120])))
        return metas

    def size(self):
        """The number of bytes of the file."""
        return os.fstat(self.descriptor).st_size

    def check_commit(self):
        """Raises Overtaken if the pages of the commit may have been overwritten.

        A commit leaves the pages of the two before it alone.
        """
        if max(meta[0] for meta in self._metas()) > self.transaction + 1:
            raise Overtaken(f"{self.path}: it was written while it was read; open it again")

    def _read(self, offset, count):
        parts = []
        while count > 0:
            part = os.pread(self.descriptor, count, offset)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            count -= len(part)
        return b"".join(parts)

    def damaged(self, number, reason):
        self.check_commit()
        return DamagedFile(f"{self.path}: page {number} {reason}; see 'kvdump verify'")

    def _page(self, number, seen):
        if not 2 <= number <= self.last_page or number in seen:
            raise self.damaged(number, "is reached twice, or is not in the file")
        # The file states the number of its last page, which may be larger than any file.
        if (number + 1) * self.page_size > self.size():
            raise self.damaged(number, "is beyond the end of the file")
        seen.add(number)
        page = self._read(number * self.page_size, self.page_size)
        if len(page) < self.page_size or struct.unpack_from("<Q", page)[0] != number:
            raise self.damaged(number, "is not there, or is another")
        return page

    def _nodes(self, page, number):
        header, origin = self.format.header, self.format.origin
        lower, upper = (origin + number for number in struct.unpack_from("<HH", page, header - 4))
        if not header <= lower <= upper <= self.page_size or lower & 1:
            raise self.damaged(number, f"has its free space at {lower} to {upper}")
        for slot in range(header, lower, 2):
            offset = origin + struct.unpack_from("<H", page, slot)[0]
            if offset < upper or offset + 8 > self.page_size:
                raise self.damaged(number, f"has a node at {offset}")
            value, node_flags, key_size = struct.unpack_from("<IHH", page, offset)
            end = offset + 8 + key_size
            if end > self.page_size:
                raise self.damaged(number, "has a key that goes beyond it")
            yield value, node_flags, page[offset + 8 : end], self.format.value_start(end, key_size)

    def walk(self, tree, low=None, high=None, integer_keys=False):
        """The pairs of `tree` with low <= key < high, in the order of the keys."""
        if tree.root != NO_PAGE:
            if not 1 <= tree.depth <= DEEPEST:
                raise self.damaged(tree.root, f"is the root of a tree of depth {tree.depth}")
            yield from self._walk(tree.root, tree.depth, low, high, integer_keys, set())

    def _walk(self, number, depth, low, high, integer_keys, seen):
        page = self._page(number, seen)
        flags = struct.unpack_from("<H", page, self.format.header - 6)[0]
        if flags != (LEAF if depth == 1 else BRANCH):
            raise self.damaged(number, f"has flags {flags} at height {depth}")
        order = (lambda key: int.from_bytes(key, "little")) if integer_keys else (lambda key: key)
        if depth == 1:
            for size, node_flags, key, start in self._nodes(page, number):
                if low is not None and order(key) < order(low):
                    continue
                if high is not None and order(key) >= order(high):
                    return
                yield key, self._value(page, number, size, node_flags, start, seen), node_flags
            return
        nodes = list(self._nodes(page, number))
        for index, (value, node_flags, key, _) in enumerate(nodes):
            # The first key of a branch page is not read: it may be empty.
            if high is not None and index > 0 and order(key) >= order(high):
                return
            if low is not None and index + 1 < len(nodes) and order(nodes[index + 1][2]) <= order(low):
                continue
            child = value | node_flags << 32
            yield from self._walk(child, depth - 1, low, high, integer_keys, seen)

    def _value(self, page, number, size, node_flags, start, seen):
        if not node_flags & LARGE:
            if start + size > self.page_size:
                raise self.damaged(number, "has a value that goes beyond it")
            return page[start : start + size]
        header = self.format.header
        if start + self.format.reference > self.page_size:
            raise self.damaged(number, "has a value that goes beyond it")
        first = struct.unpack_from("<Q", page, start)[0]
        count = (header - 1 + size) // self.page_size + 1
        end = (first + count) * self.page_size
        if not 2 <= first <= self.last_page or end > self.size() or first in seen:
            raise self.damaged(first, "begins a long value, and is not in the file, or is in use")
        seen.add(first)
        data = self._read(first * self.page_size, header + size)
        if len(data) < header + size:
            raise self.damaged(first, "begins a long value that is not in the file as a whole")
        page_number = struct.unpack_from("<Q", data)[0]
        flags, pages = struct.unpack_from("<HI", data, header - 6)
        if page_number != first or flags != OVERFLOW or pages < count:
            raise self.damaged(first, "does not begin the long value that it should")
        return data[header:]

    def get(self, tree, key, integer_keys=False):
        """The value of `key`; None if the tree lacks the key."""
        for found, value, _ in self.walk(tree, low=key, integer_keys=integer_keys):
            return value if found == key else None
        return None

    def trees(self):
        """The named trees."""
        found = {}
        for key, value, flags in self.walk(self.main):
            if flags != TREE or len(value) != 48:
                raise DamagedFile(f"{self.path}: {key!r} in the main tree is no tree")
            found[self.format.tree_name(key).decode("utf-8", "replace")] = Tree(value)
        return found
