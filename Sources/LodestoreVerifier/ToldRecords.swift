import LodestoreFormat

/// The records of the changes that writes with common images tell of, where each must be once.
struct ToldRecords {
  /// Bounds the memory to 64 MiB: of a write with more runs the others are not compared.
  private static let mostRuns = 1 << 22

  private var ranges: [EntityNumber: [Range<UInt64>]] = [:]
  private var count = 0

  mutating func append(_ change: HistoryPart.Change) {
    guard count < Self.mostRuns else { return }
    count += change.ids.ranges.count
    ranges[change.entity, default: []] += change.ids.ranges
  }

  /// Begins anew, and returns a record that was told of twice.
  mutating func end() -> (entity: EntityNumber, id: UInt64)? {
    defer { self = ToldRecords() }
    for (entity, told) in ranges where told.count > 1 {
      let sorted = told.sorted { $0.lowerBound < $1.lowerBound }
      for (range, next) in zip(sorted, sorted.dropFirst())
      where next.lowerBound < range.upperBound {
        return (entity, next.lowerBound)
      }
    }
    return nil
  }
}
