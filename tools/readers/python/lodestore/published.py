"""Verifies published datasets: the chain of keys, the manifest, and the files that it names.

    from lodestore import published

    dataset = published.verify("site/catalog", trust="1:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    print(dataset.manifest["generation"], dataset.problems)
    published.verify_file(dataset.manifest, "catalog-7.lodestore")

Written from Format.md, "Published datasets". Needs Python 3.9 and, for Ed25519, the package cryptography or pynacl.
Run as a program: python -m lodestore.published FOLDER [--trust KEYS] [--file SEALED]
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import os
import re
import struct
import sys

from .seal import digest_of_frames, fsverity_digest

MANIFEST = "application/vnd.lodestore.manifest+json"
KEYS = "application/vnd.lodestore.keys+json"
LIMITS = {MANIFEST: 1 << 20, KEYS: 64 << 10}
FRAME = 512 << 10
HIGHEST = (1 << 53) - 1
LONGEST_FILE = 1 << 40
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z", re.ASCII)
DATASET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
HEX = re.compile(r"([0-9a-f]{2}){1,64}\Z", re.ASCII)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z\Z", re.ASCII)


class Refused(Exception):
    """A file that a reader must not use; the message states the reason."""


class NoEd25519(Exception):
    """Neither cryptography nor pynacl is installed."""


def _ed25519(key, signature, message):
    """Whether the signature was made with the key."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        try:
            from nacl.exceptions import BadSignatureError
            from nacl.signing import VerifyKey
        except ImportError:
            raise NoEd25519("install the package cryptography or pynacl") from None
        try:
            VerifyKey(key).verify(message, signature)
            return True
        except (BadSignatureError, ValueError):
            return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


# Values with their bounds


def _json(data, what):
    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Refused(f"{what}: a member stands twice")
        return found

    def refuse(_):
        raise Refused(f"{what}: a number is not finite")

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Refused(f"{what}: {error}") from None
    if not isinstance(value, dict):
        raise Refused(f"{what}: expected an object")
    return value


def _text(value, key, longest, pattern=None):
    found = value.get(key)
    if not isinstance(found, str) or len(found.encode("utf-8", "surrogatepass")) > longest:
        raise Refused(f"{key}: expected a text of at most {longest} bytes")
    if pattern is not None and not pattern.match(found):
        raise Refused(f"{key}: found {found[:64]!r}")
    return found


def _number(value, key, lowest, highest):
    found = value.get(key)
    if type(found) is not int or not lowest <= found <= highest:
        raise Refused(f"{key}: expected an integer from {lowest} to {highest}")
    return found


def _list(value, key, longest, kind):
    found = value.get(key)
    if not isinstance(found, list) or len(found) > longest or not all(isinstance(one, kind) for one in found):
        raise Refused(f"{key}: expected an array of at most {longest}")
    return found


def _object(value, key):
    found = value.get(key)
    if not isinstance(found, dict):
        raise Refused(f"{key}: expected an object")
    return found


def _base64(text):
    try:
        data = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise Refused("expected Base64") from None
    if base64.b64encode(data).decode("ascii") != text.replace("-", "+").replace("_", "/"):
        raise Refused("expected Base64 in its one form")
    return data


def _date(value, key):
    text = _text(value, key, 40, DATE)
    try:
        datetime.datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        raise Refused(f"{key}: no such date") from None
    return text


# Signed files


def pae(kind, payload):
    """The bytes to sign: the pre-authentication encoding of DSSE."""
    return b"DSSEv1 %d %s %d " % (len(kind), kind.encode("ascii"), len(payload)) + payload


def _envelope(data, kind):
    if len(data) > LIMITS[kind]:
        raise Refused(f"more than {LIMITS[kind]} bytes")
    envelope = _json(data, "envelope")
    if _text(envelope, "payloadType", 128) != kind:
        raise Refused(f"payloadType: expected {kind}")
    payload = _base64(_text(envelope, "payload", LIMITS[kind] * 2))
    signatures = []
    for one in _list(envelope, "signatures", 16, dict):
        name = _text(one, "keyid", 128) if "keyid" in one else ""
        signatures.append((name, _base64(_text(one, "sig", 344))))
    return payload, signatures


def _signed_by(payload, signatures, kind, keys):
    names = {hashlib.sha256(key).hexdigest(): key for key in keys}
    return any(
        name in names and len(signature) == 64 and _ed25519(names[name], signature, pae(kind, payload))
        for name, signature in signatures
    )


