import Foundation
import LMDB
import LodestoreBytes
import Testing

@testable import EntityStore

@Suite struct `The commit before the newest one` {
  private var options: StoreOptions {
    var options = StoreOptions()
    options.access = .previousCommit
    return options
  }

  private func insert(_ episodes: Range<Int>, into store: Store) throws {
    try store.write { transaction in
      for episode in episodes {
        _ = try transaction.insert(Film(title: "film \(episode)", episode: episode))
      }
    }
  }

  private func count(_ path: String) throws -> Int {
    let store = try Store(at: path, entities: [Film.self], options: options)
    defer { store.close() }
    return try store.read { try $0.count(Film.all) }
  }

  @Test func `the previous commit is read in its former state, and cannot be written`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try insert(0..<300, into: store)
    try insert(300..<1_000, into: store)
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.storePath))
    for isOpen in [true, false] {
      if !isOpen { store.close() }
      let previous = try Store(at: folder.storePath, entities: [Film.self], options: options)
      #expect(try previous.read { try $0.count(Film.all) } == 300)
      #expect(try previous.read { try $0.fetch(Film.byEpisode.key(299))?.title } == "film 299")
      #expect(try previous.read { try $0.fetch(Film.byEpisode.key(300)) } == nil)
      _ = try storeError(.readOnly) { try previous.write { _ in } }
      let second = try Store(at: folder.storePath, entities: [Film.self], options: options)
      #expect(try second.read { try $0.count(Film.all) } == 300)
      second.close()
      #expect(try previous.read { try $0.count(Film.all) } == 300)
      previous.close()
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.storePath)) == before)
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
        == ["test.lodestore", "test.lodestore-lock"])
    try expectSound(folder.storePath)
  }

  @Test func `the previous commit follows each commit, also of deletions and of many pages`() throws
  {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    var expected = 0
    var random = SeededNumbers(salt: 5)
    var next = 0
    for round in 0..<25 {
      let now = try store.read { try $0.count(Film.all) }
      if round > 0 { #expect(try count(folder.storePath) == expected, "\(SeededNumbers.replay)") }
      expected = now
      let size = Int.random(in: 1...400, using: &random)
      if round % 3 == 2 {
        try store.write { transaction in
          for film in try transaction.fetch(Film.all).prefix(size) {
            try transaction.delete(film)
          }
        }
      } else {
        try insert(next..<(next + size), into: store)
        next += size
      }
    }
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `the previous commit can be read when the newest one is damaged`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try insert(0..<300, into: store)
    try insert(300..<310, into: store)
    store.close()
    var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: folder.storePath)))
    let size = PageLayout.systemPageSize
    func transaction(_ meta: Int) -> UInt64 {
      bytes._withBytes {
        $0.loadUnaligned(
          fromByteOffset: meta * size + PageFormat.ofEngine.meta.transaction, as: UInt64.self)
      }
    }
    let newest = transaction(0) > transaction(1) ? 0 : 1
    let magic = newest * size + PageFormat.ofEngine.meta.magic
    let root = newest * size + PageFormat.ofEngine.meta.names + TreeRecordLayout.root
    for offset in [root, magic] {
      bytes[offset] ^= 0x41
      try Data(bytes).write(to: URL(fileURLWithPath: folder.storePath))
      #expect(throws: StoreError.self) { try Store(at: folder.storePath, entities: [Film.self]) }
      #expect(try count(folder.storePath) == 300)
    }
  }

  @Test func `a file without a previous commit refuses to open at it`() throws {
    let folder = try TemporaryFolder()
    _ = try storeError(.noSuchStore) { try count(folder.storePath) }
    let path = folder.storePath
    var options = EnvironmentOptions()
    options.access = .readWrite(create: true)
    let environment = try EnvironmentRegistry.open(path, options: options) { transaction in
      try Catalogue.initialise(transaction, environment: transaction.environment, now: 0)
    }
    EnvironmentRegistry.close(environment)
    let error = try storeError(.noPreviousCommit) { try count(path) }
    #expect(error.message.contains("one commit only"))
    try Data("no store".utf8).write(to: URL(fileURLWithPath: path))
    _ = try storeError(.notAStore) { try count(path) }
  }

  @Test func `the previous commit is whole while another thread commits`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try Store(at: path, entities: [Film.self])
    for round in 0..<3 { try insert(round * 100..<(round + 1) * 100, into: store) }
    let isDone = Latch()
    let writer = Thread {
      var next = 300
      while !isDone.isSet {
        try? store.write { transaction in
          for episode in next..<(next + 100) {
            _ = try transaction.insert(Film(title: "film \(episode)", episode: episode))
          }
        }
        next += 100
        usleep(20_000)
      }
      store.close()
    }
    writer.start()
    var readCount = 0
    for _ in 0..<20 {
      do {
        #expect(try count(path) % 100 == 0)
        readCount += 1
      } catch let error as StoreError {
        #expect(error.code == .noPreviousCommit)
      }
    }
    #expect(readCount > 0)
    isDone.set()
    while !writer.isFinished { usleep(1_000) }
    try expectSound(path)
  }
}
