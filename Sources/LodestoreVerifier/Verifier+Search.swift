import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks that each word of each record has its posting in the search indexes of an entity.
  ///
  /// Other postings, lengths and statistics are findings.
  func verifySearches(of entity: EntityDescription) throws {
    guard let records = trees[TreeName.records(entity: entity.number).text] else { return }
    let layouts = entity.layoutsByNumber
    for index in entity.computedIndexes where index.kind == .search {
      let subject = "\(entity.name).\(entity.indexName(index))"
      guard let tree = tree(index.tree(of: entity.number), of: subject) else { continue }
      let before = findings.count
      let end = try builtEnd(of: index, entity)
      var expected = SearchSums()
      var analyzer = TextAnalyzer()
      try walk(records) { key, body in
        guard key.count == 8, key.uint64(at: 0) < end, let view = layouts.view(of: body) else {
          return
        }
        let texts = SearchTexts(of: index, in: view, entity)
        try? expected.add(texts, of: key.uint64(at: 0), by: &analyzer)
      }
      var reader = SearchTreeCheck(index)
      do {
        try walk(tree) { key, body in try reader.read(key, body) }
        try reader.finish()
      } catch let error as FormatError {
        add(
          .entryBody, error.rule ?? .searchPostings, tree: tree.name, subject: subject,
          error.description)
      }
      if findings.count == before, let difference = reader.sums.difference(from: expected) {
        add(.entryMissing, .searchEntries, tree: tree.name, subject: subject, difference)
      }
      noteTree(tree.name, try transaction.count(of: tree), since: before)
    }
  }
}

/// Sums of hashes over the postings and lengths of a search index.
///
/// Equal sums over equally many parts show that the parts are the same.
struct SearchSums: Equatable {
  private var postings: UInt64 = 0
  private(set) var postingCount = 0
  private var lengths: UInt64 = 0
  private(set) var recordCount: UInt64 = 0
  private(set) var wordCount: UInt64 = 0

  mutating func add(_ term: ByteView, _ id: UInt64, _ source: UInt32, _ position: UInt32) {
    var hasher = Hasher()
    hasher._combine(bytes: term)
    hasher.combine(id)
    hasher.combine(source)
    hasher.combine(position)
    postings &+= UInt64(bitPattern: Int64(hasher.finalize()))
    postingCount += 1
  }

  mutating func add(length: UInt16, of id: UInt64) {
    if length == 0 { return }
    var hasher = Hasher()
    hasher.combine(id)
    hasher.combine(length)
    lengths &+= UInt64(bitPattern: Int64(hasher.finalize()))
    recordCount += 1
    wordCount &+= UInt64(length)
  }

  mutating func add(
    _ texts: SearchTexts, of id: UInt64, by analyzer: inout TextAnalyzer
  ) throws(FormatError) {
    // A term may be given twice for one word; it has one posting.
    var places: Set<[UInt8]> = []
    var sums = self
    let length = try texts.forEachTerm(by: &analyzer) { term, source, position in
      let place = Array(term) + [0] + bigEndianBytes(source) + bigEndianBytes(position)
      if places.insert(place).inserted { sums.add(term, id, source, position) }
    }
    sums.add(length: length, of: id)
    self = sums
  }

  /// The difference in words; `nil` if the sums are equal.
  func difference(from expected: SearchSums) -> String? {
    if self == expected { return nil }
    if postings != expected.postings || postingCount != expected.postingCount {
      return
        "has \(postingCount) places of words, which are not the \(expected.postingCount) of the "
        + "records"
    }
    return
      "has lengths of \(recordCount) records with \(wordCount) words, which are not those of the "
      + "\(expected.recordCount) records with \(expected.wordCount) words"
  }
}

/// Reads the pairs of a search index in the order of their keys.
struct SearchTreeCheck {
  private(set) var sums = SearchSums()
  private let weights: [UInt32]
  private let form: PostingForm
  private var lengths: [UInt64: [UInt16]] = [:]
  private var statistics: (records: UInt64, words: UInt64) = (0, 0)
  private var term: [UInt8] = []
  private var count: UInt64 = 0
  private var lastID: UInt64?
  private var isComplete = true

  init(_ index: EntityDescription.ComputedIndex) {
    weights = index.sources.map(\.weight)
    form = index.postingForm
  }

