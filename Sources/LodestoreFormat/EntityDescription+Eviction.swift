// Automatic removal of records: at an expiry date, and beyond a limit.

extension EntityDescription {
  /// The date at which records expire.
  ///
  /// See Format.md, "Expiry".
  package struct Expiry: Sendable, Hashable {
    /// The number of the attribute that holds a record's expiry date.
    package var attribute: UInt32

    package init(attribute: UInt32) { self.attribute = attribute }
  }

  /// The limit of an entity, beyond which the oldest records are evicted.
  ///
  /// See Format.md, "Limits of entities".
  package struct Limit: Sendable, Hashable {
    /// The highest number of records; `nil` for no limit.
    package var count: Int?
    /// The highest total length of the records in bytes; `nil` for no limit.
    package var byteCount: Int?
    /// The number of the attribute that orders records by age: the record with the least value is
    /// the oldest.
    ///
    /// If `nil`, the record with the lowest id is the oldest.
    package var attribute: UInt32?

    package init(count: Int? = nil, byteCount: Int? = nil, attribute: UInt32? = nil) {
      self.count = count
      self.byteCount = byteCount
      self.attribute = attribute
    }
  }

  /// The limit in words, such as `10000 records, 4096 bytes, by 'fetchedAt'`; `nil` if there is no
  /// limit.
  package var limitText: String? {
    guard let limit else { return nil }
    let parts = [
      limit.count.map { "\($0) \($0 == 1 ? "record" : "records")" },
      limit.byteCount.map { "\($0) \($0 == 1 ? "byte" : "bytes")" },
      limit.attribute.flatMap { attribute(number: $0) }.map { "by '\($0.name)'" },
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }

  /// The name of the attribute that holds the expiry date; `nil` if records do not expire.
  package var expiryText: String? { expiry.flatMap { attribute(number: $0.attribute)?.name } }

  /// Removes an expiry or a limit whose attribute can no longer serve it.
  ///
  /// The expiry ends if its attribute is removed, is not a date, or is not the only attribute of an
  /// index. The limit ends if its attribute is removed or is not the only attribute of an index.
  package mutating func evolveEviction() {
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

  /// Whether the store maintains the total length of the records.
  package var keepsSize: Bool { limit?.byteCount != nil }

  // MARK: Checks

  /// Checks that an index has only the expiry date, because the store finds expired records through
  /// it.
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

  /// Checks that the limit bounds something, and that an index has only its attribute, because the
  /// store finds the oldest records through it.
  func checkLimit() throws(FormatError) {
    guard let limit else { return }
    try require(
      limit.count != nil || limit.byteCount != nil,
      "the limit of entity '\(name)' has no 'count' and no 'bytes'", .catalogueLimit)
    guard let number = limit.attribute else { return }
    guard indexes.contains(where: { $0.attributes == [number] }) else {
      throw FormatError(
        "the limit of entity '\(name)' is by attribute \(number), which has no index of its own",
        .catalogueLimit)
    }
  }
}
