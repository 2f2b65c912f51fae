internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Writes the postings of a batch into a search index, term by term.
///
/// Each block that a changed posting belongs to is read and replaced. Blocks are not merged later.
struct PostingWriter: ~Copyable {
  private let tree: PostingTree
  private let name: String
  private let weights: [UInt32]
  private let form: PostingForm
  private var lengths: RecordLengths
  private var stored = PostingBuffer()
  private var merged = PostingBuffer()
  private var added = PostingBuffer()
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private var bounds: [PostingBlock.Bound] = []
  /// The bounds of the block in ``stored``; empty if it has none.
  private var storedBounds: [PostingBlock.Bound] = []
  /// The indices in ``merged`` of the postings that come from ``added``.
  private var freshIndices: [Int] = []

  init(
    _ index: StoredComputedIndex, in transaction: WritingTransaction
  ) throws(LMDBError) {
    tree = try PostingTree(index.entries.tree, in: transaction)
    name = index.entries.name
    weights = index.description.sources.map(\.weight)
    form = index.description.postingForm
    lengths = RecordLengths(tree, name: name)
  }

  /// - Parameter memoryLimit: the size of the tree up to which it is rewritten for a large batch.
  mutating func write(
    _ batch: consuming PostingBatch, memoryLimit: Int
  ) throws(StoreError) {
    let hasRemovals = batch.hasRemovals
    let groups = batch.grouped()
    let change = try lengths.write(groups.records)
    try writeStatistics(change)
    if !hasRemovals {
      try wrap { () throws(LMDBError) in
        try tree.rewriteIfWorthwhile(groups.order.count, memoryLimit: memoryLimit)
      }
    }
    for rank in 0..<groups.order.count {
      let range = groups.starts[rank]..<groups.starts[rank + 1]
      if range.isEmpty { continue }
      collect(groups.occurrences, range, groups.records)
      try groups.terms.withTerm(Int(groups.order[rank])) { (term) throws(StoreError) in
        try merge(into: term)
      }
    }
    try wrap { () throws(LMDBError) in try tree.finish() }
  }

  private func writeStatistics(_ change: (records: Int64, words: Int64)) throws(StoreError) {
    if change == (0, 0) { return }
    let key = SearchKey.statistics
    do throws(LMDBError) {
      try key._withBytes { (key) throws(LMDBError) in
        var records: Int64 = 0
        var words: Int64 = 0
        if try tree.seek(key), tree.value.count == 16 {
          records = Int64(bitPattern: tree.value.uint64(at: 0))
          words = Int64(bitPattern: tree.value.uint64(at: 8))
        }
        records &+= change.records
        words &+= change.words
        let bytes =
          littleEndianBytes(UInt64(bitPattern: records))
          + littleEndianBytes(UInt64(bitPattern: words))
        try bytes._withBytes { (bytes) throws(LMDBError) in try tree.put(key, bytes) }
      }
    } catch {
      throw StoreError(error)
    }
  }

  // MARK: The postings of a term

  /// Makes the postings of one term from its occurrences, in the order of ids; a frequency of 0 is
  /// a removal.
  private mutating func collect(
    _ occurrences: [PostingBatch.Occurrence], _ range: Range<Int>, _ records: [PostingBatch.Record]
  ) {
    added.removeAll()
    var isAscending = true
    var before: UInt64 = 0
    for index in range {
      let id = records[Int(occurrences[index].record)].id
      if id < before { isAscending = false }
      before = id
    }
    if isAscending { return collect(occurrences[range], records) }
    let sorted = range.sorted {
      let a = records[Int(occurrences[$0].record)].id
      let b = records[Int(occurrences[$1].record)].id
      return a == b ? $0 < $1 : a < b
    }
    let inOrder = sorted.map { occurrences[$0] }
    collect(inOrder[...], records)
  }

  private mutating func collect(
    _ occurrences: ArraySlice<PostingBatch.Occurrence>, _ records: [PostingBatch.Record]
  ) {
    var index = occurrences.startIndex
    let end = occurrences.endIndex
    while index < end {
      let id = records[Int(occurrences[index].record)].id
      var start = index
      while index < end, records[Int(occurrences[index].record)].id == id {
        // A removal ends all earlier occurrences.
        if occurrences[index].position == PostingBatch.Occurrence.removal { start = index + 1 }
        index += 1
      }
      added.append(
        id: id,
        frequency: PositionList.append(
          occurrences[start..<index], weights: weights, to: &added.positions))
    }
  }

