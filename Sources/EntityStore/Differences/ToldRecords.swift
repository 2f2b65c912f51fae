internal import LodestoreFormat

/// The records of one entity that the writes after a place of the history have changed.
struct ToldRecords: Sendable {
  /// Consecutive ids whose first change is one of the same write.
  struct FirstChange: Sendable, Equatable {
    var ids: Range<UInt64>
    /// Whether the records were there before: the change is no insert.
    let wasThere: Bool
    /// Under which number the write keeps its images.
    let image: UInt64
  }

  let pair: EntityPair
  /// Ascending, and without a common id, once the history is read.
  private(set) var firsts: [FirstChange] = []
  /// By the number of each attribute, the records in which an update changed it.
  private(set) var attributes: [UInt32: IDRuns] = [:]
  /// Records that earlier writes of the same commit as the first write changed.
  ///
  /// The image of a commit is that of its first change, so it may be older than the place.
  private(set) var earlier = IDRuns()
  /// In the order of the writes.
  private var entries: [FirstChange] = []

  init(_ entity: StoredEntity) { pair = EntityPair(entity.name, entity, entity) }

  mutating func add(_ change: HistoryPart.Change, image: UInt64) {
    if change.kind == .restarted { return }
    if case .updated(let numbers) = change.kind {
      for number in numbers {
        for ids in change.ids.ranges { attributes[number, default: IDRuns()].append(ids) }
      }
    }
    let wasThere = change.kind != .inserted
    for ids in change.ids.ranges {
      entries.append(FirstChange(ids: ids, wasThere: wasThere, image: image))
    }
  }

  mutating func addEarlier(_ change: HistoryPart.Change) {
    for ids in change.ids.ranges { earlier.append(ids) }
  }

  /// Sorts what was added.
  mutating func finish() {
    for number in attributes.keys { attributes[number]?.normalize() }
    earlier.normalize()
    firsts = Self.firsts(of: entries.indices.map { (entries[$0].ids, UInt64($0)) }).map {
      let entry = entries[Int($0.image)]
      return FirstChange(ids: $0.ids, wasThere: entry.wasThere, image: entry.image)
    }
    entries = []
  }

  /// Of runs that may overlap, each with the number of its write, those with the lowest number for
  /// each id: ascending, without a common id.
  static func firsts(
    of runs: [(ids: Range<UInt64>, image: UInt64)]
  ) -> [(ids: Range<UInt64>, image: UInt64)] {
    var found: [(ids: Range<UInt64>, image: UInt64)] = []
    func put(_ image: UInt64, _ ids: Range<UInt64>) {
      if ids.isEmpty { return }
      if let last = found.last, last.image == image, last.ids.upperBound == ids.lowerBound {
        found[found.count - 1].ids = last.ids.lowerBound..<ids.upperBound
      } else {
        found.append((ids, image))
      }
    }
    for (ids, image) in runs.sorted(by: { $0.ids.lowerBound < $1.ids.lowerBound }) {
      // Runs come by their first ids, so that only the last ones found can overlap.
      var overlapping: [(ids: Range<UInt64>, image: UInt64)] = []
      while let last = found.last, last.ids.upperBound > ids.lowerBound {
        overlapping.append(last)
        found.removeLast()
      }
      var start = ids.lowerBound
      for other in overlapping.reversed() {
        let common = max(start, other.ids.lowerBound)
        let end = max(common, min(other.ids.upperBound, ids.upperBound))
        put(other.image, other.ids.lowerBound..<max(other.ids.lowerBound, start))
        put(image, start..<min(common, max(start, ids.upperBound)))
        put(min(image, other.image), common..<end)
        put(other.image, end..<max(end, other.ids.upperBound))
        start = max(start, min(other.ids.upperBound, ids.upperBound))
      }
      put(image, start..<max(start, ids.upperBound))
    }
    return found
  }
}
