internal import LodestoreFormat

/// Counts the links to one record that are written as attributes of the records of a batch.
struct LinkTally {
  /// Links that come and go with a record.
  struct Change {
    /// Links that lead where they did not lead before.
    var added = 0
    /// Links that lead nowhere any more.
    var removed = 0
  }

  /// The numbers of the attributes.
  private let attributes: [UInt32]
  private(set) var total = Change()

  init(_ attributes: [UInt32]) { self.attributes = attributes }

  mutating func add(_ change: Change) {
    total.added += change.added
    total.removed += change.removed
  }

  /// What becomes of links when `old`, `nil` for a new record, becomes `new`.
  func change(_ old: RecordView?, _ new: RecordView) throws(StoreError) -> Change {
    var change = Change()
    for attribute in attributes {
      let before = try target(attribute, old)
      let after = try target(attribute, new)
      if before == after { continue }
      if after == .null { change.removed += 1 } else { change.added += 1 }
    }
    return change
  }

  private func target(_ attribute: UInt32, _ view: RecordView?) throws(StoreError) -> Value {
    guard let view, let slot = view.layout.slotIndex(ofAttribute: attribute) else { return .null }
    return try wrappingErrors { try view.value(at: view.layout.slots[slot]) }
  }
}
