import EntityStore
import Testing

@Suite struct `Unique indexes` {
  @Test func `a violation names entity, index and holder, and the transaction continues`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let holder = try transaction.insert(Film(title: "A New Hope", episode: 4)).id
        let error = try storeError(.uniqueViolation) {
          try transaction.insert(Film(title: "Other", episode: 4, code: "x"))
        }
        #expect(error.entity == "Film" && error.index == "Film.episode")
        #expect(error.recordID == holder.rawValue)
        #expect(!error.message.contains("Other") && error.message.contains("'Film.episode'"))
        #expect(try transaction.count(Film.all) == 1)
        try transaction.insert(Film(title: "Other", episode: 5, code: "x"))
      }
      #expect(try store.read { try $0.fetch(Film.all).map(\.episode) } == [4, 5])
    }
  }

  @Test func `a violation of the second index leaves nothing in the first`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert(Film(title: "a", episode: 1, code: "x"))
        let error = try storeError(.uniqueViolation) {
          try transaction.insert(Film(title: "b", episode: 2, code: "x"))
        }
        #expect(error.index == "Film.code")
        #expect(try transaction.fetch(Film.byEpisode.key(2)) == nil)
        #expect(try transaction.count(Film.byTitle, within: .init()) == 1)
      }
    }
  }

  @Test func `a batch with a duplicate inside, or with a stored one, changes nothing`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let holder = try transaction.insert(Film(title: "a", episode: 1)).id
        let stored = try storeError(.uniqueViolation) {
          try transaction.insert([2, 3, 1, 4].map { Film(title: "b", episode: $0) })
        }
        #expect(stored.recordID == holder.rawValue && stored.index == "Film.episode")
        let inside = try storeError(.uniqueViolation) {
          try transaction.insert([5, 6, 5].map { Film(title: "b", episode: $0) })
        }
        #expect(inside.entity == "Film" && inside.index == "Film.episode")
        #expect(try transaction.count(Film.all) == 1)
        #expect(try transaction.count(Film.byEpisode, within: .init()) == 1)
        let result = try transaction.insert(
          [2, 3].map { Film(title: "b", episode: $0) })
        #expect(result.insertedCount == 2 && result.ids.map(\.rawValue) == [2, 3])
      }
    }
  }

  @Test func `an update to a held value is refused and changes nothing`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let holder = try transaction.insert(Film(title: "a", episode: 1)).id
        var film = Film(title: "b", episode: 2)
        film.id = try transaction.insert(film).id
        var changed = film
        (changed.title, changed.episode) = ("c", 1)
        let error = try storeError(.uniqueViolation) { try transaction.update(changed) }
        #expect(error.recordID == holder.rawValue)
        #expect(try transaction.fetch(film.id) == film)
        #expect(try transaction.fetch(Film.byTitle.key("c")) == nil)
        // An update may keep the record's own unique values.
        changed.episode = 2
        #expect(try transaction.update(changed) == true)
        #expect(try transaction.update(changed) == false)
      }
    }
  }

  @Test func `nulls do not collide, and all of them are found`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert((1...3).map { Film(title: "a", episode: $0) })
        try transaction.insert(Film(title: "b", episode: 4))
        try transaction.insert(Film(title: "c", episode: 5, code: ""))
      }
      try store.read { snapshot throws in
        let nulls = IndexBounds<String?>().from(nil).through(nil)
        #expect(try snapshot.ids(Film.byCode, within: nulls).map(\.rawValue) == [1, 2, 3, 4])
        #expect(try snapshot.fetch(Film.byCode.key(nil))?.episode == 1)
        let keys: [String?] = [nil, "", "x"]
        #expect(try snapshot.fetch(Film.byCode, keys: keys).map { $0?.episode } == [1, 5, nil])
      }
    }
  }

  @Test func `a freed value can be taken in the same transaction`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        var first = Film(title: "a", episode: 1)
        first.id = try transaction.insert(first).id
        first.episode = 2
        try transaction.update(first)
        let second = try transaction.insert(Film(title: "b", episode: 1)).id
        try transaction.delete(second)
        try transaction.insert(Film(title: "c", episode: 1))
      }
      #expect(try store.read { try $0.fetch(Film.byEpisode.key(1))?.title } == "c")
    }
  }

  @Test func `merge policies keep, replace or patch the record that holds the key`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try store.write { transaction in
        let id = try transaction.insert(Pod(name: "a", version: "1", summary: "old", stars: 1)).id
        let new = Pod(name: "a", version: "1", summary: "new", stars: 2)
        #expect(try transaction.insert(new, onConflict: .ignore).id == id)
        #expect(try transaction.fetch(id)?.summary == "old")
        #expect(try transaction.insert(new, onConflict: .patch([\.stars])).id == id)
        let patched = try transaction.fetch(id)
        #expect(patched?.summary == "old" && patched?.stars == 2)
        #expect(try transaction.insert(new, onConflict: .replace).id == id)
        #expect(try transaction.fetch(id)?.summary == "new")
        let result = try transaction.insert(
          [new, Pod(name: "b", version: "1"), Pod(name: "b", version: "1", stars: 9)],
          onConflict: .replace)
        #expect(result.unchangedCount == 1 && result.insertedCount == 1)
        #expect(result.updatedCount == 1 && result.ids.map(\.rawValue) == [1, 2, 2])
      }
    }
  }

  private static let modes: [MergePolicy<Film>] = [
    .ignore, .replace, .patch([\.title]), .patch(), .merge { stored, _ in stored },
  ]

  /// The keys of one value lead to different records, or one key leads to no record.
  @Test func `a value whose keys belong to different records is refused by every call`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let first = Film(title: "a", episode: 1, code: "x")
        try transaction.insert([first, Film(title: "b", episode: 2, code: "y")])
      }
      let stored = try store.fetch(Film.all)
      let doors: [(inout WriteTransaction, Film, MergePolicy<Film>) throws -> Void] = [
        { try $0.insert($1, onConflict: $2) },
        { try $0.insert([$1], onConflict: $2) },
        { try $0.insert([Film(title: "new", episode: 9), $1], onConflict: $2) },
        { tx, film, mode in
          let row: [String: any AttributeValue] = [
            "title": film.title, "episode": film.episode, "code": film.code ?? "",
          ]
          try tx.insert(Film.self, dictionaries: [row], onConflict: mode)
        },
      ]
      for mode in Self.modes {
        for door in doors {
          let different = try storeError(.uniqueViolation) {
            try store.write { try door(&$0, Film(title: "c", episode: 1, code: "y"), mode) }
          }
          #expect(different.message.contains("'Film.episode' leads to Film 1"))
          #expect(different.message.contains("'Film.code' leads to Film 2"))
          let partly = try storeError(.uniqueViolation) {
            try store.write { try door(&$0, Film(title: "c", episode: 1, code: "z"), mode) }
          }
          #expect(partly.message.contains("'Film.episode' leads to Film 1"))
          #expect(partly.message.contains("'Film.code' leads to no record"))
          #expect(partly.message.contains("matching: .unique(\\.episode)"))
          #expect(partly.recordID == 1)
        }
      }
      let upsert = try storeError(.uniqueViolation) {
        try store.upsert(Film(title: "c", episode: 3, code: "y"))
      }
      #expect(upsert.recordID == 2 && upsert.index == "Film.episode")
      #expect(try store.fetch(Film.all) == stored)
    }
  }

  @Test func `a named key decides, and the other keys are checked`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert([
        Film(title: "a", episode: 1, code: "x"), Film(title: "b", episode: 2, code: "y"),
      ])
      try store.upsert(Film(title: "c", episode: 1, code: "z"), matching: .unique(\.episode))
      #expect(try store.fetch(Film.byEpisode.key(1))?.code == "z")
      try store.upsert(Film(title: "d", episode: 3, code: "y"), matching: .unique(\.code))
      #expect(try store.fetch(RecordID<Film>(rawValue: 2))?.episode == 3)
      let held = try storeError(.uniqueViolation) {
        try store.upsert(Film(title: "e", episode: 1, code: "y"), matching: .unique(\.episode))
      }
      #expect(held.index == "Film.code" && held.recordID == 2)
      // Each record releases a value before the other one takes it.
      let result = try store.insert(
        [Film(title: "f", episode: 1, code: "w"), Film(title: "g", episode: 3, code: "z")],
        onConflict: .replace, matching: .unique(\.episode))
      #expect(result.updatedCount == 2)
      let keyless = try storeError(.unstorableValue) {
        try store.upsert(Film(title: "h", episode: 9), matching: .unique(\.code))
      }
      #expect(keyless.index == "Film.code")
      let unknown = try storeError(.unknownIndex) {
        try store.upsert(Film(title: "h", episode: 9), matching: .unique(\.title))
      }
      #expect(unknown.message.contains("Film.title"))
      #expect(try store.count(Film.all) == 2)
    }
  }

  @Test func `a key that a record lacked is added to the record`() throws {
    try withTemporaryStore([Film.self]) { store in
      let id = try store.insert(Film(title: "a", episode: 1)).id
      #expect(try store.upsert(Film(title: "b", episode: 1, code: "x")).id == id)
      // Null does not count as a key, so it does not lead to another record.
      #expect(try store.upsert(Film(title: "c", episode: 1)).id == id)
      #expect(try store.fetch(id)?.code == nil)
    }
  }
}

