internal import LodestoreFormat

/// Counts the to-one links that a batch writes as attributes of its records.
struct LinkTally {
  /// The links that a change of a record adds and removes.
  struct Change {
    /// The number of links to a new target.
    var added = 0
    /// The number of removed links, including links that now have another target.
    var removed = 0
  }

  private let entity: StoredEntity
  /// The numbers of the attributes that hold links.
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

  /// Counts the added and removed links when `old` becomes `new`; `old` is `nil` for a new record.
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
