import Testing

@testable import EntityStore

/// Batch inserts of rows that are given some of the attributes.
@Suite struct `Rows that are merged by what they give` {
  @Test func `a row is not matched by an attribute that it omits`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        // The row gives no episode, so its draft has 0. The row must not match the film with the
        // episode 0.
        try transaction.insert(Film(title: "zero", episode: 0))
        try transaction.insert(Film(title: "five", episode: 5, code: "x"))
        let rows: [[String: any AttributeValue]] = [["code": "x", "title": "changed"]]
        let result = try transaction.insert(Film.self, dictionaries: rows, onConflict: .patch())
        #expect(result.updatedCount == 1 && result.ids.map(\.rawValue) == [2])
      }
      let titles = try store.read { try $0.fetch(Film.byEpisode).map(\.title) }
      #expect(titles == ["zero", "changed"])
      // No stored record has the code, so the row would be an insert, for which it lacks an
      // attribute.
      for rows: [[String: any AttributeValue]] in [
        [["code": "y"]], [["code": "y"], ["code": "x"]],
      ] {
        let error = try storeError(.unstorableValue) {
          try store.write {
            _ = try $0.insert(Film.self, dictionaries: rows, onConflict: .patch())
          }
        }
        #expect(error.attribute == "title" || error.attribute == "episode")
      }
      let codes = try store.read { try $0.fetch(Film.byEpisode).map(\.code) }
      #expect(codes == [nil, "x"])
    }
  }

  @Test func `a row whose given and stored values form another record's key is refused`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try store.write { transaction in
        try transaction.insert(Pod(name: "", version: "1", stars: 1))
        try transaction.insert(Pod(name: "a", version: "1", stars: 2))
        // The version is only a part of the key. No pod is therefore found, although two pods have
        // this version.
        _ = try storeError(.unstorableValue) {
          try transaction.insert(
            Pod.self, dictionaries: [["version": "1", "stars": 9]], onConflict: .patch())
        }
      }
      let stars = try store.read { try $0.fetch(Pod.all).map(\.stars) }
      #expect(stars == [1, 2])
    }
  }

  /// The third row has the unique key that the first row's record gets from a given value and a
  /// stored value.
  @Test(arguments: [true, false])
  func `rows of one call are merged in their order`(isOneCall: Bool) throws {
    try withTemporaryStore([ModelItem<SecondVersion>.self]) { store in
      typealias Item = ModelItem<SecondVersion>
      try store.insert(
        [Item(ModelRow(key: "p", number: 1, group: "A")), Item(ModelRow(key: "q", number: 2))])
      let rows: [[String: any AttributeValue]] = [
        ["key": "p", "number": 5], ["key": "q", "number": 5, "group": "B"],
        ["group": "A", "number": 5, "note": "met"], ["key": "r", "number": 1, "group": "A"],
        ["key": "q", "note": "n"],
      ]
      try store.write { tx in
        if isOneCall {
          try tx.insert(Item.self, dictionaries: rows, onConflict: .patch())
        } else {
          for row in rows { try tx.insert(Item.self, dictionaries: [row], onConflict: .patch()) }
        }
      }
      let found = try store.fetch(Item.all).map {
        "\($0.row.key) \($0.row.group ?? "-")\($0.row.number) \($0.row.note ?? "-")"
      }
      #expect(found.sorted() == ["p A5 met", "q B5 n", "r A1 -"])
    }
  }

  @Test func `a later row takes a key that an earlier row of the call frees`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert([Film(title: "a", episode: 1, code: "x"), Film(title: "b", episode: 2)])
      let result = try store.write { tx in
        try tx.insert(
          Film.self,
          dictionaries: [["episode": 1, "code": "y"], ["episode": 2, "code": "x"]],
          onConflict: .patch(), matching: .unique(\.episode))
      }
      #expect(result.updatedCount == 2)
      let codes = try store.read { try $0.fetch(Film.byEpisode).map(\.code) }
      #expect(codes == ["y", "x"])
    }
  }
}