class KeySet:
    """The keys of one set, any of which may sign: number, keys."""

    def __init__(self, number, keys):
        self.number = number
        self.keys = keys

    @classmethod
    def parse(cls, text):
        """Reads the text that programs carry: "2:KEY,KEY"."""
        match = re.match(r"([0-9]{1,5}):([A-Za-z0-9+/=]{44}(?:,[A-Za-z0-9+/=]{44})*)\Z", text, re.ASCII)
        if not match or not 1 <= int(match[1]) <= 10_000:
            raise Refused("expected the number of a key set, a colon and public keys")
        keys = [_base64(one) for one in match[2].split(",")]
        if len(set(keys)) != len(keys) or len(keys) > 16 or any(len(one) != 32 for one in keys):
            raise Refused("expected different keys of 32 bytes")
        return cls(int(match[1]), keys)

    def __str__(self):
        return f"{self.number}:" + ",".join(base64.b64encode(one).decode("ascii") for one in self.keys)

    def followed_by(self, data, name=None):
        """The next set, which a key of this one must have signed."""
        payload, signatures = _envelope(data, KEYS)
        if not _signed_by(payload, signatures, KEYS, self.keys):
            raise Refused(f"no key of set {self.number} has signed the next set")
        found = KeySet._read(payload, name)
        if found.number != self.number + 1:
            raise Refused(f"key set {found.number} does not follow set {self.number}")
        return found

    @classmethod
    def first(cls, data, name=None):
        """A set that begins a chain, signed by a key of its own. The signature does not prove who made it."""
        payload, signatures = _envelope(data, KEYS)
        found = cls._read(payload, name)
        if not _signed_by(payload, signatures, KEYS, found.keys):
            raise Refused("no key of its own has signed the set")
        return found

    @classmethod
    def _read(cls, payload, name):
        value = _json(payload, "key set")
        if _number(value, "version", 1, HIGHEST) > 1:
            raise Refused("a later version of key sets")
        if _text(value, "name", 128, DATASET) != (name or value["name"]):
            raise Refused(f"a key set of the dataset {value['name']!r}")
        _date(value, "createdAt")
        keys = [_base64(_text(one, "publicKey", 44)) for one in _list(value, "keys", 16, dict)]
        if not keys or len(set(keys)) != len(keys) or any(len(one) != 32 for one in keys):
            raise Refused("expected 1 to 16 different keys of 32 bytes")
        found = cls(_number(value, "number", 1, 10_000), keys)
        found.name = value["name"]
        return found


def read_manifest(data, keys, name=None):
    """The manifest, after a key of the set `keys` has verified its signature."""
    payload, signatures = _envelope(data, MANIFEST)
    if not _signed_by(payload, signatures, MANIFEST, keys.keys):
        raise Refused(f"no key of set {keys.number} has signed the manifest")
    value = _json(payload, "manifest")
    _check_manifest(value)
    if value["keySet"] != keys.number:
        raise Refused(f"signed under key set {value['keySet']}, expected {keys.number}")
    if name is not None and value["name"] != name:
        raise Refused(f"a manifest of the dataset {value['name']!r}")
    return value


def claimed_key_set(data):
    """The number of the key set under which a manifest claims to be signed, before any verification."""
    value = _json(_envelope(data, MANIFEST)[0], "manifest")
    if _number(value, "version", 1, HIGHEST) > 1:
        raise Refused("a later version of manifests")
    return _number(value, "keySet", 1, 10_000)


