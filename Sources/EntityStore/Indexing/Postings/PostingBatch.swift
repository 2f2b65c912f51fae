internal import LodestoreBytes
internal import LodestoreFormat

/// The words of changed records of one search index, until they are written.
struct PostingBatch: ~Copyable {
  /// One occurrence of a term in a record, or the removal of all earlier ones.
  struct Occurrence {
    var term: UInt32
    /// The index in ``records``.
    var record: UInt32
    /// The place in the text; `.max` for a removal.
    var position: UInt32
    /// The number of the text within the index.
    var source: UInt32

    static let removal: UInt32 = .max
  }

  /// A record whose texts changed.
  struct Record {
    var id: UInt64
    /// The number of words, at most 65,535; 0 if the record has none or is gone.
    var length: UInt16
  }

  private(set) var terms = TermTable()
  private(set) var occurrences: [Occurrence] = []
  private(set) var records: [Record] = []
  /// Whether postings are removed or replaced.
  private(set) var hasRemovals = false
  private var analyzer = TextAnalyzer()
  /// The number of the last change of each term, and that of the last change of all.
  private var changes: [UInt32] = []
  private var changeNumber: UInt32 = 0

  init() {}

  var isEmpty: Bool { records.isEmpty }

  /// The memory that the batch takes, with that of its writing.
  var memory: Int {
    terms.byteCount + occurrences.count * 2 * MemoryLayout<Occurrence>.stride + records.count * 16
  }

  /// Adds a record that the index does not have.
  mutating func insert(_ id: UInt64, _ texts: SearchTexts) throws(FormatError) {
    let length = try append(texts, record: UInt32(records.count))
    if length > 0 { records.append(Record(id: id, length: length)) }
  }

  /// Adds the differences of a record that the index has; `nil` if the record is removed.
  mutating func change(
    _ id: UInt64, _ old: SearchTexts, _ new: SearchTexts?
  ) throws(FormatError) {
    if let new, let starts = old.sharedStarts(with: new),
      try change(id, old, new, after: starts)
    {
      return
    }
    _ = try change(id, old, new, after: nil)
  }

  /// Adds the differences, and analyzes the beginnings of the texts once.
  ///
  /// - Parameter starts: The number of equal bytes at the beginning of each source; `nil` to
  ///   analyze the whole texts.
  /// - Returns: Whether the differences are added. A change that writes all terms needs the whole
  ///   texts.
  private mutating func change(
    _ id: UInt64, _ old: SearchTexts, _ new: SearchTexts?, after starts: [Int]?
  ) throws(FormatError) -> Bool {
    let record = UInt32(records.count)
    let start = occurrences.count
    let rests = starts.map { SearchTexts.Part.rests($0) } ?? .whole
    var oldLength = try append(old, rests, record: record)
    let middle = occurrences.count
    var newLength =
      try new.map { (new) throws(FormatError) in try append(new, rests, record: record) } ?? 0
    let (before, after) = (Array(occurrences[start..<middle]), Array(occurrences[middle...]))
    occurrences.removeSubrange(start...)
    changeNumber += 1
    while changes.count < terms.count { changes.append(0) }
    var shared = SharedWords()
    if let new, let starts {
      removeDifferences(before, after, of: record)
      shared = try sharedWords(of: new, starts, record: record)
      oldLength = UInt16(clamping: Int(oldLength) + Int(shared.length))
      newLength = UInt16(clamping: Int(newLength) + Int(shared.length))
    }
    // A shorter text has a higher score for each of its words, so the bounds of their blocks
    // change.
    let writesAll = LengthClass.of(newLength) < LengthClass.of(oldLength)
    if starts == nil {
      if writesAll {
        for occurrence in before { remove(occurrence.term, from: record) }
        for occurrence in after { remove(occurrence.term, from: record) }
      } else {
        removeDifferences(before, after, of: record)
      }
    } else if writesAll {
      occurrences.removeSubrange(start...)
      return false
    }
    if occurrences.count > start { hasRemovals = true }
    let added = occurrences.count
    occurrences.append(contentsOf: shared.occurrences)
    for var occurrence in after where changes[Int(occurrence.term)] == changeNumber {
      if starts != nil { occurrence.position += shared.counts[Int(occurrence.source)] }
      occurrences.append(occurrence)
    }
    if shared.counts.count > 1 { occurrences[added...].sort { Self.order($0, $1) < 0 } }
    if occurrences.count > start || newLength != oldLength {
      records.append(Record(id: id, length: newLength))
    }
    return true
  }

