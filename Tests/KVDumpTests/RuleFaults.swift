import LMDB
import LodestoreBytes
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults that break one rule of Format.md each, named in its table of rules.
extension Fault {
  static let all = indexFaults + recordFaults + otherFaults + ruleFaults
  static let ruleFaults =
    catalogueFaults + keptCatalogueFaults + documentFaults + keyFaults + elementFaults
    + searchFaults + placeFaults + vectorFaults + linkFaults + importFaults + historyFaults
    + headerFaults + digestFaults + sealFaults + limitFaults

  /// A catalogue in which one value is another; see ``RawStore/edit(_:_:_:to:)``.
  static func catalogue(
    _ name: String, in base: Base = .written, entity: EntityNumber = 1, _ path: String,
    _ value: Document?
  ) -> Fault {
    Fault(name, in: base) {
      try $0.edit(CatalogueKey.entity(entity), .catalogue, path, to: value)
    }
  }

  /// Faults at the ends of ranges, each with the rule that it breaks.
  ///
  /// The table names one other fault for each rule.
  static let endFaults: [(rule: FormatRule, fault: Fault)] =
    importEndFaults + holderFaults + historyEndFaults + sourceEndFaults + limitEndFaults
    + placeEndFaults + vectorEndFaults + [
      (
        .counterKey,
        Fault("a counter is of entity 0") {
          try $0.put(CounterKey.nextRecord(entity: 0), littleEndianBytes(UInt64(1)), .counters)
        }
      ),
      (
        .counterEntity,
        Fault("a counter is of an entity to come, and none counts entities") {
          try $0.remove(CounterKey.nextEntity, .counters)
          try $0.put(CounterKey.nextRecord(entity: 77), littleEndianBytes(UInt64(9)), .counters)
        }
      ),
      (
        .historyMark,
        Fault("more writes were purged than can be", in: .kept) { store in
          let mark: Document = .object(["number": .integer(1 << 62 + 1), "time": .date(0)])
          let key = HistoryKey.purged.bytes
          try store.put(key, Checksum.sealed(key: key, content: mark.encoded()), .history)
        }
      ),
      (
        .catalogueCurrentLayout,
        catalogue(
          "an attribute is optional in the current layout alone", "layouts.0.attributes.0.optional",
          .bool(true))
      ),
      (
        .catalogueDocumentMembers,
        catalogue(
          "an outline is of no type", "attributes.0.members", .object(["type": .string("id")]))
      ),
      (
        .catalogueHistory,
        catalogue(
          "what is to be preserved is no attribute", in: .kept, entity: 4, "history.preserved",
          .array([.integer(99)]))
      ),
      (
        .catalogueExpiry,
        catalogue(
          "records expire by an attribute that is not there", "expires",
          .object(["attribute": .integer(99)]))
      ),
      (
        .historyPreserved,
        Fault("what is preserved is named with a zero", in: .kept) {
          try $0.edit(
            HistoryKey.tombstone(entity: 4, id: 3, write: 2).bytes, .history, "01",
            to: .null)
        }
      ),
    ]

  private static let headerFaults: [Fault] = [
    Fault("the number of the schema is beyond all") {
      try $0.put(HeaderField.schema.key, littleEndianBytes(UInt64.max), .header)
    },
    Fault("the header asks for less than what is used", in: .kept) {
      try $0.put(HeaderField.format.key, [1, 0, 0, 0, 1, 0, 0, 0], .header)
    },
    Fault("a counter is of an entity that never was") {
      try $0.put(CounterKey.nextRecord(entity: 77), littleEndianBytes(UInt64(9)), .counters)
    },
    Fault("an index is built up to record 0") { try addBuilding(index: 9, upTo: 0, to: $0) },
  ]
}

extension RawStore {
  /// Puts `value` into a sealed document, or removes it there.
  ///
  /// - Parameter path: names of members, and numbers of elements, with dots between them.
  func edit(_ key: [UInt8], _ tree: TreeName, _ path: String, to value: Document?) throws {
    let body = try get(key, tree)
    let document = try Array(body.dropFirst(4))._withBytes { try Document(decoding: $0) }
    let edited = try required(Self.edited(document, path.split(separator: ".")[...], value))
    try put(key, Checksum.sealed(key: key, content: edited.encoded()), tree)
  }

  private static func edited(
    _ document: Document, _ path: ArraySlice<Substring>, _ value: Document?
  ) throws -> Document? {
    guard let step = path.first else { return value }
    switch document {
    case .object(var members):
      let name = String(step)
      members[name] = try edited(members[name] ?? .null, path.dropFirst(), value)
      return .object(members)
    case .array(var elements):
      let index = try required(Int(step))
      elements[index] = try required(edited(elements[index], path.dropFirst(), value))
      return .array(elements)
    default: throw MissingInFixture()
    }
  }
}
