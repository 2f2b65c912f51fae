internal import LodestoreFormat

/// What has happened to the records of one entity between two commits, as far as observers have to know.
struct EntityDelta: Sendable {
  /// Records that may have changed; all of them where ``isUnknown``.
  var touched = IDRuns()
  /// Those of them that were not there before.
  var inserted = IDRuns()
  /// The others as they were before, as far as they were kept.
  var olds: [UInt64: [UInt8]] = [:]
  /// The numbers of the attributes that updates have changed.
  var attributes: Set<UInt32> = []
  /// Whether records were inserted or deleted.
  var changesRecords = false
  /// Whether more has happened than is listed.
  var isUnknown = false

  /// More is not told one by one.
  static let largestCount = 4_096

  static var unknown: EntityDelta {
    var delta = EntityDelta()
    delta.isUnknown = true
    return delta
  }

  /// Adds what has happened after it.
  mutating func merge(_ later: EntityDelta) {
    isUnknown = isUnknown || later.isUnknown
    changesRecords = changesRecords || later.changesRecords
    attributes.formUnion(later.attributes)
    guard !isUnknown else { return forget() }
    for (id, bytes) in later.olds where !touched.contains(id) { olds[id] = bytes }
    // What was there before, was deleted and came back by an undo is not new.
    inserted = IDRuns(inserted.ranges + later.inserted.subtracting(touched).ranges)
    touched = IDRuns(touched.ranges + later.touched.ranges)
    if touched.count > Self.largestCount {
      isUnknown = true
      forget()
    }
  }

  private mutating func forget() {
    touched = IDRuns()
    inserted = IDRuns()
    olds = [:]
  }
}

/// What has happened between two commits.
struct ChangeDelta: Sendable {
  var entities: [EntityNumber: EntityDelta] = [:]
  /// The numbers of relationships whose links have changed.
  var relationships: Set<UInt32> = []
  /// Whether anything may have happened.
  var isUnknown = false

  static var unknown: ChangeDelta {
    var delta = ChangeDelta()
    delta.isUnknown = true
    return delta
  }

  var isEmpty: Bool { entities.isEmpty && relationships.isEmpty && !isUnknown }

  func entity(_ number: EntityNumber) -> EntityDelta? {
    isUnknown ? .unknown : entities[number]
  }

  /// Adds what has happened after it.
  mutating func merge(_ later: ChangeDelta) {
    isUnknown = isUnknown || later.isUnknown
    relationships.formUnion(later.relationships)
    for (number, delta) in later.entities {
      if entities[number] == nil {
        entities[number] = delta
      } else {
        entities[number]?.merge(delta)
      }
    }
  }
}
