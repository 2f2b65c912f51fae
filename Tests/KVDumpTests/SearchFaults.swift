import LMDB
import LodestoreBytes
import LodestoreFormat

extension Fault {
  private static let tree = TreeName.search(entity: 1, index: 1)

  /// Adds a search index over the titles, which are attribute 2.
  private static func withSearch(_ store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(1), .catalogue, "searchIndexes",
      to: .array([
        .object([
          "number": .integer(1), "analysis": .integer(1),
          "sources": .array([
            .object(["attribute": .integer(2), "path": .array([]), "weight": .integer(1)])
          ]),
        ])
      ]))
    _ = try store.tree(tree)
  }

  static let searchFaults: [Fault] = [
    Fault("a word has no posting") { try withSearch($0) },
    Fault("a term has no last block") { store in
      try withSearch(store)
      try store.put([0x61, 0, 1, 7], [0, 7, 0, 0], tree)
    },
    Fault("a frequency is not that of the positions") { store in
      try withSearch(store)
      try store.put([0x61, 0, 0xFF], [0, 7, 1, 1, 0], tree)
    },
    Fault("a bound is below a posting") { store in
      try withSearch(store)
      // 33 postings of the records from 1 on, without lengths, and a bound of 5 words.
      let sizes: [UInt8] = [1] + Array(repeating: 0xFF, count: 4) + [1]
      try store.put(
        [0x61, 0, 0xFF], [32, 1, 1, 1, 5, 0, 0] + sizes + Array(repeating: 0, count: 33), tree)
    },
    Fault("a length is not that of the record") { store in
      try withSearch(store)
      try store.put(SearchKey.lengths(chunk: 0), [0, 0, 9, 0], tree)
    },
  ]
}