def _check_manifest(value):
    if _number(value, "version", 1, HIGHEST) > 1:
        raise Refused("a later version of manifests")
    _text(value, "name", 128, DATASET)
    generation = _number(value, "generation", 1, HIGHEST)
    for key in ("dataAsOf", "builtAt", "publishedAt"):
        _date(value, key)
    _number(value, "keySet", 1, 10_000)
    file = _object(value, "file")
    length = _number(file, "length", 4_097, LONGEST_FILE)
    _text(file, "verity", 64, DIGEST)
    _text(file, "content", 128, HEX)
    _text(file, "schema", 128, HEX)
    _number(file, "formatVersion", 1, 65_535)
    records = _object(file, "records")
    if len(records) > 4_096 or any(len(one.encode("utf-8", "surrogatepass")) > 1_024 for one in records):
        raise Refused("records: too many entities, or too long a name")
    for entity in records:
        _number(records, entity, 0, HIGHEST)
    frames = (length + FRAME - 1) // FRAME
    whole = _object(value, "whole")
    _text(whole, "name", 128, NAME)
    _number(whole, "length", 1, frames * (FRAME + FRAME // 64))
    _text(whole, "sha256", 64, DIGEST)
    table = _object(whole, "frames")
    _text(table, "name", 128, NAME)
    _number(table, "length", 32 + 36 * frames, 32 + 36 * frames)
    _text(table, "sha256", 64, DIGEST)
    patches = _list(value, "patches", 64, dict) if generation > 1 else []
    for patch in patches:
        _number(patch, "from", 1, generation - 1)
        _text(patch, "fromVerity", 64, DIGEST)
        _number(patch, "fromLength", 1, LONGEST_FILE)
        _text(patch, "name", 128, NAME)
        _number(patch, "length", 1, whole["length"])
        _text(patch, "sha256", 64, DIGEST)
    for mirror in _list(value, "mirrors", 16, str):
        if len(mirror.encode("utf-8", "surrogatepass")) > 2_048:
            raise Refused("mirrors: too long an address")


# Files


def read_frames(data, manifest):
    """The table of frames as a list of (digest, compressed length), checked against the signed digest."""
    entry, file = manifest["whole"]["frames"], manifest["file"]
    if len(data) != entry["length"] or hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise Refused(f"{entry['name']}: not the signed bytes")
    magic, version, size, length, count, zero = struct.unpack_from("<8sIIQII", data)
    if (magic, version, size, length, zero) != (b"LDFRAMES", 1, FRAME, file["length"], 0):
        raise Refused(f"{entry['name']}: another header")
    if len(data) != 32 + 36 * count or count != (length + FRAME - 1) // FRAME:
        raise Refused(f"{entry['name']}: another number of frames")
    frames = [struct.unpack_from("<32sI", data, 32 + 36 * at) for at in range(count)]
    if any(not 0 < one <= FRAME + FRAME // 64 for _, one in frames):
        raise Refused(f"{entry['name']}: the length of a frame")
    if sum(one for _, one in frames) != manifest["whole"]["length"]:
        raise Refused(f"{entry['name']}: its frames are not those of the compressed file")
    if digest_of_frames([digest for digest, _ in frames], length) != file["verity"]:
        raise Refused(f"{entry['name']}: its digests are not those of the signed file")
    return frames


def verify_file(manifest, path):
    """Compares a sealed file with the manifest: its length and its fs-verity digest."""
    length = os.path.getsize(path)
    if length != manifest["file"]["length"]:
        raise Refused(f"{path}: {length} bytes, expected {manifest['file']['length']}")
    digest, _ = fsverity_digest(path)
    if digest != manifest["file"]["verity"]:
        raise Refused(f"{path}: another fs-verity digest than the signed one")


class Dataset:
    """A published folder: manifest, keys (the set that signed it), problems by path."""

    def __init__(self, manifest, keys, problems):
        self.manifest = manifest
        self.keys = keys
        self.problems = problems


def _bytes(path, most):
    if os.path.getsize(path) > most:
        raise Refused(f"{path}: more than {most} bytes")
    with open(path, "rb") as file:
        return file.read()


def verify(folder, trust=None):
    """Verifies a folder: the chain of keys, the manifest, and length and SHA-256 of every file.

    trust -- what a program carries, such as "1:KEY"; without it the folder's first set is believed.

    Raises Refused when the manifest cannot be trusted; the problems of other files are in the result.
    """
    data = _bytes(os.path.join(folder, "manifest.json"), LIMITS[MANIFEST])
    claimed = claimed_key_set(data)

    def key_file(number):
        return _bytes(os.path.join(folder, "keys", f"{number}.json"), LIMITS[KEYS])

    keys = KeySet.parse(trust) if trust else KeySet.first(key_file(1))
    name = None if trust else keys.name
    while keys.number < claimed:
        try:
            keys = keys.followed_by(key_file(keys.number + 1), name)
        except Refused:
            # After all keys of a set were lost, a new chain begins. Without keys of the caller, its set is trusted.
            if trust:
                raise
            keys = KeySet.first(key_file(keys.number + 1), name)
    manifest = read_manifest(data, keys, name)
    problems = {}
    whole = manifest["whole"]
    files = [("g/" + whole["name"], whole), ("g/" + whole["frames"]["name"], whole["frames"])]
    files += [("d/" + one["name"], one) for one in manifest["patches"]]
    for path, entry in files:
        try:
            _verify_bytes(os.path.join(folder, path), entry)
        except (Refused, OSError) as error:
            problems[path] = str(error)
    table = "g/" + whole["frames"]["name"]
    if table not in problems:
        try:
            read_frames(_bytes(os.path.join(folder, table), whole["frames"]["length"]), manifest)
        except Refused as error:
            problems[table] = str(error)
    return Dataset(manifest, keys, problems)


def _verify_bytes(path, entry):
    length = os.path.getsize(path)
    if length != entry["length"]:
        raise Refused(f"{length} bytes, expected {entry['length']}")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    if digest.hexdigest() != entry["sha256"]:
        raise Refused("its SHA-256 is not the signed one")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m lodestore.published", description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="the dataset's folder")
    parser.add_argument("--trust", help="the keys that a program carries, such as 1:KEY")
    parser.add_argument("--file", help="a sealed file to compare with the manifest")
    options = parser.parse_args(arguments)
    try:
        found = verify(options.folder, options.trust)
        if options.file:
            verify_file(found.manifest, options.file)
    except (Refused, OSError) as error:
        print(f"lodestore: {error}", file=sys.stderr)
        return 65
    except NoEd25519 as error:
        print(f"lodestore: {error}", file=sys.stderr)
        return 69
    print(json.dumps({"name": found.manifest["name"], "generation": found.manifest["generation"],
                      "keys": str(found.keys), "problems": found.problems}))
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
