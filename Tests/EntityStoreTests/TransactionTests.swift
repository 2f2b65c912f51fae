import Foundation
import Testing

@testable import EntityStore

@Suite struct `Transactions` {
  private struct Refusal: Error, Equatable { var number: Int }

  @Test func `an error of the closure is passed on, and no change of the write stays`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { _ = try $0.insert(Film(title: "kept", episode: 1)) }
      #expect(throws: Refusal(number: 7)) {
        try store.write { transaction in
          try transaction.insert((2...50).map { Film(title: "", episode: $0) })
          try transaction.delete(RecordID<Film>(rawValue: 1))
          try transaction.put(Data([1]), for: "a", in: "marks")
          throw Refusal(number: 7)
        }
      }
      #expect(throws: Refusal(number: 8)) { try store.read { _ in throw Refusal(number: 8) } }
      try store.read { snapshot throws in
        #expect(try snapshot.fetch(Film.all).map(\.title) == ["kept"])
        #expect(try snapshot.count(Film.byTitle, within: .init()) == 1)
        #expect(try snapshot.bucketNames().isEmpty)
      }
      #expect(try store.write { try $0.insert(Film(title: "", episode: 2)).id.rawValue } == 2)
    }
  }

  @Test func `a write inside a write is refused, and the outer write continues`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let error = try storeError(.nestedWrite) { try store.write { _ in } }
        #expect(error.message.contains("write inside a write"))
        try transaction.insert(Film(title: "a", episode: 1))
      }
      #expect(try store.read { try $0.count(Film.all) } == 1)
    }
  }

  @Test func `a write inside an asynchronous write is refused`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write { transaction in
        _ = try storeError(.nestedWrite) { try store.write { _ in } }
        try transaction.insert(Film(title: "a", episode: 1))
      }
      #expect(try await store.read { try $0.count(Film.all) } == 1)
    }
  }

  @Test func `a read inside a write sees the last commit, and the write sees its own changes`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      try store.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
      try store.write { transaction in
        try transaction.insert(Film(title: "b", episode: 2))
        try store.read { snapshot throws in
          #expect(try snapshot.count(Film.all) == 1)
          #expect(try snapshot.fetch(Film.byEpisode.key(2)) == nil)
        }
        #expect(try transaction.fetch(Film.byEpisode.key(2))?.title == "b")
      }
    }
  }

  @Test func `a write inside a read commits, and the snapshot does not change`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.read { snapshot throws in
        let commit = snapshot.commitNumber
        for episode in 1...20 {
          try store.write { _ = try $0.insert(Film(title: "a", episode: episode)) }
        }
        #expect(try snapshot.count(Film.all) == 0)
        #expect(try snapshot.fetch(Film.byTitle).isEmpty && snapshot.commitNumber == commit)
        try store.read { inner throws in
          #expect(try inner.count(Film.all) == 20 && inner.commitNumber > commit)
        }
      }
    }
  }

  @Test func `asynchronous writes run in the order of their calls, with reads at the same time`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for episode in 0..<40 {
          group.addTask {
            try await store.write { _ = try $0.insert(Film(title: "", episode: episode)) }
          }
          group.addTask {
            let (count, found) = try await store.read { snapshot in
              (try snapshot.count(Film.all), try snapshot.fetch(Film.all).count)
            }
            #expect(count == found)
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.read { try $0.count(Film.all) } == 40)
      await #expect(throws: Refusal(number: 3)) {
        try await store.write { _ in throw Refusal(number: 3) }
      }
    }
  }

  @Test func `threads write one after the other and lose no change`() throws {
    try withTemporaryStore([Pod.self]) { store in
      let id = try store.write { try $0.insert(Pod(name: "counter", version: "")).id }
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<25 {
          #expect(throws: Never.self) {
            try store.write { transaction in
              guard var pod = try transaction.fetch(id) else { return }
              pod.stars += 1
              try transaction.update(pod)
            }
          }
        }
      }
      #expect(try store.read { try $0.fetch(id)?.stars } == 200)
    }
  }

  @Test func `a closed store refuses both forms of reads and writes`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    store.close()
    store.close()
    let read = await #expect(throws: StoreError.self) {
      try await store.read { _ = try $0.count(Film.all) }
    }
    let write = await #expect(throws: StoreError.self) { try await store.write { _ in } }
    #expect(read?.code == .closed && write?.code == .closed)
    #expect(write?.message.contains("the store is closed") == true)
  }

  @Test func `the largest record is as long as the limit states`() throws {
    var options = StoreOptions()
    options.recordSizeLimitInBytes = 1000
    try withTemporaryStore([Note.self], options: options) { store in
      // The record has ten bytes besides its texts: header 2, two ends of 2, checksum 4.
      try store.write { transaction in
        try transaction.insert(Note(text: String(repeating: "a", count: 495)))
        let large = Note(text: String(repeating: "b", count: 496))
        let single = try storeError(.unstorableValue) { try transaction.insert(large) }
        #expect(single.message.contains("has 1002 bytes, the limit is 1000; "))
        #expect(single.message.contains("recordSizeLimitInBytes") && single.entity == "Note")
        _ = try storeError(.unstorableValue) {
          try transaction.insert([Note(text: "c"), large])
        }
        #expect(try transaction.count(Note.all) == 1)
        var stored = try #require(try transaction.fetch(Note.all).first)
        stored.text += "b"
        _ = try storeError(.unstorableValue) { try transaction.update(stored) }
      }
    }
  }

  @Test func `the file grows under load without the caller noticing`() throws {
    var options = StoreOptions()
    options.mapSizeInBytes = 1 << 20
    options.durability = .mayLoseLastCommit
    try withTemporaryStore([Pod.self], options: options) { store in
      let text = String(repeating: "summary ", count: 100)
      for round in 0..<10 {
        try store.write { transaction in
          try transaction.insert(
            (0..<500).map { Pod(name: "\(round)", version: "\($0)", summary: text) })
        }
      }
      #expect(try store.read { try $0.count(Pod.all) } == 5000)
    }
  }

  @Test func `a bulk insert into a full file fails with the error of the full file`() throws {
    var options = StoreOptions()
    options.mapSizeInBytes = 1 << 20
    try withTemporaryStore([Pod.self], options: options) { store in
      let text = String(repeating: "summary ", count: 100)
      let pods = (0..<4000).map { Pod(name: "a", version: "\($0)", summary: text) }
      var codes: Set<StoreError.Code> = []
      // The file grows after each failed run, and the write runs again.
      try store.write { tx in
        do {
          try tx.insert(pods)
        } catch let error as StoreError {
          codes.insert(error.code)
          throw error
        }
      }
      #expect(codes == [.mapFull])
      #expect(try store.count(Pod.all) == 4000)
    }
  }

  @Test func `a visit of all records starts and ends at the requested records`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert((1...9).map { Film(title: "", episode: $0) })
      }
      try store.read { snapshot in
        var seen: [Int] = []
        try snapshot.forEach(Film.where { $0.id >= RecordID(rawValue: 4) }) { film, stop in
          seen.append(film.episode)
          stop = seen.count == 3
        }
        #expect(seen == [4, 5, 6])
        #expect(throws: Refusal(number: 1)) {
          try snapshot.forEach(Film.all) { _ in throw Refusal(number: 1) }
        }
      }
    }
  }
}
