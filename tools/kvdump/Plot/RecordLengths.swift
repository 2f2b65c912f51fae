import EntityStore
import LMDB
import LodestoreFormat

/// The lengths of an entity's records, counted in parts that are twice as long each.
///
/// Only keys and lengths are read, and no record is decoded.
struct RecordLengths {
  private var counts: [Int: (records: Int, bytes: Int)] = [:]
  private var overflowPages = 0

  /// Reads the tree `number` of an open file.
  init(of number: EntityNumber, in environment: Environment, isOver: () -> Bool) throws {
    let name = TreeName.records(entity: number).text
    guard let tree = try environment.openExistingTree(name, hasIntegerKeys: true) else { return }
    try environment.read { transaction in
      overflowPages = try transaction.statistics(of: tree).overflowPages
      let cursor = try Cursor(tree, in: transaction)
      var (isThere, readCount) = (try cursor.first(), 0)
      while isThere {
        let length = cursor.value.count
        let part = max(length, 1).bitWidth - max(length, 1).leadingZeroBitCount - 1
        let old = counts[part] ?? (0, 0)
        counts[part] = (old.records + 1, old.bytes + length)
        readCount += 1
        if readCount.isMultiple(of: 1_024), isOver() { throw PlotReading.TimeOver() }
        isThere = try cursor.next()
      }
    }
  }

  func plot(_ entity: String) -> Plot {
    let parts = counts.isEmpty ? [] : Array((counts.keys.min() ?? 0)...(counts.keys.max() ?? 0))
    let records = counts.values.reduce(0) { $0 + $1.records }
    let bytes = counts.values.reduce(0) { $0 + $1.bytes }
    return Plot(
      title: "\(entity): records by length",
      summary: "\(NumberText.counted(records, "record")) with \(NumberText.byteCount(bytes)), "
        + "\(NumberText.byteCount(bytes / max(records, 1))) on average. Long records take "
        + "\(NumberText.counted(overflowPages, "overflow page")).",
      chart: .bars(
        parts.map { part in
          let count = counts[part]?.records ?? 0
          return Charts.Bar(
            label: "from \(NumberText.byteCount(1 << part))", value: Double(count),
            text: NumberText.grouped(count))
        }),
      columns: ["from", "below", "records", "bytes"],
      rows: parts.map { part in
        [
          .byteCount(1 << part), .byteCount(1 << (part + 1)),
          .count(counts[part]?.records ?? 0), .byteCount(counts[part]?.bytes ?? 0),
        ]
      })
  }
}
