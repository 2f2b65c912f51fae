import LodestoreFormat

/// The records and links reported by writes that share their images.
///
/// Each record and each link may be reported only once.
struct ReportedRecords {
  /// The maximum number of runs of record ids and of links, which bounds the memory to 64 MiB.
  ///
  /// Further runs and links of a write are not compared.
  private static let mostRuns = 1 << 22

  private var ranges: [EntityNumber: [Range<UInt64>]] = [:]
  private var pairs: [UInt32: [LinkPair]] = [:]
  private var count = 0

  mutating func append(_ change: HistoryPart.Change) {
    guard count < Self.mostRuns else { return }
    count += change.ids.ranges.count
    ranges[change.entity, default: []] += change.ids.ranges
  }

  mutating func append(_ links: HistoryPart.Links) {
    guard count < Self.mostRuns else { return }
    count += links.pairs.count
    pairs[links.relationship, default: []] += links.pairs
  }

  /// Removes all records and links.
  ///
  /// Returns a description of a record or link that was reported twice; otherwise `nil`.
  mutating func end() -> String? {
    defer { self = ReportedRecords() }
    for (entity, reported) in ranges where reported.count > 1 {
      let sorted = reported.sorted { $0.lowerBound < $1.lowerBound }
      for (range, next) in zip(sorted, sorted.dropFirst())
      where next.lowerBound < range.upperBound {
        return "record \(next.lowerBound) of entity \(entity)"
      }
    }
    for (relationship, reported) in pairs where reported.count > 1 {
      let sorted = reported.sorted()
      if let (pair, _) = zip(sorted, sorted.dropFirst()).first(where: { $0 == $1 }) {
        return "the link of \(pair.from) and \(pair.to) by relationship \(relationship)"
      }
    }
    return nil
  }
}