@Suite struct `Record ids` {
  private func insert(_ store: Store, _ episode: Int) throws -> UInt64 {
    try store.write { try $0.insert(Film(title: "", episode: episode)).id.rawValue }
  }

  @Test func `record ids are not used again after the last record is deleted`() throws {
    try withTemporaryPath { path in
      var store = try Store(at: path, entities: [Film.self])
      for episode in 1...3 { _ = try insert(store, episode) }
      try store.write { _ = try $0.delete(RecordID<Film>(rawValue: 3)) }
      #expect(try insert(store, 3) == 4)
      try store.write { transaction in
        _ = try transaction.delete([4, 2].map { RecordID<Film>(rawValue: $0) })
      }
      store.close()
      store = try Store(at: path, entities: [Film.self])
      #expect(try insert(store, 4) == 5)
      store.close()
    }
  }

  @Test func `record ids are not used again after all records are deleted`() throws {
    try withTemporaryPath { path in
      var store = try Store(at: path, entities: [Film.self])
      for episode in 1...3 { _ = try insert(store, episode) }
      try store.write { try $0.delete(Film.all) }
      store.close()
      store = try Store(at: path, entities: [Film.self])
      #expect(try store.read { try $0.count(Film.all) } == 0)
      #expect(try insert(store, 1) == 4)
      store.close()
    }
  }

