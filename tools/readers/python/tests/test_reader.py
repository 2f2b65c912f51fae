"""The reader on the kept files of every format version, on the examples of Format.md, and on damaged files."""

import decimal
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", "..", ".."))
sys.path.insert(0, os.path.dirname(HERE))

import lodestore  # noqa: E402
from lodestore import analysis, checksums, documents, keys, places, published, search, text, vectors  # noqa: E402
from lodestore.__main__ import main, plain  # noqa: E402
from lodestore.store import Layout  # noqa: E402

FILES = os.path.join(ROOT, "Tests/EntityStoreTests/Corpus/Files")
# Stores of LMDB 0.9, and the same stores in the format of LMDB 1.0.
CORPUS = sorted(glob.glob(f"{FILES}/*.lodestore") + glob.glob(f"{FILES}/lmdb-1.0/*.lodestore"))
REFUSALS = (lodestore.DamagedFile, lodestore.NotAStore, lodestore.Overtaken, lodestore.UnsupportedFormat)


def corpus(version):
    return os.path.join(ROOT, f"Tests/EntityStoreTests/Corpus/Files/format-{version}.lodestore")


def read_all(path):
    """Everything that the reader can say of a file."""
    with lodestore.open(path) as store:
        found = {}
        for entity in store.entities:
            rows = list(entity)
            found[entity.name] = rows
            for row in rows:
                for relationship in entity.relationships:
                    entity.related(row["_id"], relationship.name)
        list(store.bucket("settings"))
        return found


class SealedFiles(unittest.TestCase):
    def test_kept_ones_fit_their_seals(self):
        sealed = sorted(glob.glob(f"{FILES}/sealed/*.lodestore"))
        self.assertGreaterEqual(len(sealed), 1)
        for path in sealed:
            with lodestore.open(path) as store:
                seal = lodestore.seal.verify(store)
            self.assertEqual((seal.name, seal.record_counts["Person"]), ("corpus", 3))
            digest, frames = lodestore.seal.fsverity_digest(path)
            self.assertEqual(lodestore.seal.digest_of_frames(frames, os.path.getsize(path)), digest)
            tool = shutil.which("fsverity")
            if tool is None:
                print("SKIPPED: fs-verity digests, because there is no program fsverity")
                continue
            printed = subprocess.run([tool, "digest", "--compact", path], capture_output=True, text=True, check=True)
            self.assertEqual(digest, printed.stdout.strip())

    def test_damage_to_the_seal_is_refused(self):
        with open(f"{FILES}/sealed/format-6.lodestore", "rb") as file:
            data = bytearray(file.read())
        place = data.rindex(b"generation")
        for offset in range(place - 8, place + 12):
            damaged = bytearray(data)
            damaged[offset] ^= 4
            with tempfile.NamedTemporaryFile() as file:
                file.write(damaged)
                file.flush()
                with self.assertRaises(REFUSALS), lodestore.open(file.name) as store:
                    lodestore.seal.verify(store)


