import Testing

@testable import EntityStore

@Suite struct ResultTests {
  @Test func `Results are a collection of the records of one commit, whatever is written later`()
    throws
  {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(500, in: store)
      let query = Trial.where { $0.number >= 100 }.sorted(by: \.name.descending)
      let results = try store.results(query)
      let expected = try store.read { try $0.fetch(query) }
      #expect(results.count == 400 && results.startIndex == 0 && results.endIndex == 400)
      // The write changes every record: some are deleted, others are renamed, and new ones are
      // inserted.
      try store.write { transaction in
        for trial in try transaction.fetch(Trial.all) {
          var changed = trial
          changed.name = "changed"
          changed.note = String(repeating: "long ", count: 50)
          if trial.number % 3 == 0 {
            _ = try transaction.delete(trial.id)
          } else {
            _ = try transaction.update(changed)
          }
        }
        for number in 1_000..<1_500 { _ = try transaction.insert(Trial(number)) }
      }
      #expect(try results.values() == expected)
      #expect(try results.map { try $0.value } == expected)
      #expect(results.ids == expected.map(\.id) && results.map(\.id) == results.ids)
      #expect(try results[399].value == expected[399] && results[0].id == expected[0].id)
      #expect(try results.reversed().first.map { try $0.value } == expected.last)
      #expect(try results.last?.value == expected.last)
      let later = try store.results(query)
      #expect(later.commitNumber > results.commitNumber && later.count != results.count)
    }
  }

  @Test func `Slices share the indices of the results, and batches cover all results`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(103, in: store)
      let results = try store.results(Trial.all)
      let slice = results[40..<50]
      #expect(slice.startIndex == 40 && slice.count == 10 && slice.ids.first?.rawValue == 41)
      #expect(try slice[45].value.number == 45)
      #expect(try slice[42..<44].values().map(\.number) == [42, 43])
      let batches = results.batches(of: 25)
      #expect(batches.map(\.count) == [25, 25, 25, 25, 3])
      #expect(batches.flatMap(\.ids) == results.ids)
      #expect(results.batches(of: 0).count == 103 && results[103..<103].batches(of: 5).isEmpty)
      #expect(slice.batches(of: 4).map(\.startIndex) == [40, 44, 48])
      #expect(try results.dropFirst(100).map { try $0.value.number } == [100, 101, 102])
    }
  }

  @Test func `Several threads may read the same results`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(400, in: store)
      let results = try await store.results(Trial.all.sorted(by: \.name.ascending))
      try await withThrowingTaskGroup(of: Int.self) { group in
        for start in 0..<4 {
          group.addTask {
            var sum = 0
            for index in stride(from: start, to: 400, by: 4) {
              sum += try results[index].value.number
            }
            return sum
          }
        }
        var total = 0
        for try await sum in group { total += sum }
        #expect(total == 400 * 399 / 2)
      }
    }
  }

  @Test func `Batches as an asynchronous sequence come from one commit`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(250, in: store)
      var numbers: [Int] = []
      var sizes: [Int] = []
      let query = Trial.all.sorted(by: \.number.descending).limit(230)
      for try await batch in store.batches(of: 100, query) {
        numbers += batch.map(\.number)
        sizes.append(batch.count)
        let first = Array(numbers.prefix(3))
        try await store.write { transaction in
          for number in first {
            if let trial = try transaction.first(Trial.where { $0.number == number }) {
              _ = try transaction.delete(trial.id)
            }
          }
          _ = try transaction.delete(Trial.all)
        }
      }
      #expect(sizes == [100, 100, 30] && numbers == Array((20..<250).reversed()))
    }
  }

  @Test func `first, exists, ids, forEach and count agree with fetch`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(300, in: store)
      try store.write { transaction in
        _ = try transaction.insert(Trial(300))
        let query = Trial.where { $0.kind == "a" }.sorted(by: \.number.descending).offset(2)
        let all = try transaction.fetch(query)
        #expect(all.map(\.number) == Array(stride(from: 280, through: 0, by: -10)))
        #expect(try transaction.first(query) == all.first)
        #expect(try transaction.ids(query) == all.map(\.id))
        #expect(try transaction.count(query) == all.count)
        #expect(try transaction.exists(query))
        #expect(try !transaction.exists(query.offset(31)))
        #expect(try transaction.first(query.where(.none)) == nil)
        var visited = 0
        try transaction.forEach(query) { _, stop in
          visited += 1
          stop = visited == 7
        }
        #expect(visited == 7)
      }
    }
  }
}
