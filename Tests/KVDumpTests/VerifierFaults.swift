import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// One way to break a store, and the expected findings.
struct Fault: Sendable, CustomTestStringConvertible {
  /// Which store is broken.
  enum Base: Sendable {
    case written
    /// The base is a kept file; see ``VerifiedStore/kept()``.
    case kept
  }

  var name: String
  var codes: Set<Finding.Code>
  var base = Base.written
  var plant: @Sendable (RawStore) throws -> Void

  init(
    _ name: String, _ codes: Set<Finding.Code>,
    _ plant: @escaping @Sendable (RawStore) throws -> Void
  ) {
    self.name = name
    self.codes = codes
    self.plant = plant
  }

  /// Makes a fault that is recognized by the rule it breaks, among other findings.
  init(
    _ name: String, in base: Base = .written, _ plant: @escaping @Sendable (RawStore) throws -> Void
  ) {
    self.name = name
    codes = []
    self.base = base
    self.plant = plant
  }

  /// The findings of the verifier.
  func findings() throws -> [Finding] {
    let store = try base == .kept ? VerifiedStore.kept() : VerifiedStore()
    try store.change { try plant($0) }
    return try Verifier.verify(path: store.path).findings
  }

  var testDescription: String { name }
}

extension Fault {
  private static let titles = TreeName.index(entity: 1, index: 2)
  private static let episodes = TreeName.index(entity: 1, index: 1)
  private static let codes = TreeName.index(entity: 1, index: 3)

  static let indexFaults: [Fault] = [
    Fault("an index entry is missing", [.entryMissing]) {
      try $0.remove($0.pairs(titles)[1].key, titles)
    },
    Fault("an entry leads to no record", [.entryWithoutRecord]) {
      try $0.put([2, 0x41, 0] + bigEndianBytes(UInt64(99)), [], titles)
    },
    Fault("a record has two entries", [.entryStale]) {
      try $0.put([2, 0x41, 0] + bigEndianBytes(UInt64(2)), [], titles)
    },
    Fault("a unique entry has another record's id", [.entryMissing, .entryStale]) {
      try $0.put($0.pairs(episodes)[0].key, littleEndianBytes(UInt64(5)), episodes)
    },
    Fault("an entry that should be empty has a body", [.entryBody]) {
      try $0.put($0.pairs(titles)[0].key, [1], titles)
    },
    Fault("a unique entry's body is too short", [.entryBody]) {
      try $0.put($0.pairs(episodes)[2].key, [1, 2], episodes)
    },
    Fault("an entry's key is too short for a record id", [.entryKey]) {
      try $0.put([2, 0], [], titles)
    },
    Fault(
      "a null in a unique index lacks the record id", [.entryKey, .entryMissing, .entryStale]
    ) { store in
      let entry = try required(store.pairs(codes).first { $0.key.first == 0 })
      try store.remove(entry.key, codes)
      try store.put([0], entry.body, codes)
    },
    Fault("two records share a unique value", [.uniqueness, .entryStale, .entryMissing]) { store in
      // Record 2 takes record 1's episodeId; its old entry stays.
      try store.reseal(2) { bytes in
        let first = try store.record(1)
        bytes.replaceSubrange(3..<11, with: first[3..<11])
      }
      try store.remove(store.pairs(titles)[1].key, titles)
    },
    Fault("the tree of a dropped index has entries", [.indexNotEmpty]) {
      try $0.put([1, 0], [], .index(entity: 1, index: 9))
    },
    Fault("the tree of an index is missing", [.treeMissing]) { store in
      var film = VerifiedStore.film
      film.indexes.append(.init(number: 8, attributes: [1], isUnique: false))
      try store.putCatalogue(1, film.document)
    },
  ]

