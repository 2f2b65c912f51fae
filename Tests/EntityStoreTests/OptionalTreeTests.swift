import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// A store has the tree of the history once an entity has a history.
@Suite struct `Optional trees` {
  private let name = TreeName.history
  private let key = HistoryKey.consumer("x").bytes
  private var body: [UInt8] { body(of: key) }

  private func body(of key: [UInt8]) -> [UInt8] {
    Checksum.sealed(key: key, content: HistoryMark(number: 0, time: 0).document.encoded())
  }

  private func content(_ core: TransactionCore) throws -> [UInt8]? {
    guard let tree = core.tree(name) else { return nil }
    return try core.transaction.get(key, in: tree).map { Array($0) }
  }

  private func fill(_ core: WriteCore) throws {
    let tree = try core.openOrMakeTree(name)
    // The second call returns the tree that the first call made.
    #expect(try core.openOrMakeTree(name).name == tree.name && core.tree(name)?.name == tree.name)
    try core.writing.put(key, body, in: tree)
  }

  @Test func `a store lacks an optional tree until a write makes the tree`() throws {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [Film.self])
      #expect(try store.core.read { $0.tree(name) == nil })
      let number = store.core.schema.number
      try store.core.write { core in
        #expect(core.tree(name) == nil)
        try fill(core)
        #expect(try content(core) == body)
      }
      #expect(try store.core.read { try content($0) } == body)
      #expect(store.core.schema.number == number.next)
      // A second write uses the existing tree.
      try store.core.write { try fill($0) }
      #expect(try store.core.read { try content($0) } == body)
      #expect(store.core.schema.number == number.next)
      try store.write { try $0.insert(Film(title: "a", episode: 1)) }
      store.close()
      let again = try Store(at: path, entities: [Film.self], options: .readOnly)
      #expect(try again.core.read { try content($0) } == body)
      #expect(try again.read { try $0.count(Film.all) } == 1)
      again.close()
    }
  }

  @Test func `a failed write leaves no optional tree`() throws {
    struct Stop: Error {}
    try withTemporaryStore([Film.self]) { store in
      for _ in 0..<3 {
        #expect(throws: Stop.self) {
          try store.core.write { core in
            try fill(core)
            throw Stop()
          }
        }
        #expect(try store.core.read { $0.tree(name) == nil })
      }
      try store.core.write { try fill($0) }
      #expect(try store.core.read { try content($0) } == body)
    }
  }

  @Test func `other stores on the file and open snapshots see an optional tree in their commits`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let maker = try Store(at: path, entities: [Film.self])
    let other = try Store(at: path, entities: [Film.self])
    try other.core.read { before in
      let thread = Thread { try? maker.core.write { try fill($0) } }
      thread.start()
      while !thread.isFinished { usleep(1_000) }
      #expect(before.tree(name) == nil)
    }
    #expect(try other.core.read { try content($0) } == body)
    try other.core.write { core in
      try fill(core)
      #expect(try content(core) == body)
    }
    maker.close()
    other.close()
    try expectSound(path)
  }

  @Test func `writes of one commit make an optional tree once, also if one of them fails`()
    async throws
  {
    struct Stop: Error {}
    try await withTemporaryStore([Film.self]) { store in
      let name = name
      let entries = (0..<40).map { number in
        let key = HistoryKey.consumer("x\(number)").bytes
        return (key, body(of: key))
      }
      try await withThrowingTaskGroup { group in
        for number in 0..<40 {
          group.addTask {
            do {
              try await store.core.writeTogether { core in
                let tree = try core.openOrMakeTree(name)
                try core.writing.put(entries[number].0, entries[number].1, in: tree)
                if number % 4 == 0 { throw Stop() }
              }
            } catch is Stop {
            }
          }
        }
        try await group.waitForAll()
      }
      let count = try store.core.read { core in
        try core.tree(name).map { try core.transaction.count(of: $0) }
      }
      #expect(count == 30)
    }
  }

  @Test func `the verifier and kvdump accept a file with and without an optional tree`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try Store(at: path, entities: [Film.self])
    try await store.write { try $0.insert(Film(title: "a", episode: 1)) }
    store.close()
    for isThere in [false, true] {
      if isThere {
        let core = try StoreCore(path: path, options: .init())
        try core.write { try fill($0) }
        core.close()
      }
      let report = try Verifier.verify(path: path)
      #expect(report.isSound && report.notices.isEmpty, "\(report.notices)")
      for command in [
        ["info", path], ["export", path, "Film"], ["keys", path], ["verify", path],
      ] {
        let text = try await kvdump(command)
        #expect(command[0] != "export" || text.contains("\"a\""))
      }
      let trees = try await kvdump(["keys", path])
      #expect(trees.contains("history") == isThere)
      let copy = folder.path + "/copy\(isThere).lodestore"
      _ = try await kvdump(["compact", path, copy])
      try expectSound(copy)
      let copied = try StoreCore(path: copy, options: .readOnly)
      #expect(try copied.read { try content($0) } == (isThere ? body : nil))
      copied.close()
    }
  }

  private func kvdump(_ arguments: [String]) async throws -> String {
    let data = MemorySink()
    let messages = MemorySink()
    let status = await KVDump.execute(arguments, on: Console(output: data, errors: messages))
    #expect(status == .success, "\(arguments) \(messages.text)")
    return data.text
  }
}
