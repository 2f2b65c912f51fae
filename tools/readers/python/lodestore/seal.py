"""Sealed files: the seal, and the fs-verity digest of a file. See Format.md, "Sealed files"."""

import hashlib
import os
import struct

from . import documents
from .checksums import crc32c
from .pages import DamagedFile

BLOCK = 4096
FRAME = BLOCK * BLOCK // 32
LOWEST_WRITER = 0xFFFFFFFF
MARK_OFFSET, MARK = 256, b"LODESTORE SEALED"


class Seal:
    """The description of a sealed file."""

    def __init__(self, document):
        self.name = document["name"]
        self.generation = document["generation"]
        self.data_as_of = document["dataAsOf"]
        self.sealed_at = document["sealedAt"]
        self.schema_fingerprint = bytes(document["schema"]).hex()
        self.header_fingerprint = bytes(document["header"]).hex()
        self.content_digest = bytes(document["digest"])[::-1].hex()
        self.record_counts = dict(document["counts"])

    def __repr__(self):
        return f"Seal({self.name}, generation {self.generation})"


def decode(path, pairs):
    """The seal, read from the pairs of the tree `seal`."""
    if [bytes(key) for key, _ in pairs] != [b"seal"]:
        raise DamagedFile(f"{path}: the tree 'seal' has not one pair")
    key, body = pairs[0]
    if len(body) < 4 or crc32c(key + body[4:]) != struct.unpack_from("<I", body)[0]:
        raise DamagedFile(f"{path}: the checksum of the seal does not fit")
    try:
        seal = Seal(documents.decode(body[4:]))
    except (documents.DocumentError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path}: the seal: {error!r}") from error
    if not isinstance(seal.generation, int) or seal.generation < 1:
        raise DamagedFile(f"{path}: the seal has generation {seal.generation}")
    return seal


def fingerprint(pairs):
    """The fingerprint of trees, from their pairs in order."""
    digest = hashlib.sha256()
    for key, body in pairs:
        digest.update(struct.pack("<I", len(key)) + key + struct.pack("<I", len(body)) + body)
    return digest.hexdigest()


def frame_digest(data):
    """The hash of level 1 of at most 512 KiB of a file."""
    leaves = b"".join(
        hashlib.sha256(data[start : start + BLOCK].ljust(BLOCK, b"\0")).digest() for start in range(0, len(data), BLOCK)
    )
    return hashlib.sha256(leaves.ljust(BLOCK, b"\0")).digest()


def fsverity_digest(path):
    """The fs-verity digest of a file, as `fsverity digest` prints it, and the hashes of its frames."""
    frames = []
    size = os.path.getsize(path)
    leaf = None
    with open(path, "rb") as file:
        while data := file.read(FRAME):
            if size <= BLOCK:
                leaf = hashlib.sha256(data.ljust(BLOCK, b"\0")).digest()
            frames.append(frame_digest(data))
    return digest_of_frames(frames, size, leaf), frames


def digest_of_frames(frames, size, leaf=None):
    """The fs-verity digest of a file of `size` bytes from the hashes of its frames."""
    level = list(frames)
    while len(level) > 1:
        joined = b"".join(level)
        level = [
            hashlib.sha256(joined[start : start + BLOCK].ljust(BLOCK, b"\0")).digest()
            for start in range(0, len(joined), BLOCK)
        ]
    root = leaf or (level[0] if level else b"\0" * 32)
    descriptor = struct.pack("<BBBBIQ", 1, 1, 12, 0, 0, size) + root
    return hashlib.sha256(descriptor.ljust(256, b"\0")).hexdigest()


def verify(store):
    """Checks a store that is open against its seal; returns the seal. Raises DamagedFile.

    Every record is read and compared with its checksum; indexes are not read.
    """
    seal = store.seal
    if seal is None:
        raise DamagedFile(f"{store.path}: it has no seal")
    pages = store._pages
    for page in (0, pages.page_size):
        if pages._read(page + MARK_OFFSET, len(MARK)) != MARK:
            raise DamagedFile(f"{store.path}: a meta page lacks the mark of a sealed file")
    if store.lowest_writer != LOWEST_WRITER:
        raise DamagedFile(f"{store.path}: the header has the lowest writer {store.lowest_writer}")
    pairs = lambda name: [(key, body) for key, body, _ in pages.walk(store._trees[name])]  # noqa: E731
    if fingerprint(pairs("catalogue")) != seal.schema_fingerprint:
        raise DamagedFile(f"{store.path}: the catalogue is not that of the seal")
    if fingerprint(pairs("lodestore") + pairs("counters")) != seal.header_fingerprint:
        raise DamagedFile(f"{store.path}: header and counters are not those of the seal")
    counts = {entity.name: sum(1 for _ in entity) for entity in store.entities}
    if counts != seal.record_counts:
        raise DamagedFile(f"{store.path}: the seal counts {seal.record_counts}, there are {counts}")
    digests = store._trees.get("digests")
    found = pages.walk(digests) if digests is not None else []
    total = sum(int.from_bytes(body, "little") for _, body, _ in found) % (1 << 128)
    if f"{total:032x}" != seal.content_digest:
        raise DamagedFile(f"{store.path}: the digest of the store is not that of the seal")
    return seal
