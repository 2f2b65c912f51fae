"""Published datasets: a folder that this file makes from Format.md alone, and what is refused of it."""

import base64
import hashlib
import json
import os
import random
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from lodestore import published, seal  # noqa: E402

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
except ImportError:
    Ed25519PrivateKey = None
    print("the package cryptography is not installed; published datasets were not tested", file=sys.stderr)


def raw(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def envelope(value, kind, keys):
    payload = value if isinstance(value, bytes) else json.dumps(value).encode("utf-8")
    signatures = [
        {
            "keyid": hashlib.sha256(raw(key)).hexdigest(),
            "sig": base64.b64encode(key.sign(published.pae(kind, payload))).decode("ascii"),
        }
        for key in keys
    ]
    return json.dumps(
        {
            "payloadType": kind,
            "payload": base64.b64encode(payload).decode("ascii"),
            "signatures": signatures,
        }
    ).encode("utf-8")


def key_set(number, keys, name="pods"):
    return {
        "version": 1,
        "name": name,
        "number": number,
        "createdAt": "2026-11-28T02:00:00Z",
        "keys": [{"publicKey": base64.b64encode(raw(key)).decode("ascii")} for key in keys],
    }


@unittest.skipIf(Ed25519PrivateKey is None, "cryptography is not installed")
class PublishedDatasets(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = self.scratch.name
        self.old, self.offline, self.new = (Ed25519PrivateKey.generate() for _ in range(3))
        self.trust = "1:" + base64.b64encode(raw(self.old)).decode("ascii")
        self.content = random.Random(1).randbytes(1_200_000)
        self.sealed = self.write("sealed", self.content)
        for part in ("g", "d", "keys"):
            os.mkdir(os.path.join(self.folder, part))
        self.write("keys/1.json", envelope(key_set(1, [self.old]), published.KEYS, [self.old]))
        second = key_set(2, [self.new, self.offline])
        self.write("keys/2.json", envelope(second, published.KEYS, [self.old]))
        self.publish(self.manifest())

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def publish(self, manifest, keys=None):
        self.write("manifest.json", envelope(manifest, published.MANIFEST, keys or [self.new]))

    def manifest(self):
        verity, frames = seal.fsverity_digest(self.sealed)
        # Any bytes do for the compressed frames: the reader in Python does not unpack them.
        compressed = [self.content[at : at + 1000] for at in range(0, len(self.content), published.FRAME)]
        header = struct.pack(
            "<8sIIQII", b"LDFRAMES", 1, published.FRAME, len(self.content), len(frames), 0
        )
        table = header + b"".join(
            digest + struct.pack("<I", len(one)) for digest, one in zip(frames, compressed)
        )
        whole, patch = b"".join(compressed), b"a patch"
        self.write("g/42-a.lodestore.zst", whole)
        self.write("g/42-a.verity", table)
        self.write("d/41-42-b.zst", patch)

        def entry(name, data):
            return {"name": name, "length": len(data), "sha256": hashlib.sha256(data).hexdigest()}

        return {
            "version": 1,
            "name": "pods",
            "generation": 42,
            "dataAsOf": "2026-11-27T00:00:00Z",
            "builtAt": "2026-11-28T00:00:00.5Z",
            "publishedAt": "2026-11-28T01:00:00Z",
            "keySet": 2,
            "file": {
                "length": len(self.content),
                "verity": verity,
                "content": "00ff",
                "schema": "ab12",
                "formatVersion": 6,
                "records": {"Pod": 3},
            },
            "whole": {**entry("42-a.lodestore.zst", whole), "frames": entry("42-a.verity", table)},
            "patches": [
                {"from": 41, "fromVerity": "00" * 32, "fromLength": 5000, **entry("41-42-b.zst", patch)}
            ],
            "mirrors": ["https://mirror.example/pods/"],
            "colour": "of a later publisher",
        }

    def test_a_folder_is_verified_along_the_chain_of_keys(self):
        for trust in (self.trust, None):
            found = published.verify(self.folder, trust)
            self.assertEqual(found.problems, {})
            self.assertEqual(found.keys.number, 2)
            self.assertEqual(found.manifest["generation"], 42)
            published.verify_file(found.manifest, self.sealed)
        self.assertEqual(published.main([self.folder, "--trust", self.trust, "--file", self.sealed]), 0)

    def test_another_sealed_file_is_refused(self):
        manifest = published.verify(self.folder).manifest
        other = bytearray(self.content)
        other[700_000] ^= 1
        with self.assertRaises(published.Refused):
            published.verify_file(manifest, self.write("other", bytes(other)))

    def test_files_with_other_bytes_are_problems(self):
        for name in ("g/42-a.lodestore.zst", "g/42-a.verity", "d/41-42-b.zst"):
            path = os.path.join(self.folder, name)
            with open(path, "rb") as file:
                data = bytearray(file.read())
            data[-1] ^= 1
            self.write(name, bytes(data))
        self.assertEqual(len(published.verify(self.folder).problems), 3)

    def test_keys_and_manifests_of_others_are_refused(self):
        stranger = Ed25519PrivateKey.generate()
        trust = "1:" + base64.b64encode(raw(stranger)).decode("ascii")
        with self.assertRaises(published.Refused):
            published.verify(self.folder, trust)
        self.publish(self.manifest(), [stranger])
        with self.assertRaises(published.Refused):
            published.verify(self.folder, self.trust)
        # The replaced key may not sign manifests any more.
        self.publish({**self.manifest(), "keySet": 2}, [self.old])
        with self.assertRaises(published.Refused):
            published.verify(self.folder, self.trust)

    def test_numbers_and_names_out_of_bounds_are_refused(self):
        manifest = self.manifest()
        for key, value in [
            ("generation", 0), ("generation", True), ("generation", 1 << 60), ("version", 2),
            ("name", "../pods"), ("keySet", 0), ("dataAsOf", "soon"), ("patches", {}), ("mirrors", [1]),
            ("whole", {**manifest["whole"], "name": "../42"}),
            ("whole", {**manifest["whole"], "length": 1 << 50}),
            ("file", {**manifest["file"], "length": 1 << 50}),
            ("file", {**manifest["file"], "records": {"Pod": -1}}),
        ]:
            self.publish({**manifest, key: value})
            with self.assertRaises(published.Refused, msg=(key, value)):
                published.verify(self.folder, self.trust)

    def test_damaged_manifests_and_key_sets_are_refused(self):
        numbers = random.Random(2)
        for name in ("manifest.json", "keys/2.json"):
            path = os.path.join(self.folder, name)
            with open(path, "rb") as file:
                good = file.read()
            for _ in range(300):
                data = bytearray(good)
                for _ in range(numbers.randint(1, 3)):
                    data[numbers.randrange(len(data))] = numbers.randrange(256)
                self.write(name, bytes(data[: numbers.choice([len(data), numbers.randrange(len(data))])]))
                try:
                    found = published.verify(self.folder, self.trust)
                except published.Refused:
                    continue
                # The damage changed only white space or an unknown member, so the manifest is still
                # read.
                self.assertEqual(found.manifest["generation"], 42)
            self.write(name, good)


if __name__ == "__main__":
    unittest.main()
