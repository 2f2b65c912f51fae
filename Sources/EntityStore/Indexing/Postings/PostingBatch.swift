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
    let record = UInt32(records.count)
    let start = occurrences.count
    let oldLength = try append(old, record: record)
    let middle = occurrences.count
    let newLength =
      try new.map { (new) throws(FormatError) in try append(new, record: record) } ?? 0
    let (before, after) = (Array(occurrences[start..<middle]), Array(occurrences[middle...]))
    occurrences.removeSubrange(start...)
    // A shorter text has a higher score for each of its words, so the bounds of their blocks
    // change.
    let writesAll = LengthClass.of(newLength) < LengthClass.of(oldLength)
    changeNumber += 1
    while changes.count < terms.count { changes.append(0) }
    if writesAll {
      for occurrence in before { remove(occurrence.term, from: record) }
      for occurrence in after { remove(occurrence.term, from: record) }
    } else {
      removeDifferences(before, after, of: record)
    }
    if occurrences.count > start { hasRemovals = true }
    for occurrence in after where changes[Int(occurrence.term)] == changeNumber {
      occurrences.append(occurrence)
    }
    if occurrences.count > start || newLength != oldLength {
      records.append(Record(id: id, length: newLength))
    }
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
  private mutating func append(_ texts: SearchTexts, record: UInt32) throws(FormatError) -> UInt16 {
    try texts.forEachTerm(by: &analyzer) { term, source, position in
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