class KeptFiles(unittest.TestCase):
    def test_are_read_whatever_their_version(self):
        self.assertGreaterEqual(len(CORPUS), 8)
        for path in CORPUS:
            found = read_all(path)
            people = found["Person"]
            self.assertEqual([one["name"] for one in people], ["Ada", "Bob", "Eve"], path)
            # The attributes `level` and `city` are younger than two of the records, which have the
            # initial values.
            self.assertEqual([one["level"] for one in people], [3, 3, 4])
            self.assertEqual([one["city"] for one in people], [None, None, "Köln"])
            self.assertEqual([one["_id"] for one in found["Trip"]], [1, 2, 3])
            self.assertEqual(len(found["Specimen"]), 6)
            with lodestore.open(path) as store:
                self.assertEqual(dict(store.bucket("settings"))[b"bytes"], bytes([1, 2, 3]))
                self.assertEqual(store.entity("Person").get(2)["name"], "Bob")
                self.assertIsNone(store.entity("Person").get(9))
                self.assertEqual([row["_id"] for row in store.entity("Person").rows(2)], [2, 3])

    def test_say_what_records_lead_to(self):
        with lodestore.open(corpus(5)) as store:
            band, song, player = (store.entity(name) for name in ("Band", "Song", "Player"))
            self.assertEqual(band.related(1, "players"), [1, 2, 3])
            self.assertEqual(band.related(2, "players"), [2])
            self.assertEqual(player.related(2, "bands"), [1, 2])
            self.assertEqual(band.related(1, "songs"), [1, 2])
            self.assertEqual(song.related(1, "band"), [1])
            self.assertEqual(song.related(3, "band"), [])
            with self.assertRaisesRegex(KeyError, "no relationship 'nope'; it has players, songs"):
                band.related(1, "nope")

    def test_are_what_kvdump_says_they_are(self):
        tool = os.path.join(ROOT, ".build/debug/kvdump")
        if not os.access(tool, os.X_OK):
            self.skipTest("kvdump is not built")
        compared = 0
        for path in CORPUS:
            # kvdump reads the files of the LMDB that it runs with.
            info = subprocess.run([tool, "info", path], capture_output=True, text=True)
            if info.returncode != 0:
                self.assertIn("made the file, and this program runs", info.stderr)
                continue
            compared += 1
            with lodestore.open(path) as store:
                for entity in store.entities:
                    text = subprocess.run(
                        [tool, "records", path, entity.name, "--format", "jsonl"], capture_output=True, check=True)
                    lines = [json.loads(line) for line in text.stdout.splitlines()]
                    self.assertEqual(len(lines), len(entity))
                    for line, row in zip(lines, entity):
                        self.assertEqual(line["_id"], row["_id"])
                        for attribute in entity.attributes:
                            if attribute.type in ("string", "bool") or attribute.type.startswith(("int", "uint")):
                                self.assertEqual(line.get(attribute.name), row[attribute.name], (path, line))
        self.assertGreaterEqual(compared, 4)


