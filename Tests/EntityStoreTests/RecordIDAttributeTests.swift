import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Ids of records as attributes` {
  private static let highest = RecordID<Film>(rawValue: 1 << 63 - 1)

  /// Memberships of films 1, 2, 3, 300 and the highest id there can be, in a mixed order.
  private func withMemberships(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore([Membership.self]) { store in
      let films: [UInt64] = [300, 1, 1 << 63 - 1, 2, 3]
      try store.write { transaction in
        for (index, film) in films.enumerated() {
          try transaction.insert(
            Membership(
              film: RecordID(rawValue: film),
              pod: index < 2 ? nil : RecordID(rawValue: UInt64(index)),
              parent: index == 0 ? nil : RecordID(rawValue: 1), role: "r\(index % 2)"))
        }
      }
      try body(store)
    }
  }

  private func films(_ store: Store, _ query: Query<Membership>) throws -> [UInt64] {
    let found = try store.read { try $0.fetch(query) }
    return found.map(\.film.rawValue).sorted()
  }

  @Test func `ids of records are stored as numbers of eight bytes`() throws {
    try withMemberships { store in
      let entity = try #require(store.core.schema.entity(named: "Membership"))
      let types = entity.description.declaredAttributes.map { ($0.type.name, $0.isOptional) }
      #expect(types.map(\.0) == ["id", "id", "id", "string"])
      #expect(types.map(\.1) == [false, true, true, false])
      #expect(entity.description.attributes.allSatisfy { $0.shape == nil && $0.initial == .null })
      let found = try store.read { try $0.fetch(Membership.all) }
      #expect(found.map(\.film.rawValue) == [300, 1, 1 << 63 - 1, 2, 3])
      #expect(found.map { $0.pod?.rawValue } == [nil, nil, 2, 3, 4])
      #expect(found.map { $0.parent?.rawValue } == [nil, 1, 1, 1, 1])
    }
  }

  @Test func `conditions of every front find the same records by an id attribute`() throws {
    try withMemberships { store in
      let three = RecordID<Film>(rawValue: 3)
      let some = [RecordID<Film>(rawValue: 2), Self.highest, RecordID(rawValue: 77)]
      let pod = Pod.ID(rawValue: 3), parent = Membership.ID(rawValue: 1)
      let cases: [(Query<Membership>, Query<Membership>, String, [UInt64])] = [
        (
          Membership.where { $0.film == three },
          Membership.where(#Predicate { $0.film == three }),
          "film == 3", [3]
        ),
        (
          Membership.where { $0.film < three },
          Membership.where(#Predicate { $0.film < three }),
          "film < 3", [1, 2]
        ),
        (
          Membership.where { $0.film >= three },
          Membership.where(#Predicate { $0.film >= three }),
          "film >= 3", [3, 300, 1 << 63 - 1]
        ),
        (
          Membership.where { $0.film.isIn(some) },
          Membership.where(#Predicate { some.contains($0.film) }),
          "film IN {2, 9223372036854775807, 77}", [2, 1 << 63 - 1]
        ),
        (
          Membership.where { $0.pod == pod },
          Membership.where(#Predicate { $0.pod == pod }),
          "pod == 3", [2]
        ),
        (
          Membership.where { $0.pod == nil },
          Membership.where(#Predicate { $0.pod == nil }),
          "pod == nil", [1, 300]
        ),
        (
          Membership.where {
            $0.parent == parent; $0.film < three
          },
          Membership.where(#Predicate { $0.parent == parent && $0.film < three }),
          "parent == 1 AND film < 3", [1, 2]
        ),
        (
          Membership.where { $0.film.isIn(three...Self.highest) },
          Membership.where(#Predicate { $0.film.rawValue >= 3 }),
          "film BETWEEN {3, 9223372036854775807}", [3, 300, 1 << 63 - 1]
        ),
      ]
      for (closure, predicate, format, expected) in cases {
        #expect(try films(store, closure) == expected, "\(format)")
        #expect(try films(store, predicate) == expected, "\(format)")
        #expect(try films(store, Membership.where(format: format)) == expected, "\(format)")
      }
      #expect(try films(store, Membership.where { $0.film == three }) == [3])
      #expect(try films(store, Membership.where { $0.pod != nil }) == [2, 3, 1 << 63 - 1])
      #expect(try films(store, Membership.where(format: "film == 0")) == [])
      #expect(try films(store, Membership.where(format: "film < -1 OR film > 1e30")) == [])
      _ = try storeError(.invalidQuery) {
        try films(store, Membership.where(format: "film == 'three'"))
      }
    }
  }

  @Test func `an index finds ids of records, and an explanation names the index`() throws {
    try withMemberships { store in
      try store.read { snapshot in
        let id = Self.highest
        #expect(try snapshot.fetch(Membership.byFilm.key(id))?.film == id)
        #expect(try snapshot.fetch(Membership.byBoth.key(id, "r0"))?.film == id)
        let ordered = try snapshot.fetch(Membership.byFilm)
        #expect(ordered.map(\.film.rawValue) == [1, 2, 3, 300, 1 << 63 - 1])
        let plan = try snapshot.explain(
          Membership.where { $0.film == id }.requiringIndex())
        #expect(plan.index?.hasPrefix("Membership.film") == true && !plan.isScan)
      }
    }
  }

  @Test func `ids of records order, project, group and have a minimum and a maximum`() throws {
    try withMemberships { store in
      try store.read { snapshot in
        let all = Membership.all
        let down = try snapshot.fetch(all.sorted(by: \.film.descending).limit(2))
        #expect(down.map(\.film.rawValue) == [1 << 63 - 1, 300])
        let pods = try snapshot.fetch(all.sorted(by: \.pod.ascending)).map { $0.pod?.rawValue }
        #expect(pods == [nil, nil, 2, 3, 4])
        #expect(
          try snapshot.values(all.sorted(by: \.film.ascending), \.film).first?.rawValue == 1)
        let groups = try snapshot.groups(all, by: \.parent, .minimum(\.film), .maximum(\.film))
        #expect(groups.map { $0.key?.rawValue } == [nil, 1] && groups.map(\.count) == [1, 4])
        let (low, high) = (groups[1].values.0, groups[1].values.1)
        #expect(low?.rawValue == 1 && high == Self.highest)
      }
    }
  }

  @Test func `ids of records are not summed`() throws {
    try withMemberships { store in
      let error = try storeError(.invalidQuery) {
        try store.read { try $0.aggregate(Membership.all, .average(\.film)) }
      }
      #expect(error.message.contains("'film' is the id of a record, and ids are not added"))
    }
  }

  @Test func `a view shows ids of records in place`() throws {
    try withMemberships { store in
      var seen: [UInt64?] = []
      try store.read { snapshot in
        try snapshot.forEachView(Membership.all) { view in
          seen.append(view.film.rawValue)
          seen.append(view.pod?.rawValue)
        }
      }
      #expect(seen == [300, nil, 1, nil, 1 << 63 - 1, 2, 2, 3, 3, 4])
    }
  }

  @Test(arguments: [0, 1 << 63, UInt64.max])
  func `an invalid record id is refused by every call`(number: UInt64) throws {
    try withMemberships { store in
      let film = RecordID<Film>(rawValue: number), pod = Pod.ID(rawValue: number)
      let good = RecordID<Film>(rawValue: 8)
      func refused(_ attribute: String, _ body: (inout WriteTransaction) throws -> Void) throws {
        let error = try storeError(.unstorableValue) { try store.write { try body(&$0) } }
        #expect(error.entity == "Membership" && error.attribute == attribute)
        #expect(
          error.message.contains("'\(attribute)' is no id of a stored record; insert that record"))
      }
      try refused("film") { try $0.insert(Membership(film: film)) }
      try refused("pod") { try $0.insert(Membership(film: good, pod: pod)) }
      try refused("film") {
        try $0.insert([Membership(film: good), Membership(film: film, role: "x")])
      }
      try refused("film") {
        try $0.insert([Membership(film: film)], onConflict: .replace)
      }
      try refused("parent") { transaction in
        var first = try #require(try transaction.fetch(Membership.all).first)
        first.parent = Membership.ID(rawValue: number)
        try transaction.update(first)
      }
      #expect(try store.read { try $0.count(Membership.all) } == 5)
    }
  }

  @Test func `an update of many refuses an unassigned id, and takes null for an optional`() throws {
    try withMemberships { store in
      let error = try storeError(.unstorableValue) {
        try store.write {
          try $0.update(Membership.all) { $0.film = RecordID<Film>() }
        }
      }
      #expect(error.attribute == "film")
      try store.write { try $0.update(Membership.all) { $0.pod = nil } }
      try store.write {
        try $0.update(Membership.where { $0.film == Self.highest }) {
          $0.parent = .init(rawValue: 3)
        }
      }
      let found = try store.read { try $0.fetch(Membership.all) }
      #expect(found.allSatisfy { $0.pod == nil })
      #expect(found.map { $0.parent?.rawValue } == [nil, 1, 3, 1, 1])
    }
  }

  @Test func `a unique index of ids refuses a second record with one id`() throws {
    try withMemberships { store in
      _ = try storeError(.uniqueViolation) {
        try store.write { try $0.insert(Membership(film: Self.highest, role: "r0")) }
      }
    }
  }

  @Test func `numbers of records in JSON are accepted as ids, and other members are not`() throws {
    try withMemberships { store in
      let json = #"{"film":12,"pod":null,"parent":5,"role":"json"}"#
      for (text, isTaken) in [
        (json, true), (#"{"film":0,"role":"a"}"#, false), (#"{"film":-1,"role":"a"}"#, false),
        (#"{"film":9223372036854775808,"role":"a"}"#, false), (#"{"film":"1","role":"a"}"#, false),
      ] {
        let entity = try #require(store.core.schema.entity(named: "Membership"))
        let document = try JSONDocument.parsing(text.utf8)
        let film = try #require(document.root["film"])
        let attribute = try #require(entity.description.attribute(named: "film"))
        #expect(((try? Value(film, as: attribute.type)) != nil) == isTaken, "\(text)")
      }
    }
  }

  @Test func `a document with an id inside keeps its form`() {
    let value = StoredValue(document: ["film": RecordID<Film>(rawValue: 7)])
    #expect(value == StoredValue(document: ["film": 7]) && value != .null)
  }

  @Test func `an id is an argument of a format string`() throws {
    try withMemberships { store in
      let some = [Self.highest, RecordID<Film>(rawValue: 1)]
      let one = try Membership.where(format: "film == %@", Self.highest)
      #expect(try films(store, one) == [1 << 63 - 1])
      #expect(try films(store, Membership.where(format: "film IN %@", some)).count == 2)
    }
  }
}
