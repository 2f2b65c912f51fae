internal import LodestoreBytes
internal import LodestoreFormat

/// The attribute of an entity that contains references, optional or not.
struct ReferenceAttribute<E: Entity, T: Entity>: Sendable {
  let ordinal: Int
  let name: String
  /// Creates the condition that the reference has one of these keys, in their stored form.
  let isIn: @Sendable ([Value]) -> Condition<E>

  init<V: ReferenceValue>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) where V.Target == T {
    let attribute = E.attributes[keyPath: path]
    ordinal = attribute.ordinal
    name = attribute.attributeName
    isIn = { attribute.compared(.in, .values($0)) }
  }
}

/// A record of the dataset, with a stamp of its bytes and of all other facts that determine its
/// values.
struct StampedRecord<E: Entity> {
  let value: E
  let stamp: UInt32
}

// In these methods, the transaction belongs to the store with the targets.
extension TransactionCore {
  /// Returns the ids of the records to which `references` lead, in their order; 0 for none.
  ///
  /// The keys are sorted and looked up in one pass.
  func targetIDs<T: Entity>(_ references: [Reference<T>?]) throws(StoreError) -> [UInt64] {
    let key = ReferenceKey.of(T.self)
    try key.check()
    let (entity, index) = try resolve(T.self, over: key.ordinals)
    let lookup = KeyLookup(in: index, of: entity, count: references.count, core: self)
    var positions: [Int] = []
    positions.reserveCapacity(references.count)
    for (position, reference) in references.enumerated() {
      guard let values = reference?.values else { continue }
      positions.append(position)
      lookup.begin()
      for value in values { lookup.add(StoredValue(value)) }
      if !lookup.end() { try lookup.find(key.entityKey(T.self, values)) }
    }
    var ids = [UInt64](repeating: 0, count: references.count)
    for (position, id) in zip(positions, try lookup.ids()) { ids[position] = id }
    return ids
  }

  /// Returns the records to which `references` lead, in their order; `nil` for none.
  func targets<T: Entity>(_ references: [Reference<T>?]) throws(StoreError) -> [StampedRecord<T>?] {
    let entity = try entity(T.self)
    let ids = try targetIDs(references)
    let found = ids.indices.filter { ids[$0] != 0 }
    var targets = [StampedRecord<T>?](repeating: nil, count: ids.count)
    var layouts: [UInt16: UInt32] = [:]
    try forEachRecord(found.map { ids[$0] }, of: entity) { position, bytes in
      let position = found[position]
      guard let bytes else {
        throw StoreError.damagedIndex(
          "\(entity.name).\(ReferenceKey.of(T.self).parts.map(\.name).joined(separator: "+"))",
          "it leads to \(entity.name) \(ids[position]), which is not there")
      }
      let row = StoredRow(id: ids[position], bytes: bytes)
      let value = try decode(T.self, row, of: entity)
      let layout = try entity.view(bytes, id: row.id).layout
      let words = layouts[layout.number] ?? entity.stamp(of: layout)
      layouts[layout.number] = words
      var stamp = Checksum()
      withUnsafeBytes(of: (row.stamp, words)) { stamp.combine(ByteView($0)) }
      targets[position] = StampedRecord(value: value, stamp: stamp.value)
    }
    return targets
  }
}

extension AttachedSnapshot {
  /// Combines the stamps of a record and its target into one; a missing target has none.
  private static func stamp(_ record: UInt32, _ target: UInt32?) -> UInt32 {
    var checksum = Checksum()
    withUnsafeBytes(of: (record, target ?? 0, target == nil ? 0 : 1 as UInt32)) {
      checksum.combine(ByteView($0))
    }
    return checksum.value
  }

  /// Returns the results of `query` with the targets of their references, and with stamps of both.
  func resolvedRows<E: Entity, T: Entity>(
    _ query: AttachedQuery<E>, _ attribute: ReferenceAttribute<E, T>
  ) throws -> [(resolved: ResolvedRecord<E, T>, stamp: UInt32)] {
    let entity = try core.entity(E.self)
    let column = try ValueColumn(entity, attribute.ordinal)
    var rows: [(resolved: ResolvedRecord<E, T>, stamp: UInt32)] = []
    var chunk: [StoredRow] = []
    func flush() throws {
      let references = try chunk.map { try column.reference(of: $0, T.self) }
      let targets = try dataset.core.targets(references)
      for (position, row) in chunk.enumerated() {
        let resolved = ResolvedRecord(
          record: try core.decode(E.self, row, of: entity), reference: references[position],
          target: targets[position]?.value)
        rows.append((resolved, Self.stamp(row.stamp, targets[position]?.stamp)))
      }
      chunk.removeAll(keepingCapacity: true)
    }
    try visit(query) { row in
      chunk.append(row)
      if chunk.count == SemiJoinLimits.chunk { try flush() }
      return true
    }
    try flush()
    return rows
  }
}
