internal import LodestoreFormat

/// The policies for merging each attribute of a stored record with that of an incoming one.
struct AttributePolicies: Sendable {
  enum Policy: Sendable {
    /// The incoming value wins.
    case incoming
    /// The stored value wins, unless it is null.
    case stored
    /// The incoming record is refused when the values differ.
    case fail
    /// The value of the record with the later date wins; with equal dates, the incoming value wins.
    ///
    /// The date is in the attribute with this number. Null is before every date.
    case newest(date: UInt32)
    /// The program combines both values.
    case combine(@Sendable (_ stored: Value, _ incoming: Value) throws -> Value)
  }

  /// The policy of attributes that are not in ``byNumber``.
  var standard: Policy
  var byNumber: [UInt32: Policy]
  /// Whether an incoming record may lack required attributes; the stored record then keeps its
  /// values of them.
  var takesParts = false

  /// Returns whether the attribute's policy is ``Policy/fail``, which never changes a stored value.
  func keeps(_ number: UInt32) -> Bool {
    if case .fail = byNumber[number] ?? standard { true } else { false }
  }

  init(standard: Policy, byNumber: [UInt32: Policy] = [:]) {
    self.standard = standard
    self.byNumber = byNumber
  }

  /// Returns the merged content; an attribute that was not given keeps its stored value.
  func merge(
    _ input: MergeInput, isGiven: (_ position: Int) -> Bool
  ) throws(StoreError) -> RecordBytes {
    let entity = input.entity
    let (stored, incoming) = try input.values()
    var merged = stored
    for (position, attribute) in entity.layout.attributes.enumerated() where isGiven(position) {
      let policy = byNumber[attribute.number] ?? standard
      // With this policy even an incoming value that compares as equal is taken, because its bytes
      // may differ from the stored ones.
      if case .incoming = policy { merged[position] = incoming[position] }
      guard stored[position] != incoming[position] else { continue }
      switch policy {
      case .incoming: break
      case .stored: if stored[position] == .null { merged[position] = incoming[position] }
      case .fail:
        // The incoming link's target is not imported yet, so the link does not conflict with a
        // stored null.
        if stored[position] == .null, incoming[position] == MergeInput.unresolvedLink { continue }
        let name = entity.description.attribute(number: attribute.number)?.name ?? "?"
        throw StoreError(
          .mergeConflict,
          "cannot merge with \(entity.name) \(input.id): '\(name)' has another value there, and "
            + "may not change", entity: entity.name, attribute: name, recordID: input.id)
      case .newest(let date):
        guard let clock = entity.layout.slotIndex(ofAttribute: date) else { continue }
        let date = isGiven(clock) ? incoming[clock] : .null
        if !Self.isLater(stored[clock], than: date) { merged[position] = incoming[position] }
      case .combine(let body):
        merged[position] = try combined(
          stored[position], incoming[position], of: attribute, in: input, by: body)
      }
    }
    return try entity.record(of: merged, id: input.id)
  }

  private func combined(
    _ stored: Value, _ incoming: Value, of attribute: RecordLayout.Attribute, in input: MergeInput,
    by body: (Value, Value) throws -> Value
  ) throws(StoreError) -> Value {
    let value: Value
    do {
      value = try body(stored, incoming)
    } catch {
      throw StoreError(
        .mergeConflict, "cannot merge with \(input.entity.name) \(input.id): \(error)",
        cause: error, entity: input.entity.name, recordID: input.id)
    }
    guard value == .null ? attribute.isOptional : value.fits(attribute.type) else {
      throw StoreError(
        .unstorableValue,
        "the merged value does not fit an attribute of type \(attribute.type.name)",
        entity: input.entity.name, recordID: input.id)
    }
    return value
  }

  private static func isLater(_ a: Value, than b: Value) -> Bool {
    guard case .date(let a) = a else { return false }
    guard case .date(let b) = b else { return true }
    return a > b
  }
}
