import Testing

@testable import EntityStore

/// Lists are stored in chunks, and copies of a list share the chunks that have not changed.
@Suite struct `A list in chunks` {
  @Test func `a list in chunks agrees with an array after the same changes, and copies stay`() {
    var numbers = SeededNumbers(salt: 4_400)
    for start in [0, 1, 300, 2_000] {
      var array = (0..<start).map { $0 * 10 }
      var list = RowList(array)
      for round in 0..<3_000 {
        let (copy, before) = (list, array)
        switch numbers.below(5) {
        case 0, 1, 2:
          // Most inserts are at one position, so that its chunk is split.
          let index = round % 3 == 0 ? numbers.below(array.count + 1) : array.count / 2
          array.insert(round, at: index)
          list.insert(round, at: index)
        case 3 where !array.isEmpty:
          let index = numbers.below(array.count)
          array.remove(at: index)
          list.remove(at: index)
        case 4 where !array.isEmpty:
          let index = numbers.below(array.count)
          array[index] = -round
          list.remove(at: index)
          list.insert(-round, at: index)
        default: break
        }
        #expect(list.count == array.count)
        if round % 100 == 0 {
          #expect(rows(list) == array && rows(copy) == before, "\(SeededNumbers.replay)")
          #expect(array.indices.map { list[$0] } == array)
        }
      }
      while !array.isEmpty {
        array.removeFirst()
        list.remove(at: 0)
      }
      #expect(list.count == 0 && rows(list) == [])
      list.insert(7, at: 0)
      #expect(rows(list) == [7])
    }
  }

  @Test func `a list in chunks finds the first row that lies after a border`() {
    for count in [0, 1, 255, 256, 257, 1_000] {
      let list = RowList((0..<count).map { $0 * 2 })
      for border in [-1, 0, 1, 255, 256, 511, 512, 513, 1_999, 5_000] {
        let expected = (0..<count).prefix { $0 * 2 < border }.count
        let found = list.partition { $0 >= border }
        #expect(found == expected, "\(count) \(border)")
      }
    }
  }

  private func rows(_ list: RowList<Int>) -> [Int] {
    var rows: [Int] = []
    list.forEach { index, row in
      #expect(index == rows.count)
      rows.append(row)
    }
    return rows
  }
}