class Examples(unittest.TestCase):
    def blocks(self, name):
        with open(os.path.join(ROOT, "Format.md"), encoding="utf-8") as file:
            return re.findall(rf"```example {name}\n(.*?)```", file.read(), re.DOTALL)

    def test_of_documents_are_decoded(self):
        count = 0
        for block in self.blocks("document"):
            for line in block.strip().splitlines():
                text, data = line.rsplit(" = ", 1)
                self.assertEqual(documents.decode(bytes.fromhex(data)), json.loads(text), line)
                count += 1
        self.assertGreaterEqual(count, 12)

    def test_of_checksums_come_out(self):
        self.assertEqual(checksums.crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(checksums.crc32c(b""), 0)

    def test_of_records_are_read(self):
        blocks = self.blocks("record")
        self.assertGreaterEqual(len(blocks), 4)
        for block in blocks:
            lines = dict(line.split(" = ", 1) for line in block.replace("\n", " \n").split(" \n") if " = " in line)
            lines["bytes"] = block[block.index("bytes = ") + 8 :]
            body = bytes.fromhex(lines.pop("bytes"))
            record_id = int(lines.pop("id"))
            layout = int(lines.pop("layout"))
            attributes = [name.split(" ") for name in lines]
            description = {"number": layout, "attributes": [
                {"number": number, "type": kind.rstrip("?"), "optional": kind.endswith("?")}
                for number, (_, kind) in enumerate(attributes, 1)]}
            self.assertEqual(struct.unpack_from("<H", body)[0], layout)
            sealed = struct.pack("<Q", record_id) + body[:-4]
            self.assertEqual(checksums.crc32c(sealed), struct.unpack("<I", body[-4:])[0])
            values = Layout(description).values((0, body[2:-4]))
            expected = [literal(kind.rstrip("?"), text) for (_, kind), text in zip(attributes, lines.values())]
            self.assertEqual(list(values.values()), expected)

    def test_of_index_keys_are_made(self):
        count = 0
        for line in self.blocks("index-key")[0].strip().splitlines():
            left, right = line.rsplit(" = ", 1)
            if "\\" in left or "text " in left and left.count(",") > 0:
                continue
            kind, _, word = left.partition(" ")
            if kind in ("null", "false", "true"):
                kind, value = "bool", {"null": None, "false": False, "true": True}[kind]
            else:
                kind = {"text": "string", "integer": "int64"}.get(kind, kind)
                if "," in left:
                    continue
                value = literal(kind, word)
            self.assertEqual(keys.cut(keys.element(kind, value)).hex(" "), right, line)
            count += 1
        self.assertGreater(count, 30)

    def test_of_cut_keys_are_made(self):
        for line in self.blocks("cut-key")[0].strip().splitlines():
            left, right = line.rsplit(" = ", 1)
            wanted = b"".join(
                bytes.fromhex(part.split(" × ")[-1]) * int(part.split(" × ")[0] if "×" in part else 1)
                for part in right.split(" then "))
            owner, _, left = left.rpartition(": ")
            # If the example names a record, the key ends with the record's id.
            record_id = re.search(r"\d+", owner)
            suffix = struct.pack(">Q", int(record_id.group())) if record_id else b""
            length = int(re.search(r"\d+", left).group())
            values = ["a" * length] + ([7] if "integer" in left else [])
            key = keys.cut(keys.whole(["string", "int64"][: len(values)], values))
            self.assertEqual(key + suffix, wanted)

    def test_of_pairs_have_their_checksums_and_documents(self):
        count = 0
        for name in ("catalogue-pair", "relationship-pair", "import-pair", "history-mark", "preserved", "seal"):
            for block in self.blocks(name):
                lines = []
                for line in block.strip().splitlines():
                    if " = " in line:
                        lines.append(line.rsplit(" = ", 1))
                    else:
                        lines[-1][1] += " " + line
                for left, right in lines:
                    key, body = (bytes.fromhex(side) for side in right.split(":"))
                    self.assertEqual(struct.unpack("<I", body[:4])[0], checksums.crc32c(key + body[4:]), left)
                    found = documents.decode(body[4:])
                    words = left.partition("{")
                    if words[1] and "date " not in left:
                        self.assertEqual(found, json.loads(words[1] + words[2]), left)
                    count += 1
        self.assertGreater(count, 10)

    def test_of_a_meta_page_is_read(self):
        line = re.search(r"meta page 0: (.*?) = ([0-9a-f \n]*)", self.blocks("page-part")[0])
        page = bytes.fromhex(line.group(2).replace("\n", " ")).ljust(4096, b"\0")
        with tempfile.NamedTemporaryFile() as file:
            file.write(page + page)
            file.flush()
            pages = lodestore.pages.Pages(file.name)
            self.addCleanup(pages.close)
        numbers = [int(number) for number in re.findall(r"\d+", line.group(1))]
        self.assertEqual(pages.page_size, numbers[1])
        self.assertEqual((pages.main.depth, pages.main.entries, pages.main.root), (numbers[6], *numbers[8:10]))
        self.assertEqual((pages.last_page, pages.transaction), tuple(numbers[10:]))

    def test_of_a_manifest_and_a_key_set_are_within_the_bounds(self):
        (manifest,), (key_set,) = self.blocks("manifest"), self.blocks("key-set")
        published._check_manifest(json.loads(manifest))
        self.assertEqual(len(published.KeySet._read(key_set.encode("utf-8"), "pods").keys), 2)

    def test_of_blocks_of_postings_are_read(self):
        lines = [line for block in self.blocks("search-block") for line in block.strip().splitlines()]
        self.assertEqual(len(lines), 8)
        for line in lines:
            left, right = line.rsplit(" = ", 1)
            head, wanted = left.split(": ", 1)
            form = 2 if head.startswith("form 2") else 1
            weights = [int(word) for word in head.partition("weight ")[2].split()] or [1]
            found = []
            for one in search.postings(bytes.fromhex(right), weights, form):
                places = [(source, place) for source, some in one.positions.items() for place in some]
                self.assertEqual(one.frequency, sum(weights[source] for source, _ in places), line)
                words = [f"{source}:{place}" if len(weights) > 1 else str(place) for source, place in places]
                found.append(f"{one.id} at {' '.join(words)}")
            self.assertEqual(", ".join(found), wanted)

    def test_of_mapped_texts_come_out(self):
        for line in self.blocks("mapped-text")[0].strip().splitlines():
            left, right = line.rsplit(" = ", 1)
            kind, word = left.split(" ", 1)
            self.assertEqual(getattr(text, kind)(json.loads(word)).encode("utf-8").hex(" "), right)

    def analyzed(self, name):
        """The texts of examples of the analysis, with what the examples say of them."""
        lines = [line for block in self.blocks(name) for line in block.strip().splitlines()]
        self.assertGreaterEqual(len(lines), 3)
        for left, right in (line.rsplit(" = ", 1) for line in lines):
            scalar = re.compile(r"\\u\{([0-9a-f]+)\}")
            yield scalar.sub(lambda found: chr(int(found.group(1), 16)), left[1:-1]), right

    def test_of_terms_and_queries_come_out(self):
        for value, right in self.analyzed("terms"):
            positions = {}
            for term in analysis.terms(value):
                positions.setdefault(term.position, []).append(term.text)
            self.assertEqual(" ".join("|".join(found) for found in positions.values()), right)
        for value, right in self.analyzed("term-ranges"):
            found = [f"{term.text} {term.range[0]}-{term.range[1]}" for term in analysis.terms(value)]
            self.assertEqual(" ".join(found), right)
        for value, right in self.analyzed("query"):
            found = [f"{word.position}:" + "+".join(word.terms) + (f"|{word.whole}" if word.whole else "")
                     for word in analysis.query(value)]
            self.assertEqual(" ".join(found), right)

    def test_of_places_come_out(self):
        lines = [line for block in self.blocks("place-entry") for line in block.strip().splitlines()]
        self.assertGreaterEqual(len(lines), 6)
        for line in lines:
            left, right = line.removesuffix(" : empty").rsplit(" = ", 1)
            latitude, longitude = (float(number) for number in left.split(": ")[1].split(", "))
            self.assertEqual(places.key(latitude, longitude, 300).hex(" "), right, line)
        for latitude, longitude in ((91, 0), (0, -180.5), (float("nan"), 0)):
            self.assertIsNone(places.position(latitude, longitude))

    def test_of_vectors_come_out(self):
        text_of = " ".join(block.replace("\n", " ") for block in self.blocks("vector-block"))
        lines = ["record" + line for line in text_of.split("record")[1:]]
        self.assertGreaterEqual(len(lines), 4)
        for line in lines:
            left, right = line.strip().rsplit(" = ", 1)
            *words, part = left.split(": ")[1].split(", ")
            vector = []
            for word in words:
                vector += [0.0] * int(word[:-6]) if word.endswith(" zeros") else [float(word)]
            made = vectors.blocks({300: vector}, len(vector))
            key, body = [pair for pair in made.items() if pair[0][0] == int(part[-1])][0]
            self.assertEqual(f"{key.hex(' ')} : {body.hex(' ')}", right, line)

    def test_of_lists_of_vectors_come_out(self):
        line = " ".join(block.replace("\n", " ") for block in self.blocks("vector-lists"))
        left, right = line.strip().rsplit(" = ", 1)
        parts = [part.split(" ", 1)[1].split("|") for part in left.split("; ")]
        groups, lists, [record] = ([[float(x) for x in one.split(": ")[-1].split(",")] for one in part]
                                   for part in parts)
        groups, lists = ([(vectors.code(vector)[3], 1.0) for vector in part] for part in (groups, lists))
        record_id = int(parts[2][0].split(":")[0])
        made = vectors.blocks({record_id: record}, 3, groups, lists)
        self.assertEqual({key[0] for key in made}, {vectors.LEVELS, vectors.LISTED_SIGNS})
        [(key, body)] = [pair for pair in made.items() if pair[0][0] == vectors.LISTED_SIGNS]
        self.assertEqual(f"{key.hex(' ')} : {body.hex(' ')}", right, line)

    def test_of_texts_are_normalized_whatever_the_version_of_python(self):
        # Composed since Unicode 16, which older Pythons do not know.
        self.assertEqual(text.nfc("\U00016d67\U00016d67"), "\U00016d68")
        self.assertEqual(text.nfc("e\u0301"), "é")
        for value in range(0x110000):
            one = chr(value)
            if 0xD800 <= value < 0xE000 or unicodedata.category(one) == "Cn":
                continue
            if float(unicodedata.unidata_version.rpartition(".")[0]) <= 17.0:
                self.assertEqual(text.nfc(one), unicodedata.normalize("NFC", one))
                self.assertEqual(text.nfd(one), unicodedata.normalize("NFD", one))


def literal(kind, word):
    """What an example writes for a value."""
    if word == "null":
        return None
    if kind == "date":
        return documents.date(float(word))
    if kind == "uuid":
        return uuid.UUID(word)
    if kind == "decimal":
        return decimal.Decimal(word)
    if kind == "data":
        return bytes.fromhex(word)
    if kind in ("float", "double"):
        return float(word)
    return json.loads(word)


class Indexes(unittest.TestCase):
    def test_have_the_entries_that_the_records_make(self):
        count = 0
        for path in CORPUS:
            with lodestore.open(path) as store:
                for entity in store.entities:
                    rows = list(entity)
                    for number, attributes, unique in entity._indexes:
                        made = {}
                        for row in rows:
                            values = [row[one.name] for one in attributes]
                            key = keys.cut(keys.whole([one.type for one in attributes], values))
                            if not unique or None in values:
                                key += struct.pack(">Q", row["_id"])
                            made[key] = struct.pack("<Q", row["_id"]) if unique else b""
                        tree = store._trees[f"index.{entity._number}.{number}"]
                        found = {key: body for key, body, _ in store._pages.walk(tree)}
                        self.assertEqual(found, made, (path, entity, number))
                        count += len(found)
        self.assertGreater(count, 100)

    def test_find_records_by_equivalent_texts_and_long_ones(self):
        with lodestore.open(corpus(5)) as store:
            specimen, song = store.entity("Specimen"), store.entity("Song")
            self.assertEqual([row["_id"] for row in specimen.find(string="Ångström")], [2])
            self.assertEqual([row["_id"] for row in specimen.find(string="long " * 120)], [4])
            self.assertEqual([row["_id"] for row in specimen.find(optionalInt=None)], [1, 3, 5])
            self.assertEqual([row["_id"] for row in song.find(band=1)], [1, 2])
            self.assertEqual(list(song.find(band=9)), [])
            with self.assertRaisesRegex(KeyError, "no index over title; it has band"):
                list(song.find(title="a"))


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "damaged.lodestore")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def test_of_other_files_are_told(self):
        for content in (b"", b"text", bytes(8192), os.urandom(8192)):
            with open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaises(lodestore.NotAStore):
                lodestore.open(self.path)
        with self.assertRaises(FileNotFoundError):
            lodestore.open(os.path.join(self.folder, "none"))

    def test_of_newer_formats_are_told(self):
        with open(corpus(5), "rb") as file:
            data = file.read()
        # The field 'format' of the header in every page that has it.
        newer = data.replace(b"format" + struct.pack("<II", 2, 5), b"format" + struct.pack("<II", 9, 9))
        self.assertNotEqual(newer, data)
        with open(self.path, "wb") as file:
            file.write(newer)
        with self.assertRaisesRegex(lodestore.UnsupportedFormat, "reader of format 9"):
            lodestore.open(self.path)

    def test_of_a_record_are_found_by_its_checksum(self):
        with open(corpus(5), "rb") as file:
            data = file.read()
        with open(self.path, "wb") as file:
            file.write(data.replace("Köln".encode(), "Käln".encode()))
        with self.assertRaisesRegex(lodestore.DamagedFile, "record 3 of Person: its checksum"):
            read_all(self.path)

    def test_of_page_numbers_beyond_the_file_are_refused(self):
        with open(corpus(5), "rb") as file:
            whole = file.read()
        page_size = struct.unpack_from("<I", whole, 40)[0]
        for root in (len(whole) // page_size, 1 << 52, 1 << 62):
            data = bytearray(whole)
            for meta in (0, page_size):
                struct.pack_into("<QQ", data, meta + 128, root, (1 << 64) - 2)
            with open(self.path, "wb") as file:
                file.write(data)
            with self.assertRaisesRegex(lodestore.DamagedFile, f"page {root} is beyond the end of the file"):
                read_all(self.path)

    def test_of_any_bytes_are_refused_by_name(self):
        count = int(os.environ.get("LODESTORE_READER_CASES", "300"))
        seed = int(os.environ.get("LODESTORE_SEED", str(random.randrange(1 << 30))))
        numbers = random.Random(seed)
        refused = 0
        for _ in range(count):
            with open(numbers.choice(CORPUS), "rb") as file:
                data = bytearray(file.read())
            for _ in range(numbers.randrange(1, 4)):
                kind = numbers.randrange(4)
                start = numbers.randrange(len(data))
                if kind == 0:
                    data[start] ^= 1 << numbers.randrange(8)
                elif kind == 1:
                    data[start : start + 8] = numbers.choice((b"\0", b"\xff", b"\x80")) * 8
                elif kind == 2:
                    source, size = numbers.randrange(len(data)), numbers.randrange(4096)
                    data[start : start + size] = data[source : source + size]
                else:
                    del data[numbers.randrange(len(data) // 2, len(data)) :]
            with open(self.path, "wb") as file:
                file.write(data)
            try:
                read_all(self.path)
            except REFUSALS:
                refused += 1
            except Exception as error:
                raise AssertionError(f"LODESTORE_SEED={seed}: {type(error).__name__}: {error}") from error
        self.assertGreater(refused, 0, f"LODESTORE_SEED={seed}")


class CommandLine(unittest.TestCase):
    def test_prints_entities_and_records(self):
        run = subprocess.run(
            [sys.executable, "-m", "lodestore", corpus(5), "Note", "--limit", "2"], capture_output=True, check=True,
            cwd=os.path.dirname(HERE))
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(rows, [{"_id": 1, "title": "a", "length": 9}, {"_id": 2, "title": "b", "length": 0}])
        run = subprocess.run(
            [sys.executable, "-m", "lodestore", corpus(5), "Nope"], capture_output=True, check=False,
            cwd=os.path.dirname(HERE))
        self.assertEqual(run.returncode, 64)
        self.assertIn(b"no entity 'Nope'; it has Person", run.stderr)
        run = subprocess.run(
            [sys.executable, "-m", "lodestore", "/nonexistent"], capture_output=True, check=False,
            cwd=os.path.dirname(HERE))
        self.assertEqual(run.returncode, 65)

    def test_gives_values_as_json_has_them(self):
        found = read_all(corpus(5))["Specimen"]
        for row in found:
            self.assertEqual(json.loads(json.dumps(plain(row)))["_id"], row["_id"])
        self.assertTrue(callable(main))


if __name__ == "__main__":
    unittest.main()
