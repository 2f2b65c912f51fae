import EntityStore
import Foundation
import Testing

@Suite struct `Views` {
  private struct Refusal: Error, Equatable {}

  /// Inserts `count` pods, of which every third has a summary.
  private func insertPods(_ count: Int, into store: Store) throws {
    _ = try store.write { tx in
      try tx.insert(
        (0..<count).map { number in
          Pod(
            name: "pod \(number % 10)", version: "\(number)",
            summary: number % 3 == 0 ? "summary \(number)" : nil, stars: number * 7 % 50,
            updatedAt: Date(timeIntervalSinceReferenceDate: Double(number)))
        })
    }
  }

  @Test func `a view of every attribute equals the decoded value`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      var numbers = SeededNumbers(salt: 61)
      let values = [AllTypes()] + (0..<300).map { _ in AllTypes.nasty(&numbers) }
      _ = try store.write { try $0.insert(values) }
      let (decoded, viewed, whole) = try store.read { snapshot in
        var viewed: [AllTypes] = []
        var whole: [AllTypes] = []
        try snapshot.forEachView(AllTypes.all) { view in
          viewed.append(try AllTypes(viewed: view))
          whole.append(try view.decoded())
        }
        return (try snapshot.fetch(AllTypes.all), viewed, whole)
      }
      for other in [viewed, whole] {
        #expect(other.map(\.id) == decoded.map(\.id))
        let isSame =
          try other.map { try $0.content(in: store) }
          == decoded.map {
            try $0.content(in: store)
          }
        #expect(isSame, "\(SeededNumbers.replay)")
      }
    }
  }

  @Test func `a record of wide offsets is read as any other`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      var value = AllTypes()
      value.string = "in front"
      value.data = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
      value.optionalString = String(repeating: "long ", count: 20_000)
      value.optionalGrade = .high
      value.id = try store.write { [value] in try $0.insert(value).id }
      let viewed = try store.read { snapshot in
        try snapshot.withView(value.id) { try AllTypes(viewed: $0) }
      }
      #expect(viewed == value)
    }
  }

  @Test func `conditions, orders, limits and offsets are those of the query`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(500, into: store)
      let queries = [
        Pod.all, Pod.where { $0.name == "pod 3" }, Pod.where { $0.stars > 40 },
        Pod.where { $0.summary == nil }.sorted(by: \.stars.descending).limit(30),
        Pod.all.sorted(by: \.updatedAt.ascending).limit(20).offset(7),
        Pod.all.sorted(by: \.summary.descending, \.name.ascending), Pod.all.limit(0),
      ]
      try store.read { snapshot in
        for query in queries {
          var viewed: [Pod] = []
          try snapshot.forEachView(query) { view in
            viewed.append(try view.decoded())
          }
          #expect(viewed == (try snapshot.fetch(query)))
        }
      }
    }
  }

  @Test func `a visit ends at the record that the closure chooses`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(100, into: store)
      try store.read { snapshot in
        var stars = 0
        var count = 0
        try snapshot.forEachView(Pod.all) { view, stop in
          stars += view.stars
          count += 1
          stop = count == 4
        }
        #expect(count == 4 && stars == 0 + 7 + 14 + 21)
        count = 0
        try snapshot.forEachView(Pod.all.sorted(by: \.stars.descending)) { _, stop in
          count += 1
          stop = count == 4
        }
        #expect(count == 4)
      }
    }
  }

  @Test func `a visit may start in the midst of the records`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(20, into: store)
      try store.write { _ = try $0.delete(RecordID<Pod>(rawValue: 18)) }
      try store.read { snapshot in
        var ids: [UInt64] = []
        for start in [18, 20, 21] as [UInt64] {
          try snapshot.forEachView(Pod.where { $0.id >= RecordID(rawValue: start) }) { view in
            ids.append(view.id.rawValue)
          }
        }
        #expect(ids == [19, 20, 20])
      }
    }
  }

  @Test func `an error of the closure is passed on unchanged`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(10, into: store)
      try store.read { snapshot in
        #expect(throws: Refusal()) {
          try snapshot.forEachView(Pod.all) { view in
            if view.stars == 14 { throw Refusal() }
          }
        }
        #expect(throws: Refusal()) {
          try snapshot.forEachView(Pod.where { $0.stars > 1 }) { _ in throw Refusal() }
        }
        #expect(throws: Refusal()) {
          try snapshot.withView(RecordID<Pod>(rawValue: 1)) { _ in throw Refusal() }
        }
      }
    }
  }

  @Test func `one record is found by its id and by keys`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(30, into: store)
      try store.read { snapshot in
        let byID = try snapshot.withView(RecordID<Pod>(rawValue: 8)) { $0.stars }
        #expect(byID == 49)
        let none = try snapshot.withView(RecordID<Pod>(rawValue: 31)) { $0.stars }
        #expect(none == nil)
        let byKey = try snapshot.withView(Pod.byName.key("pod 2", "12")) { view in
          (view.id.rawValue, view.name.string, view.updatedAt)
        }
        #expect(byKey?.0 == 13 && byKey?.1 == "pod 2")
        #expect(byKey?.2 == Date(timeIntervalSinceReferenceDate: 12))
        let absent = try snapshot.withView(Pod.byName.key("pod 2", "13")) { $0.stars }
        #expect(absent == nil)
        let first = try snapshot.withView(Pod.byDate.key(Date(timeIntervalSinceReferenceDate: 3))) {
          $0.version.string
        }
        #expect(first == "3")
      }
    }
  }

  @Test func `a write sees its own changes`() throws {
    try withTemporaryStore([Pod.self]) { store in
      try insertPods(50, into: store)
      try store.write { tx in
        try tx.delete(RecordID<Pod>(rawValue: 2))
        let id = try tx.insert(Pod(name: "new", version: "1", stars: 1_000)).id
        var stars: [Int] = []
        try tx.forEachView(Pod.all) { view in
          stars.append(view.stars)
        }
        #expect(stars.count == 50 && stars.last == 1_000 && stars[1] == 14)
        let name = try tx.withView(id) { $0.name.string }
        #expect(name == "new")
        var found = 0
        try tx.forEachView(Pod.where { $0.stars > 900 }) { view in
          found += view.stars
        }
        #expect(found == 1_000)
      }
    }
  }

  @Test func `an entity is read by key paths and whole`() throws {
    try withTemporaryStore([Film.self]) { store in
      let film = Film(title: "Alien", episode: 1, released: .distantPast)
      try store.write { _ = try $0.insert(film) }
      try store.read { snapshot in
        var count = 0
        try snapshot.forEachView(Film.all) { view in
          let title = try view[\.title]
          let (code, released) = (try view[\.code], try view[\.released])
          #expect(title == "Alien" && code == nil && released == .distantPast)
          let whole = try view.decoded()
          #expect(whole.episode == 1 && whole.id == view.id)
          count += 1
        }
        #expect(count == 1)
      }
    }
  }

  @Test func `an entity that was not declared is refused`() throws {
    try withTemporaryStore([Film.self]) { store in
      _ = try storeError(.unknownEntity) {
        try store.read { try $0.forEachView(Pod.all) { _ in } }
      }
    }
  }
}
