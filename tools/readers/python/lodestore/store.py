"""The store: entities, their records and their relationships. See Format.md, "Catalogue" and "Records"."""

import datetime
import struct
import uuid

from . import documents, keys, seal, search
from .checksums import crc32c
from .pages import DamagedFile, NotAStore, Pages

READER = 8
_FIXED = {
    "bool": "<B", "int8": "<b", "int16": "<h", "int32": "<i", "int64": "<q", "uint8": "<B", "uint16": "<H",
    "uint32": "<I", "uint64": "<Q", "id": "<Q", "float": "<f", "double": "<d", "date": "<d", "uuid": "16s",
    "decimal": "19s",
}
_VARIABLE = {"string", "url", "data", "json", "document"}


class UnsupportedFormat(Exception):
    """The file needs a newer reader, or has content that this one does not know."""


class Attribute:
    """One attribute of an entity: its `name`, `type`, whether it is `optional`, and its `number`.

    `source` is the name of the member or column that imports fill it from.
    """

    def __init__(self, description):
        self.number = description["number"]
        self.name = description["name"]
        self.source = description.get("source", self.name)
        self.type = description["type"]
        self.optional = description["optional"]
        self.is_removed = description.get("removed", False)
        self.initial = description.get("initial")

    def __repr__(self):
        return f"Attribute({self.name}: {self.type}{'?' if self.optional else ''})"


