import LodestoreFormat

/// The records that writes report as updated or deleted, by the number under which their images are
/// stored.
///
/// An image is a record as it was before a change. The parts of a history come before its images,
/// so all changes are known when the first image is compared.
struct ReportedChanges {
  /// The maximum number of runs of record ids, which bounds the memory to about 64 MiB.
  ///
  /// A history with more runs of record ids is not compared.
  private static let mostRuns = 1 << 22

  private struct Key: Hashable {
    let images: UInt64
    let entity: EntityNumber
  }

  private struct Records {
    /// The updated and the deleted records.
    var changed = IDRuns()
    var deleted = IDRuns()
    var imageCount = 0
    var preservedCount = 0
  }

  /// Whether some changes are unknown, so that nothing can be compared.
  var isPartial = false
  private var writes: [Key: Records] = [:]
  private var runCount = 0

  mutating func append(_ change: HistoryPart.Change, _ images: UInt64) {
    switch change.kind {
    case .inserted, .restarted: return
    case .updated, .deleted: break
    }
    runCount += change.ids.ranges.count
    guard runCount <= Self.mostRuns else {
      isPartial = true
      writes = [:]
      return
    }
    let key = Key(images: images, entity: change.entity)
    for range in change.ids.ranges {
      writes[key, default: Records()].changed.append(range)
      if change.kind == .deleted { writes[key, default: Records()].deleted.append(range) }
    }
  }

  /// Counts a record as it was before a change, which the history holds.
  ///
  /// Returns false if no write reports a change of the record.
  mutating func hasImage(of id: UInt64, _ entity: EntityNumber, _ images: UInt64) -> Bool {
    has(id, entity, images: images, in: \.changed, counting: \.imageCount)
  }

  /// Counts the preserved values of a deleted record, which the history holds.
  ///
  /// Returns false if no write reports the deletion of the record.
  mutating func hasPreserved(of id: UInt64, _ entity: EntityNumber, _ images: UInt64) -> Bool {
    has(id, entity, images: images, in: \.deleted, counting: \.preservedCount)
  }

  private mutating func has(
    _ id: UInt64, _ entity: EntityNumber, images: UInt64,
    in ids: WritableKeyPath<Records, IDRuns>, counting count: WritableKeyPath<Records, Int>
  ) -> Bool {
    if isPartial { return true }
    let key = Key(images: images, entity: entity)
    writes[key]?[keyPath: ids].normalize()
    guard writes[key]?[keyPath: ids].contains(id) == true else { return false }
    writes[key]?[keyPath: count] += 1
    return true
  }

  /// Descriptions of the writes that stored images or values for only some of an entity's changed
  /// records.
  var lacks: [String] {
    if isPartial { return [] }
    var lacks: [String] = []
    for (key, records) in writes.sorted(by: {
      ($0.key.images, $0.key.entity) < ($1.key.images, $1.key.entity)
    }) {
      func compare(_ count: Int, _ ids: IDRuns, _ what: String) {
        let all = ids.normalized.count
        guard count > 0, count < all else { return }
        lacks.append(
          "of \(all) records of entity \(key.entity) that write \(key.images) changed, or one that "
            + "shares its images, \(count) have \(what)")
      }
      compare(records.imageCount, records.changed, "an image")
      compare(records.preservedCount, records.deleted, "preserved values")
    }
    return lacks
  }
}