  private func seekBlock(of term: ByteView) throws(StoreError) -> (
    block: PostingBlock, last: UInt64?
  )? {
    let isFound = try wrap { () throws(LMDBError) in
      try key._withBytes { (key) throws(LMDBError) in try tree.seek(atOrAfter: key) }
    }
    guard isFound, let (found, last) = SearchKey.block(tree.key),
      found.elementsEqual(term)
    else { return nil }
    do throws(FormatError) {
      return (try PostingBlock(tree.value, form), last)
    } catch {
      throw .damagedIndex(name, error.description)
    }
  }

  private func wrap<R>(_ body: () throws(LMDBError) -> R) throws(StoreError) -> R {
    do throws(LMDBError) { return try body() } catch { throw StoreError(error) }
  }

  /// Puts the postings in ``added`` into the blocks of `term`.
  private mutating func merge(into term: ByteView) throws(StoreError) {
    SearchKey.setBlock(of: term, endingWith: nil, in: &key)
    var total: UInt64 = 0
    /// The first id of the last block, if there are others before it.
    var start: UInt64?
    if let (block, _) = try seekBlock(of: term) {
      total = block.total ?? UInt64(block.count)
      if block.total == nil { try read(block) } else { start = block.firstID }
    } else {
      stored.removeAll()
      storedBounds.removeAll(keepingCapacity: true)
    }
    var next = 0
    if let start {
      let old = total
      // The blocks before the last one.
      while next < added.count, added.id(next) < start {
        SearchKey.setBlock(of: term, endingWith: added.id(next), in: &key)
        guard let (block, last) = try seekBlock(of: term), let last else { break }
        try read(block)
        let before = stored.count
        var end = next
        while end < added.count, added.id(end) <= last { end += 1 }
        mergeBlock(next..<end)
        total = total &+ UInt64(merged.count) &- UInt64(before)
        try replaceBlock(endingWith: last, of: term)
        next = end
      }
      if next == added.count, total == old { return }
      SearchKey.setBlock(of: term, endingWith: nil, in: &key)
      guard let (block, _) = try seekBlock(of: term) else {
        throw .damagedIndex(name, "a term has no last block")
      }
      if next == added.count { return try writeTotal(total, of: block) }
      try read(block)
    }
    let before = stored.count
    mergeBlock(next..<added.count)
    total = total &+ UInt64(merged.count) &- UInt64(before)
    try writeLast(of: term, total: total)
  }

  /// Replaces the number of postings in the last block of a term, which was found last.
  private mutating func writeTotal(
    _ total: UInt64, of block: PostingBlock
  ) throws(StoreError) {
    value.removeAll(keepingCapacity: true)
    block.append(total: total == UInt64(block.count) ? nil : total, to: &value)
    try putValue()
  }

  private mutating func read(_ block: PostingBlock) throws(StoreError) {
    do throws(FormatError) {
      try stored.read(block)
    } catch {
      throw .damagedIndex(name, error.description)
    }
    storedBounds.removeAll(keepingCapacity: true)
    block.forEachBound { frequency, length in
      storedBounds.append(.init(frequency: frequency, lengthClass: LengthClass.of(length)))
    }
  }

  /// Merges ``stored`` with a range of ``added`` into ``merged``.
  private mutating func mergeBlock(_ range: Range<Int>) {
    merged.removeAll()
    freshIndices.removeAll(keepingCapacity: true)
    var start = 0
    for index in range {
      let id = added.id(index)
      var end = start
      while end < stored.count, stored.id(end) < id { end += 1 }
      merged.append(stored, start..<end)
      start = end < stored.count && stored.id(end) == id ? end + 1 : end
      if added.frequency(index) > 0 {
        freshIndices.append(merged.count)
        merged.append(added, index..<index + 1)
      }
    }
    merged.append(stored, start..<stored.count)
  }