class Layout:
    """The order of the attributes in a record."""

    def __init__(self, description):
        self.number = description["number"]
        self.slots = []
        nulls = 0
        for attribute in description["attributes"]:
            kind = attribute["type"]
            if kind not in _FIXED and kind not in _VARIABLE:
                raise UnsupportedFormat(f"attribute type '{kind}' is not known")
            self.slots.append((attribute["number"], kind, nulls if attribute["optional"] else None))
            nulls += attribute["optional"]
        self.optional_count = nulls
        self.fixed_size = sum(struct.calcsize(_FIXED[kind]) for _, kind, _ in self.slots if kind in _FIXED)
        self.variable_count = sum(kind in _VARIABLE for _, kind, _ in self.slots)

    def values(self, body):
        """The values by attribute number; `body` excludes header and checksum."""
        wide, body = body
        null_size = (self.optional_count + 7) // 8
        end_size = 4 if wide else 2
        start = null_size + self.fixed_size + end_size * self.variable_count
        if start > len(body):
            raise documents.DocumentError("the record is shorter than its layout")
        if self.optional_count % 8 and body[null_size - 1] >> self.optional_count % 8:
            raise documents.DocumentError("a bit of the nulls is set that belongs to no attribute")
        ends = struct.unpack_from(f"<{self.variable_count}{'I' if wide else 'H'}", body, null_size + self.fixed_size)
        last = 0
        for end in ends:
            if end < last:
                raise documents.DocumentError("the ends of values decrease")
            last = end
        if last != len(body) - start:
            raise documents.DocumentError("the last value does not end with the record")
        values, offset, variable, last = {}, null_size, 0, start
        for number, kind, null in self.slots:
            is_null = null is not None and body[null // 8] >> null % 8 & 1
            if kind in _FIXED:
                form = _FIXED[kind]
                found = struct.unpack_from(form, body, offset)[0]
                offset += struct.calcsize(form)
                values[number] = None if is_null else _fixed(kind, found)
            else:
                end = start + ends[variable]
                values[number] = None if is_null else _variable(kind, body[last:end])
                variable, last = variable + 1, end
        return values


def _fixed(kind, found):
    if kind == "bool":
        if found > 1:
            raise documents.DocumentError(f"a bool is {found}")
        return found == 1
    if kind == "id" and not 1 <= found < 1 << 63:
        raise documents.DocumentError(f"an id is {found}")
    if kind == "date":
        return documents.date(found)
    if kind == "uuid":
        return uuid.UUID(bytes=found)
    if kind == "decimal":
        return documents.decimal_value(found)
    return found


def _variable(kind, found):
    if kind == "data":
        return bytes(found)
    if kind in ("json", "document"):
        return documents.decode(found)
    try:
        return str(found, "utf-8")
    except UnicodeDecodeError as error:
        raise documents.DocumentError("a text is not UTF-8") from error


class Relationship:
    """A relationship as seen from one of its entities: its `name` there, and the `target` entity's name."""

    def __init__(self, name, target, number, side, attribute):
        self.name, self.target = name, target
        self._number, self._side, self._attribute = number, side, attribute

    def __repr__(self):
        return f"Relationship({self.name} -> {self.target})"


class Entity:
    """An entity; iterating gives its records in the order of their ids, as dictionaries.

    `_id` is the record's id; the other members are the attributes, in the order in which they were declared.
    """

    def __init__(self, store, number, description):
        self._store = store
        self._number = number
        self.name = description["name"]
        everything = [Attribute(one) for one in description["attributes"]]
        self._layouts = {one["number"]: Layout(one) for one in description["layouts"]}
        current = self._layouts.get(description["layout"])
        if current is None:
            raise DamagedFile(f"{store.path}: {self.name} has no layout {description['layout']}")
        by_number = {one.number: one for one in everything}
        self.attributes = [by_number[number] for number, _, _ in current.slots]
        self.relationships = []
        self._indexes = [
            (one["number"], [by_number[number] for number in one["attributes"]], one["unique"])
            for one in description["indexes"]
        ]
        self._places = [one["number"] for one in description.get("placeIndexes", [])]
        self._searches = [
            (
                one["number"],
                [
                    (".".join([by_number[source["attribute"]].name, *source["path"]]), source["weight"])
                    for source in one["sources"]
                ],
                one.get("postings", 1),
            )
            for one in description.get("searchIndexes", [])
        ]
        self._vectors = [
            (one["number"], one["dimensions"]) for one in description.get("vectorIndexes", [])]
        expires = description.get("expires")
        self._expires = by_number[expires["attribute"]].name if expires else None

    def __repr__(self):
        return f"Entity({self.name}, {len(self)} records)"

    def _tree(self):
        tree = self._store._trees.get(f"records.{self._number}")
        if tree is None:
            raise DamagedFile(f"{self._store.path}: the records of {self.name} have no tree")
        return tree

    def _is_expired(self, row):
        """Whether the record had expired when the store was opened. No read returns such a record."""
        end = row[self._expires] if self._expires else None
        if end is None:
            return False
        if isinstance(end, datetime.datetime):
            return end <= self._store.now
        # A date beyond Python's range is returned as seconds since 2001. Not-a-number never
        # expires.
        return end <= (self._store.now - documents.EPOCH).total_seconds()

    def __len__(self):
        if self._expires:
            return sum(1 for _ in self.rows())
        count = self._tree().entries
        # Each record takes at least one byte of the file. A damaged count must not make list()
        # allocate memory.
        if count > self._store._pages.size():
            raise DamagedFile(f"{self._store.path}: {self.name} has {count} records by its tree")
        return count

    def __iter__(self):
        return self.rows()

    def rows(self, first=1):
        """The records whose ids are at least `first`."""
        pages = self._store._pages
        low = struct.pack("<Q", first)
        for key, body, _ in pages.walk(self._tree(), low=low, integer_keys=True):
            row = self._row(key, body)
            if not self._is_expired(row):
                yield row
        pages.check_commit()

    def get(self, record_id):
        """The record with this id; None if it does not exist."""
        key = struct.pack("<Q", record_id)
        body = self._store._pages.get(self._tree(), key, integer_keys=True)
        self._store._pages.check_commit()
        if body is None:
            return None
        row = self._row(key, body)
        return None if self._is_expired(row) else row

    def find(self, **values):
        """The records with these values, by an index over exactly these attributes; KeyError without one.

        Texts are equal that are canonically equivalent, whatever the Unicode version of Python.
        """
        for number, attributes, unique in self._indexes:
            if sorted(values) == sorted(one.name for one in attributes):
                break
        else:
            known = "; ".join(", ".join(one.name for one in some) for _, some, _ in self._indexes) or "none"
            raise KeyError(f"{self.name} has no index over {', '.join(values)}; it has {known}")
        tree = self._store._trees.get(f"index.{self._number}.{number}")
        if tree is None:
            raise DamagedFile(f"{self._store.path}: an index of {self.name} has no tree")
        kinds = [one.type for one in attributes]
        wanted = keys.whole(kinds, [values[one.name] for one in attributes])
        low = keys.cut(wanted)
        # The key ends after the tuple, or has a record id of eight bytes after it.
        for key, body, _ in self._store._pages.walk(tree, low, low + b"\xff" * 9):
            if not key.startswith(low) or len(key) not in (len(low), len(low) + 8):
                continue
            if unique and len(body) != 8:
                raise DamagedFile(f"{self._store.path}: an entry of an index of {self.name} has no id")
            row = self.get(struct.unpack("<Q", body)[0] if unique else struct.unpack(">Q", key[-8:])[0])
            # Only the record has the whole value of a cut tuple. Other tuples are already compared exactly.
            if row is None:
                continue
            if low == wanted or keys.whole(kinds, [row[one.name] for one in attributes]) == wanted:
                yield row
        self._store._pages.check_commit()

    def places(self):
        """The positions and record ids of the entries of each place index, by the index's number."""
        pages, found = self._store._pages, {}
        for number in self._places:
            tree = self._store._trees.get(f"place.{self._number}.{number}")
            if tree is None:
                raise DamagedFile(f"{self._store.path}: a place index of {self.name} has no tree")
            found[number] = [struct.unpack(">QQ", key) for key, _, _ in pages.walk(tree)]
        pages.check_commit()
        return found

    def search_indexes(self):
        """The search indexes, in the order of their numbers."""
        for number, sources, form in self._searches:
            tree = self._store._trees.get(f"search.{self._number}.{number}")
            if tree is None:
                raise DamagedFile(f"{self._store.path}: a search index of {self.name} has no tree")
            yield search.SearchIndex(self._store._pages, tree, sources, form)

    def vectors(self):
        """The blocks of each vector index and its number of dimensions, by the index's number."""
        pages, found = self._store._pages, {}
        for number, dimensions in self._vectors:
            tree = self._store._trees.get(f"vector.{self._number}.{number}")
            if tree is None:
                raise DamagedFile(f"{self._store.path}: a vector index of {self.name} has no tree")
            found[number] = (
                dimensions, {bytes(key): bytes(body) for key, body, _ in pages.walk(tree)})
        pages.check_commit()
        return found

    def _row(self, key, body):
        record_id = struct.unpack("<Q", key)[0] if len(key) == 8 else 0

        def damaged(reason):
            self._store._pages.check_commit()
            return DamagedFile(f"{self._store.path}: record {record_id} of {self.name}: {reason}")

        if not 1 <= record_id < 1 << 63 or len(body) < 6:
            raise damaged("it has no id, or is too short")
        if self._store.verify and crc32c(key + body[:-4]) != struct.unpack_from("<I", body, len(body) - 4)[0]:
            raise damaged("its checksum does not fit")
        header = struct.unpack_from("<H", body)[0]
        layout = self._layouts.get(header & 0x3FFF)
        if layout is None or header & 0x4000:
            raise damaged(f"its layout {header & 0x3FFF} is not in the catalogue")
        try:
            values = layout.values((header >> 15, body[2:-4]))
        except documents.DocumentError as error:
            raise damaged(error) from error
        row = {"_id": record_id}
        for attribute in self.attributes:
            row[attribute.name] = values.get(attribute.number, attribute.initial)
        return row

    def related(self, record_id, name):
        """The ids of the related records, in their order."""
        for relationship in self.relationships:
            if relationship.name == name:
                return self._present(record_id, relationship, self._store._related(self, record_id, relationship))
        known = ", ".join(one.name for one in self.relationships) or "none"
        raise KeyError(f"{self.name} has no relationship '{name}'; it has {known}")

    def _present(self, record_id, relationship, found):
        """The ids of records that have not expired; empty if the record itself has expired."""
        target = self._store.entity(relationship.target)
        if self._expires and self.get(record_id) is None:
            return []
        return [one for one in found if target.get(one) is not None] if target._expires else found

    def to_pandas(self, first=1):
        """The records as a pandas DataFrame, by id."""
        import pandas

        columns = ["_id"] + [attribute.name for attribute in self.attributes]
        return pandas.DataFrame(self.rows(first), columns=columns).set_index("_id")


class Store:
    """A store in the state of the commit that was the newest when it was opened.

    Records that have expired at `now`, a datetime with a time zone, are left out; it is the time of the opening
    when left out.
    """

    def __init__(self, path, *, verify=True, now=None):
        self.path, self.verify = str(path), verify
        self.now = now or datetime.datetime.now(datetime.timezone.utc)
        self._pages = Pages(path)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the file; the second time it does nothing."""
        self._pages.close()

    def _open(self):
        self._trees = self._pages.trees()
        header = self._trees.get("lodestore")
        if header is None:
            raise NotAStore(f"{self.path}: it is an LMDB file, and no Lodestore file")
        fields = {bytes(key): value for key, value, _ in self._pages.walk(header)}
        version = fields.get(b"format", b"")
        if len(version) != 8:
            raise DamagedFile(f"{self.path}: the header has no 8-byte field 'format'")
        lowest, self.lowest_writer = struct.unpack("<II", version)
        if lowest > READER:
            raise UnsupportedFormat(f"{self.path}: it needs a reader of format {lowest}, this one is of {READER}")
        self.uuid = uuid.UUID(bytes=fields[b"uuid"]) if len(fields.get(b"uuid", b"")) == 16 else None
        self.entities, self._by_number, sides = [], {}, []
        for key, body, _ in self._pages.walk(self._trees["catalogue"] if "catalogue" in self._trees else header):
            if len(key) != 5 or key[0] not in (1, 2):
                continue
            number = struct.unpack(">I", key[1:])[0]
            if len(body) < 4 or crc32c(key + body[4:]) != struct.unpack_from("<I", body)[0]:
                raise DamagedFile(f"{self.path}: the checksum of catalogue key {key.hex()} does not fit")
            try:
                description = documents.decode(body[4:])
                if key[0] == 1:
                    entity = Entity(self, number, description)
                    self.entities.append(entity)
                    self._by_number[number] = entity
                else:
                    sides.append((number, description))
            except (documents.DocumentError, KeyError, TypeError) as error:
                raise DamagedFile(f"{self.path}: catalogue key {key.hex()}: {error}") from error
        for number, description in sides:
            try:
                self._add_relationship(number, description)
            except (AttributeError, KeyError, TypeError) as error:
                raise DamagedFile(f"{self.path}: relationship {number} has no two sides: {error!r}") from error
        tree = self._trees.get("seal")
        # The description of a sealed file.
        self.seal = None
        if tree is not None:
            self.seal = seal.decode(self.path, [(key, body) for key, body, _ in self._pages.walk(tree)])
        self._pages.check_commit()

    def _add_relationship(self, number, description):
        ends = (description["from"], description["to"])
        attribute = description.get("attribute")
        for side, (here, there) in enumerate((ends, ends[::-1]), 1):
            entity, target = self._by_number.get(here["entity"]), self._by_number.get(there["entity"])
            if entity is None or target is None:
                raise DamagedFile(f"{self.path}: relationship {number} is of an entity that is not there")
            name = here.get("name")
            if side == 1 and attribute is not None:
                name = next((one.name for one in entity.attributes if one.number == attribute), None)
            if name is not None:
                entity.relationships.append(Relationship(name, target.name, number, side, attribute))

    def entity(self, name):
        """The entity with this name; KeyError if it does not exist."""
        for entity in self.entities:
            if entity.name == name:
                return entity
        known = ", ".join(entity.name for entity in self.entities) or "none"
        raise KeyError(f"{self.path} has no entity '{name}'; it has {known}")

    def bucket(self, name):
        """The pairs of a bucket, as bytes."""
        low = name.encode("utf-8") + b"\0"
        tree = self._trees.get("buckets")
        for key, body, _ in self._pages.walk(tree, low=low, high=low[:-1] + b"\1") if tree else ():
            if len(body) < 4 or crc32c(key + body[4:]) != struct.unpack_from("<I", body)[0]:
                raise DamagedFile(f"{self.path}: the checksum of bucket key {key.hex()} does not fit")
            yield key[len(low) :], body[4:]

    def _related(self, entity, record_id, relationship):
        number, side = relationship._number, relationship._side
        if relationship._attribute is not None:
            if side == 1:
                row = entity.get(record_id)
                return [] if row is None or row[relationship.name] is None else [row[relationship.name]]
            if f"order.{number}.2" not in self._trees or not self._trees[f"order.{number}.2"].entries:
                return self._holders(relationship, record_id)
        order = self._trees.get(f"order.{number}.{side}")
        if order is not None and order.entries:
            low = struct.pack(">QB", record_id, 1)
            return [struct.unpack("<Q", body)[0] for _, body, _ in self._pages.walk(order, low, low[:-1] + b"\2")]
        tree = self._trees.get(f"links.{number}.{side}")
        if tree is None:
            return []
        low = _integer_key(record_id)
        high = low[:-1] + bytes([low[-1] + 1]) if low[-1] < 255 else low + b"\xff" * 9
        return [
            struct.unpack(">Q", key[len(low) :])[0]
            for key, _, _ in self._pages.walk(tree, low, high)
            if key[: len(low)] == low and len(key) == len(low) + 8
        ]

    def _holders(self, relationship, record_id):
        """The records whose attribute holds the id. All records are read."""
        holder = self.entity(relationship.target)
        attribute = next(one for one in holder.attributes if one.number == relationship._attribute)
        return [row["_id"] for row in holder if row[attribute.name] == record_id]


def _integer_key(number):
    """The tuple of a positive integer in the form of index keys."""
    size = (number.bit_length() + 7) // 8
    return bytes([0x14 + size]) + number.to_bytes(size, "big")
