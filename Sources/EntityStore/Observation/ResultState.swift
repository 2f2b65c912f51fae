internal import LodestoreFormat

/// A record in results, with a stamp for detecting changes.
struct ResultRow<E: Entity>: Sendable {
  var value: E
  /// The checksum of the record's bytes, which shows whether the record has changed.
  var stamp: UInt32

  var id: UInt64 { value.id.rawValue }
}

/// A section: the number of rows with one value in an attribute.
struct RowSection<Key: Sendable>: Sendable {
  /// The sort key of the section.
  var order: [UInt8]
  var key: Key
  var count: Int
}

/// Results of a query as of one commit.
struct ResultState<E: Entity, Key: Sendable>: Sendable {
  var rows = RowList<ResultRow<E>>()
  /// The sections in order; empty when the results have no sections.
  var sections: [RowSection<Key>] = []
  var hasSections = false

  /// The index at which each section begins, followed by the total count.
  var starts: [Int] {
    var starts = [0]
    for section in sections { starts.append((starts.last ?? 0) + section.count) }
    return starts
  }

  static func position(_ index: Int, _ starts: [Int]) -> ResultPosition {
    guard starts.count > 1 else { return ResultPosition(section: 0, row: index, index: index) }
    let section = starts.dropLast().partitioningIndex { $0 > index } - 1
    return ResultPosition(section: section, row: index - starts[section], index: index)
  }
}

extension ResultState {
  /// The changes since `old`, whatever the commits between them.
  ///
  /// - Parameter treatsAllAsChanged: whether equal stamps are ignored, because the records of
  ///   another store have other layouts.
  func difference(from old: ResultState, treatsAllAsChanged: Bool = false) -> ResultDifference {
    var oldIndices: [UInt64: (index: Int, stamp: UInt32)] = [:]
    oldIndices.reserveCapacity(old.rows.count)
    old.rows.forEach { index, row in oldIndices[row.id] = (index, row.stamp) }
    var insertedRows: [Int] = []
    var kept: [(from: Int, to: Int, isChanged: Bool)] = []
    rows.forEach { index, row in
      if let known = oldIndices.removeValue(forKey: row.id) {
        kept.append((known.index, index, known.stamp != row.stamp || treatsAllAsChanged))
      } else {
        insertedRows.append(index)
      }
    }
    let deletedRows = oldIndices.values.map(\.index).sorted()
    return difference(
      from: old, deleted: deletedRows, inserted: insertedRows, kept: RowMoves.moves(kept))
  }

  /// The difference with positions, from the indices of rows.
  func difference(
    from old: ResultState, deleted: [Int], inserted: [Int],
    kept: [(from: Int, to: Int, isMoved: Bool)]
  ) -> ResultDifference {
    var difference = ResultDifference()
    let (oldStarts, newStarts) = (old.starts, starts)
    difference.deleted = deleted.map { Self.position($0, oldStarts) }
    difference.inserted = inserted.map { Self.position($0, newStarts) }
    for row in kept {
      let from = Self.position(row.from, oldStarts)
      let to = Self.position(row.to, newStarts)
      let change = ResultDifference.Change(from: from, to: to)
      // A row in another section has moved, wherever it is among the others.
      let isElsewhere =
        hasSections && old.sections[from.section].order != sections[to.section].order
      if row.isMoved || isElsewhere {
        difference.moved.append(change)
      } else {
        difference.updated.append(change)
      }
    }
    if hasSections {
      let before = Set(old.sections.map(\.order))
      let after = Set(sections.map(\.order))
      difference.deletedSections = old.sections.indices.filter {
        !after.contains(old.sections[$0].order)
      }
      difference.insertedSections = sections.indices.filter { !before.contains(sections[$0].order) }
    }
    return difference
  }
}