  // A regression test: only the first delete of a transaction raised the id counter. An id assigned
  // and deleted after that delete was used again.
  @Test func `record ids are not used again if given and deleted after another delete`() throws {
    try withTemporaryStore([Film.self]) { store in
      _ = try insert(store, 1)
      try store.write { transaction in
        try transaction.delete(RecordID<Film>(rawValue: 1))
        let id = try transaction.insert(Film(title: "", episode: 2)).id
        #expect(id.rawValue == 2)
        try transaction.delete(id)
      }
      #expect(try insert(store, 3) == 3)
    }
  }

  @Test func `an insert refuses a value with an id, and an update one without an id`() throws {
    try withTemporaryStore([Film.self]) { store in
      var film = Film(title: "", episode: 1)
      _ = try storeError(.invalidID) { try store.write { _ = try $0.update(film) } }
      film.id = RecordID(rawValue: 9)
      let error = try storeError(.invalidID) { try store.write { _ = try $0.insert(film) } }
      #expect(error.recordID == 9)
      let missing = try storeError(.noSuchRecord) { try store.write { _ = try $0.update(film) } }
      #expect(missing.recordID == 9)
      try store.write { transaction throws in
        #expect(try transaction.delete(film.id) == false)
        #expect(try transaction.delete([film.id]) == 0)
      }
    }
  }

  @Test func `records are fetched in the order of the requested ids, without missing ones`() throws
  {
    try withTemporaryStore([Film.self]) { store in
      for episode in 1...4 { _ = try insert(store, episode) }
      try store.read { snapshot throws in
        let ids = [4, 9, 1, 4].map { RecordID<Film>(rawValue: $0) }
        #expect(try snapshot.fetch(ids).map(\.episode) == [4, 1, 4])
      }
    }
  }
}
