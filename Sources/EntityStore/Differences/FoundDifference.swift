internal import LodestoreBytes
internal import LodestoreFormat

/// A difference, valid within the closure that receives it, while both records can be read.
enum FoundDifference {
  case record(FoundRecord)
  case link(LinkDifference)
  case bucket(BucketDifference)
}

/// A record that differs between two stores.
struct FoundRecord {
  let pair: EntityPair
  let kind: HistoryChange.Kind
  /// The ids in the two stores; 0 when the record does not exist there.
  let oldID: UInt64
  let newID: UInt64
  /// The bytes in the two stores; `nil` when the record does not exist there or its old version is
  /// unknown.
  let old: ByteView?
  let new: ByteView?
  /// The positions of the changed attributes in the pair; empty unless the record was updated.
  let changed: [Int]
  /// The preserved values of a deleted record from the history, by attribute number.
  var preserved: Document?
  let older: TransactionCore
  let newer: TransactionCore

  var entity: String { pair.name }
  var id: UInt64 { kind == .deleted ? oldID : newID }
  var byteCount: Int { (old?.count ?? 0) + (new?.count ?? 0) }
  var changedNames: [String] { changed.map { pair.attributes[$0].name } }

  /// Returns the changed attributes, or all attributes of an inserted or deleted record.
  func attributes() throws -> [AttributeDifference] {
    let oldView = try old.flatMap { try pair.older?.view($0, id: oldID) }
    let newView = try new.flatMap { try pair.newer?.view($0, id: newID) }
    let positions = kind == .updated ? changed : Array(pair.attributes.indices)
    return try positions.compactMap { position in
      let attribute = pair.attributes[position]
      var before: Value?
      if let oldView {
        before = try value(attribute.older ?? attribute.newer, oldView, attribute, isOlder: true)
      } else if let number = attribute.older?.number, let kept = preserved?["\(number)"],
        let type = attribute.older?.type
      {
        before = kept == .null ? .null : EntityDescription.value(of: kept, for: type)
      }
      let after = try newView.map {
        try value(attribute.newer ?? attribute.older, $0, attribute, isOlder: false)
      }
      guard kind == .updated || before != nil || after != nil else { return nil }
      return AttributeDifference(name: attribute.name, oldValue: before, newValue: after)
    }
  }

  private func value(
    _ attribute: EntityDescription.Attribute?, _ view: RecordView, _ pair: AttributePair,
    isOlder: Bool
  ) throws -> Value {
    let value = try EntityPair.value(attribute, view)
    guard case .byTarget(let key) = pair.comparison else { return value }
    let values = try isOlder ? key.older.values(value, older) : key.newer.values(value, newer)
    return values?.count == 1 ? values?[0] ?? value : value
  }
}

extension HistoryChange.Kind {
  init(wasThere: Bool, isThere: Bool) {
    self = !wasThere ? .inserted : isThere ? .updated : .deleted
  }
}

/// The amount of work that one read of a comparison does before it ends, so that reads stay short.
struct DifferenceBudget {
  /// The number of records, links and pairs that may still be read.
  var visits = 32_768
  /// The number of differences that may still be found.
  var finds = 256
  /// The number of bytes of differing records that may still be found.
  var bytes = 1 << 20

  var isSpent: Bool { visits <= 0 || finds <= 0 || bytes <= 0 }

  mutating func find(_ byteCount: Int) {
    finds -= 1
    bytes -= byteCount
  }
}
