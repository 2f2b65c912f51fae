package import LodestoreFormat

extension ReplayUnit {
  /// The units of consecutive whole entries.
  ///
  /// A unit may span entries. Entries without changes have no unit. The last unit of an entry has
  /// the digests of the entry's head.
  ///
  /// - Throws: `PackError`, also when the last entry's last unit has no end.
  package static func units(of entries: [LogEntry]) throws(PackError) -> [ReplayUnit] {
    var units: [ReplayUnit] = []
    var steps: [ReplayStep] = []
    var buckets: [ReplayBucket] = []
    for entry in entries where entry.head.kind == .pack {
      var reader = try PackReader(entry)
      var isEnded = false
      while let item = try reader.next() {
        isEnded = false
        switch item {
        case .steps(let some): steps += some
        case .bucket(let bucket): buckets.append(bucket)
        case .end(let end):
          var whole = ReplayEnd(
            storeID: entry.head.store.bytes, after: end.after, last: end.last,
            schema: entry.head.schema, digests: nil)
          (whole.places, whole.nextIDs, whole.buckets) = (end.places, end.nextIDs, buckets)
          if let total = end.bucketTotal {
            whole.digests = ReplayDigests(
              contents: [:], bucketTotal: total, buckets: end.buckets)
          }
          units.append(ReplayUnit(steps: steps, end: whole))
          (steps, buckets) = ([], [])
          isEnded = true
        }
      }
      guard isEnded != entry.head.part.continues else {
        throw .damaged(
          "the entry of slot \(entry.head.slot)", "its last changes do not end where its head says",
          slot: entry.head.slot)
      }
      guard isEnded, let index = units.indices.last else { continue }
      guard units[index].end.last == entry.head.lastWrite else {
        throw .damaged(
          "the entry of slot \(entry.head.slot)", "it ends with another write than its head says",
          slot: entry.head.slot)
      }
      // Only the state after the entry has the digests of its head.
      units[index].end.digests?.contents = entry.head.digests.mapValues(\.bytes)
    }
    guard steps.isEmpty, buckets.isEmpty else {
      throw .damaged("the last entry", "a part of its changes is missing")
    }
    return units
  }
}

extension LogEntry {
  /// The steps of the entry.
  package func steps() throws(PackError) -> [ReplayStep] { try content().steps }
}

extension PackWriter {
  /// Adds a whole unit.
  package mutating func add(_ unit: ReplayUnit) throws(PackError) {
    for step in unit.steps { try add(step) }
    try add(unit.end)
  }
}
