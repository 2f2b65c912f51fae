internal import LodestoreFormat

/// What the writes after a place of the history have changed of the records of one entity.
struct ToldRecords: Sendable {
  /// Consecutive ids whose first change is one of the same write.
  struct First: Sendable, Equatable {
    var ids: Range<UInt64>
    /// Whether the records were there before: the change is no insert.
    let wasThere: Bool
    /// Under which number the write keeps its images.
    let image: UInt64
  }

  let pair: EntityPair
  /// Ascending, and without a common id, once the history is read.
  private(set) var firsts: [First] = []
  /// By the number of each attribute, the records in which an update changed it.
  private(set) var attributes: [UInt32: IDRuns] = [:]
  /// Records that earlier writes of the same commit as the first write changed.
  ///
  /// The image of a commit is that of its first change, so it may be older than the place.
  private(set) var earlier = IDRuns()
  /// In the order of the writes.
  private var entries: [First] = []

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
      entries.append(First(ids: ids, wasThere: wasThere, image: image))
    }
  }

  mutating func addEarlier(_ change: HistoryPart.Change) {
    for ids in change.ids.ranges { earlier.append(ids) }
  }

  /// Sorts what was added.
  mutating func finish() {
    for number in attributes.keys { attributes[number]?.normalize() }
    earlier.normalize()
    // By id; of changes that begin with one id, the one of the first write comes first.
    let order = entries.indices.sorted {
      (entries[$0].ids.lowerBound, $0) < (entries[$1].ids.lowerBound, $1)
    }
    var found: [(position: Int, ids: Range<UInt64>)] = []
    for position in order {
      let ids = entries[position].ids
      // What reaches beyond the start of this entry; sorted entries can overlap nothing else.
      var overlapping: [(position: Int, ids: Range<UInt64>)] = []
      while let last = found.last, last.ids.upperBound > ids.lowerBound {
        overlapping.append(last)
        found.removeLast()
      }
      var start = ids.lowerBound
      func put(_ position: Int, _ ids: Range<UInt64>) {
        if ids.isEmpty { return }
        if let last = found.last, last.position == position, last.ids.upperBound == ids.lowerBound {
          found[found.count - 1].ids = last.ids.lowerBound..<ids.upperBound
        } else {
          found.append((position, ids))
        }
      }
      for other in overlapping.reversed() {
        put(other.position, other.ids.lowerBound..<max(other.ids.lowerBound, start))
        let common = max(start, other.ids.lowerBound)
        let end = min(other.ids.upperBound, ids.upperBound)
        // Between two others, this entry is the only one.
        put(position, start..<min(max(start, other.ids.lowerBound), ids.upperBound))
        put(min(position, other.position), common..<max(common, end))
        put(other.position, max(common, end)..<max(other.ids.upperBound, max(common, end)))
        start = max(start, min(other.ids.upperBound, ids.upperBound))
      }
      put(position, start..<max(start, ids.upperBound))
    }
    firsts = found.map { position, ids in
      First(ids: ids, wasThere: entries[position].wasThere, image: entries[position].image)
    }
    entries = []
  }
}
