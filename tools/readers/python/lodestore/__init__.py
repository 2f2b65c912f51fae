"""Reads Lodestore files: typed rows of any entity, without Swift and without the program's types.

    import lodestore

    with lodestore.open("catalog.lodestore") as store:
        for pod in store.entity("Pod"):
            print(pod["name"], pod["stars"])

Written from Format.md. Nothing but Python 3.9 is needed. Reads the newest commit; other processes may have
the file open and write it meanwhile.
"""

from . import seal
from .documents import Decimal, DocumentError
from .pages import DamagedFile, NotAStore, Overtaken
from .store import Attribute, Entity, Relationship, Store, UnsupportedFormat

__all__ = [
    "Attribute",
    "DamagedFile",
    "Decimal",
    "DocumentError",
    "Entity",
    "NotAStore",
    "Overtaken",
    "Relationship",
    "Store",
    "UnsupportedFormat",
    "open",
    "seal",
]


def open(path, *, verify=True, now=None):
    """Opens the store at `path` as of its newest commit.

    verify -- whether the checksum of each record is compared; without it reading is several times faster.
    now -- records that have expired at this datetime, with a time zone, are left out; the time of the call by default.

    Raises NotAStore, UnsupportedFormat, DamagedFile, or OSError.
    """
    return Store(path, verify=verify, now=now)
