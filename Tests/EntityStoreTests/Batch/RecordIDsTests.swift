import Testing

@testable import EntityStore

/// Lists that contain runs of consecutive ids and single ids.
@Suite struct `Lists of ids` {
  @Test func `lists of ids hold the added ids, in their order`() {
    var numbers = SeededNumbers(salt: 943)
    for _ in 0..<100 {
      var list = IDList()
      var expected: [UInt64] = []
      for _ in 0..<numbers.below(8) {
        let next = (expected.last ?? 0) + (numbers.oneIn(3) ? UInt64(numbers.below(9)) : 1)
        switch numbers.below(3) {
        case 0:
          list.append(next)
          expected.append(next)
        case 1:
          let run = next..<next + UInt64(numbers.below(5))
          list.append(contentsOf: run)
          expected += run
        default:
          var other = IDList()
          for id in [next, next + UInt64(numbers.below(2))] {
            other.append(id)
            expected.append(id)
          }
          list.append(other)
        }
      }
      #expect((0..<list.count).map { list[$0] } == expected, "\(SeededNumbers.replay)")
      list.append(.max)
      expected.append(.max)
      var singly = IDList()
      for id in expected { singly.append(id) }
      #expect(list == singly && list.hashValue == singly.hashValue, "\(SeededNumbers.replay)")
    }
  }

  @Test func `lists of ids are a collection of the ids that an insert has given`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let films = (0..<3).map { Film(title: "film", episode: $0) }
        let new = try transaction.insert(films).ids
        let first = RecordID<Film>(rawValue: 1)
        #expect(new == [first, RecordID(rawValue: 2), RecordID(rawValue: 3)])
        let again = [films[2], films[0], Film(title: "film", episode: 9)]
        let found = try transaction.insert(again, onConflict: .replace).ids
        #expect(found.map(\.rawValue) == [3, 1, 4] && found.firstIndex(of: first) == 1)
        #expect(found != new && found.count == 3 && new.last == found.first)
        #expect(try transaction.insert([Film]()).ids == [])
      }
    }
  }
}