  mutating func read(_ key: ByteView, _ body: ByteView) throws(FormatError) {
    if SearchKey.statistics._withBytes({ key.elementsEqual($0) }) {
      try require(
        body.count == 16, "statistics of \(body.count) bytes, must have 16", .searchLengths)
      statistics = (body.uint64(at: 0), body.uint64(at: 8))
    } else if let chunk = SearchKey.chunk(key) {
      try readLengths(chunk, body)
    } else if let (term, id) = SearchKey.block(key) {
      try read(term, endingWith: id, body)
    } else {
      throw FormatError("a key of \(key.count) bytes that is none", .searchKey)
    }
  }

  private mutating func readLengths(_ chunk: UInt64, _ body: ByteView) throws(FormatError) {
    try require(
      body.count > 0 && body.count % 2 == 0 && body.count <= Int(SearchKey.chunkSize) * 2,
      "lengths of \(body.count) bytes", .searchLengths)
    let values = (0..<body.count / 2).map { body.uint16(at: $0 * 2) }
    try require(values.last != 0, "lengths that end with 0", .searchLengths)
    lengths[chunk] = values
    let first = chunk.multipliedReportingOverflow(by: SearchKey.chunkSize)
    try require(!first.overflow, "lengths of no record", .searchLengths)
    for (index, length) in values.enumerated() {
      sums.add(length: length, of: first.partialValue &+ UInt64(index))
    }
  }

  private mutating func read(
    _ term: ByteView, endingWith key: UInt64?, _ body: ByteView
  ) throws(FormatError) {
    let block = try PostingBlock(body, form)
    if !self.term._withBytes({ term.elementsEqual($0) }) {
      try require(isComplete, "a term has no last block", .searchKey)
      self.term = Array(term)
      count = 0
      lastID = nil
    }
    try require(
      lastID.map { $0 < block.firstID } ?? true, "blocks of a term are not in order", .searchKey)
    let ids = OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
    let ends = OwnedBytes(byteCount: PostingBlock.capacity * 4, alignment: 8)
    try block.readIDs(into: ids.view)
    let positions = try block.readPositionEnds(into: ends.view)
    for index in 0..<block.count {
      let id = ByteView(ids.view).uint64(at: index * 8)
      let places = try PostingBlock.positions(at: index, ends.view, positions)
      try read(term, id, block, index, places)
      lastID = id
    }
    count += UInt64(block.count)
    isComplete = key == nil
    if let key {
      try require(key == lastID, "a block's key names another record than its last", .searchKey)
    } else {
      try require(
        block.total ?? UInt64(block.count) == count,
        "a term has \(count) postings, and its last block says \(block.total ?? 0)",
        .searchPostings)
    }
  }

  private mutating func read(
    _ term: ByteView, _ id: UInt64, _ block: PostingBlock, _ index: Int,
    _ positions: PositionNumbers
  ) throws(FormatError) {
    var sum: UInt64 = 0
    var found: [(source: UInt32, position: UInt32)] = []
    try PositionList.forEach(positions, sourceCount: weights.count) { source, position in
      found.append((source, position))
    }
    for (source, position) in found {
      sums.add(term, id, source, position)
      sum &+= UInt64(weights[Int(source)])
    }
    let frequency = UInt32(clamping: sum)
    try require(
      frequency > 0 && frequency == block.frequency(at: index),
      "a posting of record \(id) has the frequency \(block.frequency(at: index)), its places give "
        + "\(frequency)", .searchPostings)
    guard block.hasBounds else { return }
    let chunk = lengths[id / SearchKey.chunkSize] ?? []
    let place = Int(id % SearchKey.chunkSize)
    let length = place < chunk.count ? chunk[place] : 0
    var isBounded = false
    block.forEachBound { highest, least in
      if highest >= frequency, least <= length { isBounded = true }
    }
    try require(
      isBounded, "a posting of record \(id) is above the bounds of its block", .searchBounds)
  }

  func finish() throws(FormatError) {
    try require(isComplete, "a term has no last block", .searchKey)
    try require(
      statistics == (sums.recordCount, sums.wordCount),
      "the statistics say \(statistics.records) records with \(statistics.words) words, the "
        + "lengths give \(sums.recordCount) and \(sums.wordCount)", .searchLengths)
  }
}
