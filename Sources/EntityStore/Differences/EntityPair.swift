internal import LodestoreBytes
internal import LodestoreFormat

/// An attribute in two stores.
struct AttributePair: Sendable {
  /// The way in which values are compared.
  enum Comparison: Sendable {
    case asStored
    /// The attribute leads to a record, which is compared by the values of a key.
    case byTarget(TargetKey)
    /// Values are not compared, because the stores do not show whether they mean the same. Ids of
    /// records without a key are an example.
    case none
  }

  /// Chooses how the values of an attribute of both stores are compared.
  typealias Choice =
    (_ older: EntityDescription.Attribute, _ newer: EntityDescription.Attribute) -> Comparison

  let name: String
  let older: EntityDescription.Attribute?
  let newer: EntityDescription.Attribute?
  let comparison: Comparison
}

/// The key of the targets of an attribute, in both stores.
struct TargetKey: Sendable {
  /// The key in one of the stores.
  struct KeyedEntity: Sendable {
    let entity: StoredEntity
    let attributes: [EntityDescription.Attribute]

    init(_ entity: StoredEntity, _ index: StoredIndex) {
      self.entity = entity
      attributes = index.description.attributes.compactMap {
        entity.description.attribute(number: $0)
      }
    }

    /// Returns the key of the record whose id is `value`; `nil` when there is no record.
    func values(_ value: Value, _ core: TransactionCore) throws -> [Value]? {
      guard case .integer(let number) = value, number > 0,
        let bytes = try core.record(UInt64(number), of: entity)
      else { return nil }
      let view = try entity.view(bytes, id: UInt64(number))
      return try attributes.map { try EntityPair.value($0, view) }
    }
  }

  let older: KeyedEntity
  let newer: KeyedEntity
}

/// An entity in two stores, with the comparison of its records.
final class EntityPair: Sendable {
  let name: String
  let older: StoredEntity?
  let newer: StoredEntity?
  /// The attributes of the newer entity in its order, followed by the attributes that only the
  /// older entity has.
  let attributes: [AttributePair]
  /// The numbers of layouts that mean the same in both stores, so that records with equal bytes
  /// have equal values.
  private let agreeingLayouts: Set<UInt16>
  /// Whether records with equal bytes have equal values in all layouts whose numbers both stores
  /// have.
  private let agrees: Bool

  /// - Parameter isOneLineage: whether the two files have a common origin. An attribute with
  ///   another name and the same number is then a renamed attribute.
  init(
    _ name: String, _ older: StoredEntity?, _ newer: StoredEntity?, isOneLineage: Bool = false,
    comparison: AttributePair.Choice = { _, _ in .asStored }
  ) {
    self.name = name
    self.older = older
    self.newer = newer
    let attributes = Self.attributes(older, newer, isOneLineage, comparison)
    self.attributes = attributes
    var agreeing: Set<UInt16> = []
    var agrees = true
    if let older, let newer {
      for layout in older.description.layouts {
        guard let other = newer.layout(number: layout.number) else { continue }
        if Self.agree(layout, other, attributes) {
          agreeing.insert(layout.number)
        } else {
          agrees = false
        }
      }
    }
    agreeingLayouts = agreeing
    self.agrees = agrees
  }

  private static func attributes(
    _ older: StoredEntity?, _ newer: StoredEntity?, _ isOneLineage: Bool,
    _ comparison: AttributePair.Choice
  ) -> [AttributePair] {
    let new = newer?.description.declaredAttributes ?? []
    var left = older?.description.declaredAttributes ?? []
    func take(_ isWanted: (EntityDescription.Attribute) -> Bool) -> EntityDescription.Attribute? {
      left.firstIndex(where: isWanted).map { left.remove(at: $0) }
    }
    var before = new.map { attribute in take { $0.name == attribute.name } }
    if isOneLineage {
      for (position, attribute) in new.enumerated() where before[position] == nil {
        before[position] = take { $0.number == attribute.number && $0.type == attribute.type }
      }
    }
    return zip(new, before).map { attribute, before in
      AttributePair(
        name: attribute.name, older: before, newer: attribute,
        comparison: before.map { comparison($0, attribute) } ?? .asStored)
    } + left.map { AttributePair(name: $0.name, older: $0, newer: nil, comparison: .asStored) }
  }

