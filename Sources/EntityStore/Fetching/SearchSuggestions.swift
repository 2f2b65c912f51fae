internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Returns words of the texts of `E` that are similar to `word`, for a search that finds nothing.
  ///
  ///     try store.searchSuggestions(for: "netwroking", in: Pod.self)  // networking
  ///
  /// A similar word differs by one change, or by up to two changes if `word` has 6 characters or
  /// more. A change inserts, removes or replaces a character, or exchanges two neighbours. The
  /// first character is the same. The words come without case and marks, as the index has them: the
  /// most similar first, then the most frequent. Words of expired records are among them until the
  /// store removes the records.
  ///
  /// - Complexity: linear in the number of different words with this first character.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if `E` has no search index.
  public func searchSuggestions<E: Entity>(
    for word: String, in type: E.Type, limit: Int = 5
  ) throws(StoreError) -> [String] {
    let core = access.core
    let entity = try core.entity(E.self)
    guard !entity.searchIndexes.isEmpty else {
      throw entity.computedIndexes(.search).first.map(StoreError.indexIsBuilding)
        ?? .noSearchIndex(entity: entity, nil)
    }
    return try wrappingErrors { try core.suggestions(for: word, in: entity, limit: limit) }
  }
}

extension TransactionCore {
  /// Returns the words of ``ReadableTransaction/searchSuggestions(for:in:limit:)``.
  ///
  /// If `control` ends the search, the words found so far are returned.
  func suggestions(
    for word: String, in entity: StoredEntity, limit: Int, control: RunControl = RunControl()
  ) throws -> [String] {
    let wanted = Array(String(decoding: Self.term(of: word), as: UTF8.self).unicodeScalars)
    guard let first = wanted.first else { return [] }
    let most = wanted.count < 6 ? 1 : 2
    var found: [String: (distance: Int, count: UInt64)] = [:]
    for index in entity.searchIndexes {
      let prefix = Array(String(first).utf8)
      try forEachTerm(of: index.entries, from: prefix) { term, count in
        guard term.utf8.starts(with: prefix), !control.isCancelled() else { return false }
        let scalars = Array(term.unicodeScalars)
        if let distance = EditDistance.between(wanted, scalars, atMost: most), distance > 0 {
          found[term] = (distance, max(count, found[term]?.count ?? 0))
        }
        return true
      }
    }
    return found.sorted {
      ($0.value.distance, $1.value.count, $0.key) < ($1.value.distance, $0.value.count, $1.key)
    }.prefix(max(0, limit)).map(\.key)
  }

  /// Visits the terms of a search index in the order of their bytes, from `start` on, until `body`
  /// returns false.
  ///
  /// The number of records of a term includes expired ones.
  func forEachTerm(
    of index: StoredIndex, from start: [UInt8],
    _ body: (_ term: String, _ recordCount: UInt64) throws -> Bool
  ) throws {
    try prepareSearch()
    let cursor = try Cursor(index.tree, in: transaction)
    var key = start
    var isThere = try cursor.seek(atOrAfter: start)
    while isThere, let (bytes, _) = SearchKey.block(cursor.key) {
      let term = String(decoding: bytes, as: UTF8.self)
      // The last block of a term has the number of its records.
      SearchKey.setBlock(of: bytes, endingWith: nil, in: &key)
      guard try key._withBytes({ try cursor.seek(atOrAfter: $0) }) else { return }
      guard try body(term, try PostingBlock.total(cursor.value)) else { return }
      isThere = try cursor.next()
    }
  }

  /// The first term by which a search finds `word`; empty if the text has no word.
  static func term(of word: String) -> [UInt8] {
    Array(word.utf8)._withBytes { bytes in
      let word = TextAnalysis.query(words: bytes).first
      return word?.whole ?? word?.terms.first ?? []
    }
  }
}

/// The number of changes of single characters between two words.
enum EditDistance {
  /// Returns the distance, or `nil` if it is above `limit`.
  ///
  /// An exchange of two neighbours is one change.
  static func between(
    _ a: [Unicode.Scalar], _ b: [Unicode.Scalar], atMost limit: Int
  ) -> Int? {
    guard abs(a.count - b.count) <= limit else { return nil }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, beforeLast[j - 1] + 1)
        }
        row.append(least)
      }
      guard (row.min() ?? 0) <= limit else { return nil }
      (beforeLast, last) = (last, row)
    }
    return last[b.count] <= limit ? last[b.count] : nil
  }
}
