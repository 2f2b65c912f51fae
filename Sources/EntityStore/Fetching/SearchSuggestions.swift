internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Returns words of the texts of `E` that are similar to `word`, for a search that finds nothing.
  ///
  ///     try store.read { try $0.searchSuggestions(for: "netwroking", in: Pod.self) }  // networking
  ///
  /// A similar word differs by one change, or by up to two changes if `word` has 6 characters or
  /// more. A change inserts, removes or replaces a character, or exchanges two neighbours. The first
  /// character is the same. The words come without case and marks, as the index has them: the most
  /// similar first, then the most frequent.
  ///
  /// - Complexity: linear in the number of different words with this first character.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if `E` has no search index.
  public func searchSuggestions<E: Entity>(
    for word: String, in type: E.Type, limit: Int = 5
  ) throws(StoreError) -> [String] {
    let core = access.core
    let entity = try core.entity(E.self)
    guard !entity.searchIndexes.isEmpty else { throw .noSearchIndex(entity: entity, nil) }
    return try wrappingErrors { try core.suggestions(for: word, in: entity, limit: limit) }
  }
}

extension TransactionCore {
  fileprivate func suggestions(
    for word: String, in entity: StoredEntity, limit: Int
  ) throws -> [String] {
    try prepareSearch()
    var wanted: [Unicode.Scalar] = []
    Array(word.utf8)._withBytes { bytes in
      let word = TextAnalysis.query(words: bytes).first
      let term = word?.whole ?? word?.terms.first ?? []
      wanted = Array(String(decoding: term, as: UTF8.self).unicodeScalars)
    }
    guard let first = wanted.first else { return [] }
    let most = wanted.count < 6 ? 1 : 2
    var found: [String: (distance: Int, count: UInt64)] = [:]
    for index in entity.searchIndexes {
      let cursor = try Cursor(index.entries.tree, in: transaction)
      let prefix = Array(String(first).utf8)
      var key = prefix
      var isThere = try cursor.seek(atOrAfter: prefix)
      while isThere, let (bytes, _) = SearchKey.block(cursor.key),
        prefix._withBytes({ bytes.starts(with: $0) })
      {
        let term = String(decoding: bytes, as: UTF8.self)
        SearchKey.setBlock(of: bytes, endingWith: nil, in: &key)
        isThere = try key._withBytes { try cursor.seek(atOrAfter: $0) }
        if isThere {
          let scalars = Array(term.unicodeScalars)
          if let distance = EditDistance.between(wanted, scalars, atMost: most), distance > 0 {
            let block = try PostingBlock(cursor.value)
            let count = block.total ?? UInt64(block.count)
            found[term] = (distance, max(count, found[term]?.count ?? 0))
          }
          isThere = try cursor.next()
        }
      }
    }
    return found.sorted {
      ($0.value.distance, $1.value.count, $0.key) < ($1.value.distance, $0.value.count, $1.key)
    }.prefix(max(0, limit)).map(\.key)
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