  /// The words at the beginning of two texts.
  private struct SharedWords {
    /// The occurrences of the terms that the change removes.
    var occurrences: [Occurrence] = []
    /// The number of positions in each source.
    var counts: [UInt32] = []
    var length: UInt16 = 0
  }

  private mutating func sharedWords(
    of texts: SearchTexts, _ starts: [Int], record: UInt32
  ) throws(FormatError) -> SharedWords {
    var shared = SharedWords(counts: Array(repeating: 0, count: starts.count))
    shared.length = try texts.forEachTerm(in: .starts(starts), by: &analyzer) {
      term, source, position in
      shared.counts[Int(source)] = position + 1
      guard let number = terms.known(term), changes[Int(number)] == changeNumber else { return }
      shared.occurrences.append(
        Occurrence(term: number, record: record, position: position, source: source))
    }
    return shared
  }

  /// Removes the earlier occurrences of a term in the record, once in a change.
  private mutating func remove(_ term: UInt32, from record: UInt32) {
    if changes[Int(term)] == changeNumber { return }
    changes[Int(term)] = changeNumber
    occurrences.append(
      Occurrence(term: term, record: record, position: Occurrence.removal, source: 0))
  }

  /// Removes the terms whose places differ between two texts.
  ///
  /// Each place of any other term has an equal one in the other text.
  private mutating func removeDifferences(
    _ a: [Occurrence], _ b: [Occurrence], of record: UInt32
  ) {
    var (i, j) = (0, 0)
    while i < a.count || j < b.count {
      let order = i == a.count ? 1 : j == b.count ? -1 : Self.order(a[i], b[j])
      let isSame = order == 0 && a[i].term == b[j].term
      if order <= 0 {
        if !isSame { remove(a[i].term, from: record) }
        i += 1
      }
      if order >= 0 {
        if !isSame { remove(b[j].term, from: record) }
        j += 1
      }
    }
  }

  private static func order(_ a: Occurrence, _ b: Occurrence) -> Int {
    if a.source != b.source { return a.source < b.source ? -1 : 1 }
    return a.position == b.position ? 0 : a.position < b.position ? -1 : 1
  }

  /// Appends the occurrences of a record, and returns the number of its words.
  private mutating func append(
    _ texts: SearchTexts, _ part: SearchTexts.Part = .whole, record: UInt32
  ) throws(FormatError) -> UInt16 {
    try texts.forEachTerm(in: part, by: &analyzer) { term, source, position in
      occurrences.append(
        Occurrence(
          term: terms.number(of: term), record: record, position: position, source: source))
    }
  }

  /// The occurrences in the order of terms, and of arrival for each term.
  consuming func grouped() -> GroupedPostings {
    let order = terms.sorted()
    var ranks = [UInt32](repeating: 0, count: order.count)
    for (rank, term) in order.enumerated() { ranks[Int(term)] = UInt32(rank) }
    var starts = [Int](repeating: 0, count: order.count + 1)
    for occurrence in occurrences { starts[Int(ranks[Int(occurrence.term)]) + 1] += 1 }
    for rank in 0..<order.count { starts[rank + 1] += starts[rank] }
    var places = starts
    var sorted = [Occurrence](
      repeating: Occurrence(term: 0, record: 0, position: 0, source: 0), count: occurrences.count)
    for occurrence in occurrences {
      let rank = Int(ranks[Int(occurrence.term)])
      sorted[places[rank]] = occurrence
      places[rank] += 1
    }
    return GroupedPostings(
      terms: terms, order: order, starts: starts, occurrences: sorted, records: records)
  }
}

/// The occurrences of a batch in the order of terms.
struct GroupedPostings: ~Copyable {
  let terms: TermTable
  let order: [UInt32]
  let starts: [Int]
  let occurrences: [PostingBatch.Occurrence]
  let records: [PostingBatch.Record]
}
