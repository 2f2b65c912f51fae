internal import LodestoreFormat

/// The records of one entity that the writes after a point of the history have changed.
struct RecordsOfHistory: Sendable {
  /// Consecutive ids of records whose first change since the token is in one write.
  struct FirstChange: Sendable, Equatable {
    var ids: Range<UInt64>
    /// Whether the records existed before the change; false for an insert.
    let wasThere: Bool
    /// The number under which the write stores its images.
    let image: UInt64
  }

  let pair: EntityPair
  /// The first changes, in ascending order and without overlap, after the history has been read.
  private(set) var firsts: [FirstChange] = []
  /// The records in which an update changed an attribute, by the attribute's number.
  private(set) var attributes: [UInt32: IDRuns] = [:]
  /// The records that earlier writes of the first write's commit changed.
  ///
  /// The image of such a record is from before the commit's first change, so it may show values
  /// from before the token.
  private(set) var earlier = IDRuns()
  /// The changes added so far, in the order of the writes.
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

  /// Sorts the added changes.
  mutating func finish() {
    for number in attributes.keys { attributes[number]?.normalize() }
    earlier.normalize()
    firsts = Self.firsts(of: entries.indices.map { (entries[$0].ids, UInt64($0)) }).map {
      let entry = entries[Int($0.image)]
      return FirstChange(ids: $0.ids, wasThere: entry.wasThere, image: entry.image)
    }
    entries = []
  }

  /// Turns runs of ids that may overlap into runs in which each id has only its lowest write
  /// number.
  ///
  /// The result is in ascending order, without overlap.
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
      // Runs are sorted by their first ids, so only the last ones in the result can overlap.
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
