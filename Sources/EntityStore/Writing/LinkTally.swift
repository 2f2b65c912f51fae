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

  private let entity: StoredEntity
  /// The numbers of the attributes.
  private let attributes: [UInt32]
  private(set) var total = Change()

  init(_ attributes: [UInt32], of entity: StoredEntity) {
    self.entity = entity
    self.attributes = attributes
  }

  mutating func add(_ change: Change) {
    total.added += change.added
    total.removed += change.removed
  }

  /// What becomes of links when `old`, `nil` for a new record, becomes `new`.
  func change(_ old: RecordView?, _ new: RecordView) throws(StoreError) -> Change {
    var change = Change()
    for attribute in attributes {
      let before = try entity.recordID(ofAttribute: attribute, in: old)
      let after = try entity.recordID(ofAttribute: attribute, in: new)
      if before == after { continue }
      if after == nil { change.removed += 1 } else { change.added += 1 }
    }
    return change
  }
}
