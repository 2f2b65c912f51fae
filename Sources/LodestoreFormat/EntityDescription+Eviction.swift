// Records that leave the file by themselves: at a date, and beyond a limit.

extension EntityDescription {
  /// When records expire.
  ///
  /// See Format.md, "Expiry".
  package struct Expiry: Sendable, Hashable {
    /// The number of the attribute whose date is the end of a record's life.
    package var attribute: UInt32

    package init(attribute: UInt32) { self.attribute = attribute }
  }

  /// The limit of an entity, beyond which the oldest records are evicted.
  ///
  /// See Format.md, "Limits of entities".
  package struct Limit: Sendable, Hashable {
    /// The highest number of records; `nil` for any.
    package var count: Int?
    /// The highest sum of the lengths of the records; `nil` for any.
    package var byteCount: Int?
    /// The number of the attribute whose least value the oldest record has; `nil` where the oldest
    /// record has the lowest id.
    package var attribute: UInt32?

    package init(count: Int? = nil, byteCount: Int? = nil, attribute: UInt32? = nil) {
      self.count = count
      self.byteCount = byteCount
      self.attribute = attribute
    }
  }

  /// The limit in words, such as `10000 records, 4096 bytes, by 'fetchedAt'`; `nil` without one.
  package var limitText: String? {
    guard let limit else { return nil }
    let parts = [
      limit.count.map { "\($0) \($0 == 1 ? "record" : "records")" },
      limit.byteCount.map { "\($0) \($0 == 1 ? "byte" : "bytes")" },
      limit.attribute.flatMap { attribute(number: $0) }.map { "by '\($0.name)'" },
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }

  /// The name of the attribute by which records expire; `nil` where they do not.
  package var expiryText: String? { expiry.flatMap { attribute(number: $0.attribute)?.name } }

  /// Ends the expiry where its attribute is removed, no date, or without an index of its own, and
  /// the limit where its attribute is removed or without one.
  package mutating func settleEviction() {
    func isIndexed(_ number: UInt32) -> Bool {
      attribute(number: number)?.isRemoved == false
        && indexes.contains { $0.attributes == [number] }
    }
    if let number = expiry?.attribute,
      !isIndexed(number) || attribute(number: number)?.type != .date
    {
      expiry = nil
    }
    if let number = limit?.attribute, !isIndexed(number) { limit = nil }
  }

  /// Whether the sum of the lengths of the records is kept.
  package var keepsSize: Bool { limit?.byteCount != nil }

  // MARK: Checks

  /// The date by which records expire has an index of its own, by which expired records are found.
  func checkExpiry() throws(FormatError) {
    guard let expiry else { return }
    guard let attribute = attribute(number: expiry.attribute), !attribute.isRemoved,
      attribute.type == .date
    else {
      throw FormatError(
        "records of entity '\(name)' expire by attribute \(expiry.attribute), which is no date of "
          + "the entity", .catalogueExpiry)
    }
    guard indexes.contains(where: { $0.attributes == [expiry.attribute] }) else {
      throw FormatError(
        "records of entity '\(name)' expire by '\(attribute.name)', which has no index of its own",
        .catalogueExpiry)
    }
  }

  /// Checks that the limit is one, and that the attribute by which it goes has an index of its own,
  /// which leads to the oldest records.
  func checkLimit() throws(FormatError) {
    guard let limit else { return }
    guard limit.count != nil || limit.byteCount != nil else {
      throw FormatError(
        "the limit of entity '\(name)' has no 'count' and no 'bytes'", .catalogueLimit)
    }
    guard let number = limit.attribute else { return }
    guard indexes.contains(where: { $0.attributes == [number] }) else {
      throw FormatError(
        "the limit of entity '\(name)' is by attribute \(number), which has no index of its own",
        .catalogueLimit)
    }
  }
}
