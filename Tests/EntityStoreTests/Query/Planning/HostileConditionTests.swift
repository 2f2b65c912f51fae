import Foundation
import Testing

@testable import EntityStore

/// Conditions that would overflow a thread's stack, or run for hours, are refused.
@Suite struct HostileConditionTests {
  @Test func `A condition nested deeper than a stack is refused, and a long chain is accepted`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      try store.write { tx in
        _ = try tx.insert(
          (0..<20).map {
            Film(title: "Film \($0)", episode: $0, code: nil, released: nil)
          })
      }
      let episode = Film.attributes.episode
      var nested = episode == 1
      for number in 0..<100_000 {
        nested = number % 2 == 0 ? allOf(nested, episode == 1) : anyOf(nested, episode == number)
      }
      let chain = anyOf((0..<3_000).map { episode == $0 })
      let error = try storeError(.invalidQuery) {
        try store.read { try $0.count(Film.where(nested)) }
      }
      #expect(error.message.contains("500 levels"))
      #expect(try store.read { try $0.count(Film.where(chain)) } == 20)
      #expect(try store.read { try $0.count(Film.where(!(!chain))) } == 20)
    }
  }

  @Test func `SUBQUERYs nest up to three levels`() throws {
    func nested(_ depth: Int) -> String {
      (0..<depth).reduce("TRUEPREDICATE") { inner, index in
        "SUBQUERY(json, $x\(index), \(inner)).@count > 0"
      }
    }
    try withTemporaryStore([AllTypes.self]) { store in
      var row = AllTypes()
      row.json = [1, 2, 3]
      let stored = row
      try store.write { tx in _ = try tx.insert(stored) }
      let query = try AllTypes.where(format: nested(3))
      #expect(try store.read { try $0.count(query) } == 1)
      let deep = try AllTypes.where(format: nested(4))
      _ = try storeError(.invalidQuery) { try store.read { try $0.count(deep) } }
    }
  }

  @Test func `Not-a-number makes one section and one group, and so do both zeros`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      try store.write { tx in
        _ = try tx.insert(
          [1, .nan, -0.0, .nan, 0, 2, .nan].map { number in
            var row = AllTypes()
            row.double = number
            return row
          })
      }
      try store.read { snapshot in
        let query = AllTypes.all.sorted(by: \.double.ascending)
        #expect(try snapshot.sections(query, by: \.double).map(\.count) == [2, 1, 1, 3])
        #expect(try snapshot.sectionRanges(query, by: \.double).map(\.count) == [2, 1, 1, 3])
        let groups = try snapshot.groups(AllTypes.all, by: \.double)
        #expect(groups.map(\.count) == [2, 1, 1, 3])
        #expect(groups.first?.key.sign == .plus)
        let scanned = try snapshot.groups(AllTypes.where { $0.int == 0 }, by: \.double)
        #expect(scanned.map(\.count) == [2, 1, 1, 3] && scanned.first?.key.sign == .plus)
      }
      _ = try storeError(.invalidQuery) {
        try store.read {
          try $0.sections(AllTypes.all.sorted(by: \.json.ascending), by: \.json)
        }
      }
    }
  }

  @Test func `A member that no element of an array has is null`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      try store.write { tx in
        _ = try tx.insert(
          ([["a": 1], [["b": 1]], [["a": 2], ["b": 1]], []] as [JSONValue]).map {
            var row = AllTypes()
            row.json = $0
            row.optionalJSON = $0
            return row
          })
      }
      try store.read { (snapshot) throws in
        #expect(try snapshot.count(AllTypes.where(format: "json.a == NULL")) == 2)
        #expect(try snapshot.count(AllTypes.where(format: "ANY json.a == 2")) == 1)
        #expect(try snapshot.count(AllTypes.where { $0.optionalJSON["a"] == 1 }) == 1)
      }
    }
  }
}
