internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The postings of one term during a read, in the order of ids.
///
/// A block is decoded when one of its ids is asked for.
final class TermPostings: SearchNode {
  private let cursor: Cursor
  private let name: String
  private let form: PostingForm
  private let term: [UInt8]
  private var key: [UInt8] = []
  /// The number of records that have the term.
  let recordCount: UInt64
  private let statistics: SearchStatistics
  private let lengths: LengthTable
  /// The weight of the term in scores.
  let weight: Double

  private var block: PostingBlock?
  /// The highest id that the block can have; `.max` for the last block.
  private(set) var blockEnd = UInt64.max
  /// The highest score of a posting of the block, or more.
  private(set) var blockBound = 0.0
  private var isDecoded = false
  private let ids = OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
  private var index = 0
  private(set) var id: UInt64 = 0
  private let ends = OwnedBytes(byteCount: PostingBlock.capacity * 4, alignment: 8)
  private var positions: PositionNumbers?

  init(
    _ term: [UInt8], in tree: Tree, _ form: PostingForm, name: String,
    _ statistics: SearchStatistics, _ lengths: LengthTable, _ transaction: Transaction
  ) throws {
    cursor = try Cursor(tree, in: transaction)
    self.term = term
    self.name = name
    self.form = form
    self.statistics = statistics
    self.lengths = lengths
    var key: [UInt8] = []
    term._withBytes { SearchKey.setBlock(of: $0, endingWith: nil, in: &key) }
    let cursor = cursor
    let isFound = try key._withBytes { try cursor.seek($0) }
    if isFound {
      let last = try PostingBlock(cursor.value, form)
      recordCount = last.total ?? UInt64(last.count)
      weight = statistics.weight(ofTermIn: recordCount)
      if last.total == nil {
        // The only block.
        set(last, end: .max)
        return
      }
    } else {
      recordCount = 0
      weight = 0
      id = .max
      return
    }
    try seekBlock(0)
  }

  private func set(_ block: PostingBlock, end: UInt64) {
    self.block = block
    blockEnd = end
    isDecoded = false
    positions = nil
    id = block.firstID
    index = 0
    blockBound = weight * statistics.highestScore(of: block)
  }

  /// Moves to the first block that has an id from `target` on, without decoding it.
  ///
  /// ``id`` is then the first id of the block.
  func seekBlock(_ target: UInt64) throws {
    if block != nil, target <= blockEnd { return }
    term._withBytes { SearchKey.setBlock(of: $0, endingWith: target, in: &key) }
    try wrappingErrors {
      let isFound = try key._withBytes { try cursor.seek(atOrAfter: $0) }
      try take(isFound)
    }
  }

  private func take(_ isFound: Bool) throws {
    guard isFound, let (found, last) = SearchKey.block(cursor.key),
      term._withBytes({ found.elementsEqual($0) })
    else { throw StoreError.damagedIndex(name, "a term has no last block") }
    set(try PostingBlock(cursor.value, form), end: last ?? .max)
  }

  /// Moves to the block after the current one.
  func nextBlock() throws {
    guard blockEnd != .max else {
      id = .max
      block = nil
      return
    }
    try take(try cursor.next())
  }

  private func decode(_ block: PostingBlock) throws(FormatError) {
    try block.readIDs(into: ids.view)
    isDecoded = true
  }

  /// The index of the first id of the block from `target` on; `count` if all ids are lower.
  @inline(__always)
  private func firstIndex(from target: UInt64, _ count: Int) -> Int {
    // Most moves are short.
    var low = index
    var step = 1
    while low &+ step < count, storedID(low &+ step) < target {
      low &+= step
      step &*= 2
    }
    var high = min(count, low &+ step)
    while low < high {
      let middle = (low &+ high) &>> 1
      if storedID(middle) < target { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  @inline(__always)
  private func storedID(_ index: Int) -> UInt64 {
    ids.view.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
  }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    while let block {
      if target > blockEnd {
        try seekBlock(target)
        if id >= target { return }
        continue
      }
      if !isDecoded { try decode(block) }
      let next = firstIndex(from: target, block.count)
      if next < block.count {
        index = next
        id = storedID(next)
        return
      }
      if blockEnd == .max {
        id = .max
        self.block = nil
        return
      }
      try nextBlock()
      if id >= target { return }
    }
    id = .max
  }

  var frequency: UInt32 {
    block.map { $0.frequency(at: index) } ?? 0
  }

  func score() throws -> Double {
    weight * statistics.score(frequency: frequency, length: try lengths.length(of: id))
  }

  /// Adds the scores of all records to a table; before the first move.
  func addScores(to table: ScoreTable) throws {
    let scored = ScoredBlock(statistics, lengths)
    while let block {
      try scored.read(block, weight)
      table.raise(scored)
      try nextBlock()
    }
  }

  /// The positions in the current record; `nil` after the last one.
  func currentPositions() throws -> PositionNumbers? {
    guard let block else { return nil }
    let all = try positions ?? block.readPositionEnds(into: ends.view)
    positions = all
    return try PostingBlock.positions(at: index, ends.view, all)
  }
}

/// Records that match a part of a search, in the order of ids.
protocol SearchNode: AnyObject {
  /// The current record; 0 before the first move, and `.max` after the last one.
  var id: UInt64 { get }
  /// The number of records at most.
  var recordCount: UInt64 { get }
  /// Moves to the first record with `target` or a higher id.
  func advance(to target: UInt64) throws
  /// The score of the current record.
  func score() throws -> Double
  /// Whether a part is the beginning of a word.
  var hasPrefix: Bool { get }
  /// Restricts beginnings of words to records with a score in `wanted`, before the first move.
  func restrict(to wanted: ScoreTable)
}

extension SearchNode {
  var hasPrefix: Bool { false }
  func restrict(to wanted: ScoreTable) {}
}