  /// Returns whether equal bytes are equal values in records of these layouts, which have one
  /// number.
  private static func agree(
    _ older: RecordLayout, _ newer: RecordLayout, _ attributes: [AttributePair]
  ) -> Bool {
    guard older.attributes.count == newer.attributes.count,
      zip(older.attributes, newer.attributes).allSatisfy({
        $0.type == $1.type && $0.isOptional == $1.isOptional
      })
    else { return false }
    return attributes.allSatisfy { pair in
      let before = pair.older.flatMap { older.slotIndex(ofAttribute: $0.number) }
      let after = pair.newer.flatMap { newer.slotIndex(ofAttribute: $0.number) }
      guard before == after else { return false }
      return before != nil || isSame(pair.older?.initial, pair.newer?.initial)
    }
  }

  /// Compares initial values.
  ///
  /// An attribute that one store lacks counts as having the other store's initial value, so the two
  /// are equal.
  private static func isSame(_ older: Value?, _ newer: Value?) -> Bool {
    guard let older, let newer else { return true }
    return older.isSameStored(as: newer)
  }

  /// Whether equal digests of the records imply that all values are equal.
  var isDecidedByDigest: Bool { older != nil && newer != nil && agrees }

  // MARK: Records

  /// Returns whether two records are certain to have equal values, without decoding a value.
  func areEqual(_ older: ByteView, _ newer: ByteView) -> Bool {
    guard older.count == newer.count,
      older.count >= RecordLayout.headerSize + RecordLayout.checksumSize,
      older.recordChecksum == newer.recordChecksum
    else { return false }
    return haveEqualContent(older, newer)
  }

  /// Returns whether two records with different ids are certain to have equal values.
  ///
  /// Checksums are not compared, because they depend on the id.
  func haveEqualContent(_ older: ByteView, _ newer: ByteView) -> Bool {
    guard older.count == newer.count, let number = try? RecordLayout.layoutNumber(of: older),
      agreeingLayouts.contains(number)
    else { return false }
    let end = older.count - RecordLayout.checksumSize
    return compareKeys(
      older[..<end],
      newer[..<end]) == 0
  }

  /// Returns the positions in ``attributes`` of those whose values differ.
  ///
  /// - Parameter areSame: compares two values of an attribute whose comparison is not
  ///   ``AttributePair/Comparison/asStored``.
  func differing(
    _ older: RecordView, _ newer: RecordView,
    _ areSame: (AttributePair, Value, Value) throws -> Bool = { _, _, _ in true }
  ) throws -> [Int] {
    var found: [Int] = []
    for (position, pair) in attributes.enumerated() {
      if case .asStored = pair.comparison {
        if try !Self.isSame(pair, older, newer) { found.append(position) }
      } else if try !areSame(pair, Self.value(pair.older, older), Self.value(pair.newer, newer)) {
        found.append(position)
      }
    }
    return found
  }

  private static func isSame(
    _ pair: AttributePair, _ older: RecordView, _ newer: RecordView
  ) throws -> Bool {
    if let before = pair.older.flatMap({ older.layout.slotIndex(ofAttribute: $0.number) }),
      let after = pair.newer.flatMap({ newer.layout.slotIndex(ofAttribute: $0.number) })
    {
      let (slot, other) = (older.layout.slots[before], newer.layout.slots[after])
      if slot.type == other.type { return older.hasSameValue(as: newer, at: slot, and: other) }
    }
    // An attribute that one store lacks has the initial value of the other store. A record that was
    // never given another value is therefore no difference.
    return try value(pair.older ?? pair.newer, pair.older == nil ? nil : older)
      .isSameStored(as: try value(pair.newer ?? pair.older, pair.newer == nil ? nil : newer))
  }

  /// Returns the value of `attribute` in a record, or its initial value when the record does not
  /// have it.
  static func value(
    _ attribute: EntityDescription.Attribute?, _ view: RecordView?
  ) throws -> Value {
    guard let attribute else { return .null }
    return try view?.value(of: attribute) ?? attribute.initial
  }
}

extension Value {
  /// Returns whether two stored values are equal.
  ///
  /// Values are compared bit by bit, and numbers of different types by their value.
  func isSameStored(as other: Value) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a.bitPattern == b.bitPattern
    case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)):
      Int64(exactly: b) == a
    case (.unsigned(let a), .double(let b)), (.double(let b), .unsigned(let a)):
      UInt64(exactly: b) == a
    default: self == other
    }
  }
}