  /// Replaces the block before the last one that ends with the record `last` by the postings in
  /// ``merged``.
  private mutating func replaceBlock(
    endingWith last: UInt64, of term: ByteView
  ) throws(StoreError) {
    if merged.count == 0 || merged.id(merged.count - 1) != last {
      SearchKey.setBlock(of: term, endingWith: last, in: &key)
      try delete(key)
    }
    if merged.count == 0 { return }
    let parts = (merged.count + PostingBlock.capacity - 1) / PostingBlock.capacity
    for part in 0..<parts {
      let range = merged.count * part / parts..<merged.count * (part + 1) / parts
      try put(range, of: term, endingWith: merged.id(range.upperBound - 1), total: nil)
    }
  }

  private func delete(_ key: [UInt8]) throws(StoreError) {
    try wrap { () throws(LMDBError) in
      try key._withBytes { (key) throws(LMDBError) in
        if try tree.seek(key) { try tree.delete() }
      }
    }
  }

  /// Writes the postings in ``merged`` as the last blocks of `term`, which has `total` postings.
  private mutating func writeLast(
    of term: ByteView, total: UInt64
  ) throws(StoreError) {
    if merged.count == 0 {
      SearchKey.setBlock(of: term, endingWith: nil, in: &key)
      let last = key
      try delete(last)
      // The block before becomes the last one.
      guard total > 0 else { return }
      let isFound = try wrap { () throws(LMDBError) in
        try last._withBytes { (key) throws(LMDBError) in try tree.seek(before: key) }
      }
      guard isFound, let (found, id) = SearchKey.block(tree.key), id != nil,
        found.elementsEqual(term)
      else { throw .damagedIndex(name, "a term has \(total) postings too few") }
      let block: PostingBlock
      do throws(FormatError) {
        block = try PostingBlock(tree.value, form)
      } catch {
        throw .damagedIndex(name, error.description)
      }
      try read(block)
      try delete(Array(tree.key))
      mergeBlock(0..<0)
    }
    var start = 0
    while merged.count - start > PostingBlock.capacity {
      let end = start + PostingBlock.capacity
      try put(start..<end, of: term, endingWith: merged.id(end - 1), total: nil)
      start = end
    }
    let isWhole = total == UInt64(merged.count - start)
    try put(start..<merged.count, of: term, endingWith: nil, total: isWhole ? nil : total)
  }

  /// Adds the posting at `index` of ``merged`` to ``bounds``.
  private mutating func addBound(_ index: Int) throws(StoreError) {
    let length = try lengths.length(of: merged.id(index))
    PostingBlock.add(
      .init(frequency: merged.frequency(index), lengthClass: LengthClass.of(length)), to: &bounds)
  }

  /// Puts a block of the postings at `range` of ``merged``.
  private mutating func put(
    _ range: Range<Int>, of term: ByteView, endingWith last: UInt64?, total: UInt64?
  ) throws(StoreError) {
    bounds.removeAll(keepingCapacity: true)
    if range.count >= PostingBlock.leastBounded {
      if range.count == merged.count, !storedBounds.isEmpty {
        // The bounds of a block hold for its other postings, too, when some are removed. So the
        // lengths of these are not read.
        bounds.append(contentsOf: storedBounds)
        for index in freshIndices { try addBound(index) }
      } else {
        for index in range { try addBound(index) }
      }
    }
    SearchKey.setBlock(of: term, endingWith: last, in: &key)
    value.removeAll(keepingCapacity: true)
    let start = range.lowerBound
    PostingBlock.append(
      ids: ByteView(merged.ids.view)[(start * 8)...],
      frequencies: ByteView(merged.frequencies.view)[(start * 4)...],
      ends: ByteView(merged.ends.view)[(start * 4)...], count: range.count,
      positions: merged.positions, from: merged.end(start - 1), bounds: bounds, total: total,
      form: form, to: &value)
    try putValue()
  }

  /// Puts ``value`` under ``key``.
  private func putValue() throws(StoreError) {
    try wrap { () throws(LMDBError) in
      try key._withBytes { (key) throws(LMDBError) in
        try value._withBytes { (value) throws(LMDBError) in try tree.put(key, value) }
      }
    }
  }
}
