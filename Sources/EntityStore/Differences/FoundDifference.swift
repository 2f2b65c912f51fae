internal import LodestoreFormat

/// A difference while the two records can be read: valid within the closure that is given it.
enum FoundDifference {
  case record(FoundRecord)
  case link(LinkDifference)
  case bucket(BucketDifference)
}

/// A record that differs.
struct FoundRecord {
  let pair: EntityPair
  let kind: HistoryChange.Kind
  /// The ids in the two stores; 0 where the record is not there.
  let oldID: UInt64
  let newID: UInt64
  /// `nil` where the record is not there, or nothing keeps it as it was.
  let old: UnsafeRawBufferPointer?
  let new: UnsafeRawBufferPointer?
  /// The positions among the attributes of the pair of those with other values; of an update alone.
  let changed: [Int]
  /// The values that the history preserves of a deleted record, by the numbers of the attributes.
  var preserved: Document?
  let older: TransactionCore
  let newer: TransactionCore

  var entity: String { pair.name }
  var id: UInt64 { kind == .deleted ? oldID : newID }
  var changedNames: [String] { changed.map { pair.attributes[$0].name } }

  /// The attributes with other values, or of an insert or delete all that the record has.
  func attributes() throws -> [AttributeDifference] {
    let oldView = try view(old, oldID, pair.older)
    let newView = try view(new, newID, pair.newer)
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

  private func view(
    _ bytes: UnsafeRawBufferPointer?, _ id: UInt64, _ entity: StoredEntity?
  ) throws -> RecordView? {
    guard let bytes, let entity else { return nil }
    return try entity.view(bytes, id: id)
  }

  private func value(
    _ attribute: EntityDescription.Attribute?, _ view: RecordView, _ pair: AttributePair,
    isOlder: Bool
  ) throws -> Value {
    let value = try EntityPair.value(attribute, view)
    guard case .byTarget(let key) = pair.comparison else { return value }
    let values = try key.values(value, isOlder ? older : newer, isOlder: isOlder)
    return values?.count == 1 ? values?[0] ?? value : value
  }
}

extension TargetKey {
  /// The values of the key of the record that `value` leads to; `nil` where it leads to none.
  func values(_ value: Value, _ core: TransactionCore, isOlder: Bool) throws -> [Value]? {
    let entity = isOlder ? older : newer
    guard case .integer(let number) = value, number > 0,
      let bytes = try core.record(UInt64(number), of: entity)
    else { return nil }
    let view = try entity.view(bytes, id: UInt64(number))
    return try (isOlder ? olderAttributes : newerAttributes).map {
      try EntityPair.value($0, view)
    }
  }
}

/// How much of a comparison is done in one read.
struct DifferenceBudget {
  /// The records, links and pairs that the pass may still read.
  var visits = 32_768
  /// Differences that may still be found.
  var finds = 256
  /// Bytes of records that differ.
  var bytes = 1 << 20

  var isSpent: Bool { visits <= 0 || finds <= 0 || bytes <= 0 }

  mutating func find(_ byteCount: Int) {
    finds -= 1
    bytes -= byteCount
  }
}