  static let recordFaults: [Fault] = [
    Fault("two records are swapped", [.recordContent, .entryMissing, .entryStale]) { store in
      let (one, other) = (try store.record(1), try store.record(2))
      try store.putRecord(1, other)
      try store.putRecord(2, one)
    },
    Fault("a record is gone", [.entryWithoutRecord]) {
      _ = try $0.transaction.delete(UInt64(4), in: $0.tree(.records(entity: 1)))
    },
    Fault("a record is there without entries", [.entryMissing]) { store in
      let body = try VerifiedStore.filmLayout.record(
        id: 50, values: VerifiedStore.filmValues(50))
      try store.putRecord(50, body)
    },
    Fault("a bit of a record's text is flipped", [.recordContent, .entryMissing, .entryStale]) {
      var body = try $0.record(1)
      let offset = try required(body.firstIndex(of: 0x54))
      body[offset] ^= 1
      try $0.putRecord(1, body)
    },
    Fault("a record's checksum is wrong", [.recordContent]) {
      var body = try $0.record(6)
      body[body.count - 1] ^= 0x80
      try $0.putRecord(6, body)
    },
    Fault("a record is cut short", [.recordShape]) {
      try $0.putRecord(2, Array($0.record(2).dropLast(9)))
    },
    Fault("a record is empty", [.recordShape]) { try $0.putRecord(2, []) },
    Fault("a record's layout is unknown", [.recordLayout]) {
      try $0.reseal(3) { $0[0] = 77 }
    },
    Fault("the reserved bit of a record is set", [.recordShape]) {
      try $0.reseal(3) { $0[1] |= 0x40 }
    },
    Fault("an unused null bit is set", [.recordContent]) {
      try $0.reseal(3) { $0[2] |= 0x80 }
    },
    Fault("a null attribute has bytes", [.recordContent]) {
      // The null bit 1 belongs to `extra`, which is not indexed.
      try $0.reseal(3) { $0[2] |= 2 }
    },
    Fault("a decimal is not canonical", [.recordContent]) {
      // The slot of `price` is after header, nulls and `episodeId`; 1299 becomes 10.
      try $0.reseal(1) { $0.replaceSubrange(14..<16, with: [10, 0]) }
    },
    Fault("a bool is 2", [.recordContent, .entryMissing, .entryStale]) {
      try $0.reseal(1) { $0[30] = 2 }
    },
    Fault("a text is not UTF-8", [.recordContent, .entryMissing, .entryStale]) {
      try $0.reseal(1) { bytes in
        let offset = try required(bytes.firstIndex(of: 0x54))
        bytes[offset] = 0xff
      }
    },
    Fault("a JSON attribute holds a UUID", [.recordContent]) { store in
      var values = try VerifiedStore.filmValues(1)
      values[4] = .document(Document.uuid(UUIDBytes(high: 1, low: 2)).encoded())
      try store.putRecord(
        1, VerifiedStore.filmLayout.record(id: 1, values: values))
    },
    Fault("wide offsets are used for few bytes", [.recordContent]) {
      try $0.reseal(1) { bytes in
        bytes[1] |= 0x80
        var ends: [UInt8] = []
        for offset in stride(from: 31, to: 37, by: 2) {
          ends += bytes[offset..<(offset + 2)] + [0, 0]
        }
        bytes.replaceSubrange(31..<37, with: ends)
      }
    },
    Fault("ends of variable attributes go down", [.recordShape]) {
      try $0.reseal(1) { $0[33] = 0 }
    },
    Fault("a required attribute is null", [.recordRequired]) { store in
      // Records 2, 4 and 6 have no code, which is required from now on.
      var film = VerifiedStore.film
      film.attributes[2].isOptional = false
      film.layouts.append(
        RecordLayout(
          number: 2,
          attributes: VerifiedStore.filmLayout.attributes.map {
            .init(number: $0.number, type: $0.type, isOptional: $0.isOptional && $0.number != 3)
          }))
      film.currentLayout = 2
      try store.putCatalogue(1, film.document)
    },
    Fault("a record has the id 0", [.recordKey, .entryMissing]) { store in
      let body = try VerifiedStore.filmLayout.record(
        id: 0, values: VerifiedStore.filmValues(20))
      try store.putRecord(0, body)
    },
    Fault("a record is of an entity that is not there", [.treeForeign]) {
      try $0.putRecord(1, $0.record(1), entity: 44)
    },
  ]

