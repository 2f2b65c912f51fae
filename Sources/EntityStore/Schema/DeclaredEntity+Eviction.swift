internal import LodestoreFormat

extension DeclaredEntity {
  /// Declares the expiry and the limit of records as in `schema`.
  mutating func setEviction<E: Entity>(of schema: EntitySchema<E>) throws(StoreError) {
    guard schema.expires.count <= 1 else {
      throw .badSchema(
        entity: schema.name,
        "its records expire by \(schema.expires.count) attributes; name one date")
    }
    if let path = schema.expires.first {
      try expire(by: try schema.position(of: path, "its records expire by"))
    }
    if let limit = schema.limit {
      guard limit.oldest.count <= 1 else {
        throw .badSchema(
          entity: schema.name,
          "its limit is by \(limit.oldest.count) attributes; name one, or none for the order of insertion"
        )
      }
      let positions = try schema.positions(of: limit.oldest, "its limit is by")
      try setLimit(count: limit.count, bytes: limit.byteCount, by: positions.first)
    }
  }

  /// Makes records expire by the date in the attribute at `position`, and adds an index over it.
  mutating func expire(by position: Int) throws(StoreError) {
    let attribute = attributes[position]
    guard attribute.storage.type == .date else {
      throw .badSchema(
        entity: name, attribute: attribute.name,
        "its records cannot expire by '\(attribute.name)', which is stored as a "
          + "\(attribute.storage.type.name); name an attribute of type Date")
    }
    expiry = position
    try addIndex(over: position, of: "expiry")
  }

  /// Limits the number and the size of the records.
  ///
  /// - Parameter position: the attribute whose lowest value marks the oldest record, over which an
  ///   index is added; `nil` for the order of ids.
  mutating func setLimit(count: Int?, bytes: Int?, by position: Int?) throws(StoreError) {
    guard count != nil || bytes != nil else {
      throw .badSchema(
        entity: name,
        "its limit names no number of records and no number of bytes; name one of them")
    }
    if let number = [count, bytes].compactMap({ $0 }).first(where: { $0 < 1 }) {
      throw .badSchema(entity: name, "its limit is \(number), and must be at least 1")
    }
    limit = DeclaredLimit(count: count, byteCount: bytes, attribute: position)
    guard let position else { return }
    let attribute = attributes[position]
    guard attribute.storage.type.isIndexable else {
      throw .badSchema(
        entity: name, attribute: attribute.name,
        "its limit cannot be by '\(attribute.name)', which is stored as a "
          + "\(attribute.storage.type.name) and has no order")
    }
    try addIndex(over: position, of: "limit")
  }

  /// Adds an index over the attribute at `position`, if none exists.
  private mutating func addIndex(over position: Int, of part: String) throws(StoreError) {
    guard !indexes.contains(where: { $0.attributes == [position] }) else { return }
    indexes.append(DeclaredIndex(attributes: [position], isUnique: false))
    guard indexes.count + computedIndexes.count <= Self.mostIndexes else {
      throw .badSchema(
        entity: name,
        "with the index of its \(part) it has \(indexes.count + computedIndexes.count) indexes, the limit "
          + "is \(Self.mostIndexes)")
    }
  }
}