  static let otherFaults: [Fault] = [
    Fault("a header field is missing", [.header]) { try $0.remove(HeaderField.uuid.key, .header) },
    Fault("a header field has a wrong size", [.header]) {
      try $0.put(HeaderField.schema.key, [1, 2, 3], .header)
    },
    Fault("the mark of an entity's changes has a wrong size", [.header]) {
      try $0.put(HeaderField.changes(entity: 1), [1, 2, 3], .header)
    },
    Fault("the format version is 0", [.header]) {
      try $0.put(HeaderField.format.key, [0, 0, 0, 0, 1, 0, 0, 0], .header)
    },
    Fault("the creation date is infinite", [.header]) {
      try $0.put(
        HeaderField.created.key, littleEndianBytes(Double.infinity.bitPattern), .header)
    },
    Fault("a byte of the catalogue is flipped", [.catalogue]) {
      var body = try $0.get(CatalogueKey.entity(1), .catalogue)
      body[20] ^= 4
      try $0.put(CatalogueKey.entity(1), body, .catalogue)
    },
    Fault("a catalogue entry has no checksum", [.catalogue]) {
      try $0.put(CatalogueKey.entity(2), [1], .catalogue)
    },
    Fault("a catalogue key has a wrong length", [.catalogue]) {
      try $0.put([1, 2], [], .catalogue)
    },
    Fault("two entities have one name", [.entityName]) { store in
      var pod = VerifiedStore.pod
      pod.name = "Film"
      try store.putCatalogue(2, pod.document)
    },
    Fault("two attributes have one name", [.catalogue]) { store in
      var pod = VerifiedStore.pod
      pod.attributes[1].name = "name"
      try store.putCatalogue(2, pod.document)
    },
    Fault("two attributes have one source", [.catalogue]) { store in
      var pod = VerifiedStore.pod
      pod.attributes[0].source = "pod name"
      pod.attributes[1].source = "pod name"
      try store.putCatalogue(2, pod.document)
    },
    Fault("layouts are not in order", [.catalogue]) { store in
      var pod = VerifiedStore.pod
      pod.layouts.reverse()
      try store.putCatalogue(2, pod.document)
    },
    Fault("an attribute's initial value is of another type", [.catalogue]) { store in
      var film = VerifiedStore.film
      film.attributes[0].initial = .string("one")
      try store.putCatalogue(1, film.document)
    },
    Fault("an attribute's minimum is above its maximum", [.catalogue]) { store in
      var film = VerifiedStore.film
      film.attributes[0].constraints.minimum = .integer(6)
      film.attributes[0].constraints.maximum = .integer(5)
      try store.putCatalogue(1, film.document)
    },
    Fault("the next entity is too low", [.counter]) {
      try $0.put(CounterKey.nextEntity, littleEndianBytes(UInt64(2)), .counters)
    },
    Fault("the next entity is not counted", [.counter]) {
      try $0.remove(CounterKey.nextEntity, .counters)
    },
    Fault("the next entity is beyond 32 bits", [.counter]) {
      try $0.put(CounterKey.nextEntity, littleEndianBytes(UInt64.max), .counters)
    },
    Fault("the next relationship is beyond 32 bits", [.counter]) {
      try $0.put(CounterKey.nextRelationship, littleEndianBytes(UInt64(1) << 32), .counters)
    },
    Fault("a counter is beyond every record id", [.counter]) {
      try $0.put(CounterKey.nextRecord(entity: 1), littleEndianBytes(UInt64.max), .counters)
    },
    Fault("a counter has a wrong size", [.counter]) {
      try $0.put(CounterKey.nextRecord(entity: 1), [1], .counters)
    },
    Fault("a counter has an unknown key", [.counter]) { try $0.put([9, 9], [1], .counters) },
    Fault("a byte of a bucket is flipped", [.bucket]) {
      var (key, body) = try required($0.pairs(.buckets).first)
      body[5] ^= 1
      try $0.put(key, body, .buckets)
    },
    Fault("a bucket's key has no name", [.bucket]) {
      let key: [UInt8] = [0, 1]
      try $0.put(key, Checksum.sealed(key: key, content: []), .buckets)
    },
    Fault("a byte of an import's report is flipped", [.imports]) {
      var (key, body) = try required($0.pairs(.imports).first)
      body[5] ^= 1
      try $0.put(key, body, .imports)
    },
    Fault("an import's key has no kind", [.imports]) {
      let key: [UInt8] = Array("Film".utf8) + [0, 9]
      try $0.put(key, Checksum.sealed(key: key, content: []), .imports)
    },
    Fault("what an import keeps is no document", [.imports]) {
      let key = ImportKey.state.bytes(name: "Film")
      try $0.put(key, Checksum.sealed(key: key, content: [0xff]), .imports)
    },
    Fault("the tree of records has keys of bytes", [.treeFlags]) { store in
      var pod = VerifiedStore.pod
      pod.number = 3
      pod.name = "Third"
      pod.indexes = []
      try store.putCatalogue(3, pod.document)
      try store.put(CounterKey.nextEntity, littleEndianBytes(UInt64(4)), .counters)
      _ = try store.tree("records.3", hasIntegerKeys: false)
    },
  ]
}
