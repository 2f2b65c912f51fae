import Foundation
import LodestoreFormat
import LodestoreMaintenance
import Testing

@testable import EntityStore
@testable import KVDumpCommands

@Suite struct `A backup from the program` {
  @Test func `a backup is a whole store of one commit, without free pages`() throws {
    let folder = try TemporaryFolder()
    try withTemporaryStore([Film.self]) { store in
      try store.insert((0..<20_000).map { Film(title: "film \($0)", episode: $0) })
      try store.delete(Film.where { $0.episode >= 2_000 })
      let copy = folder.path + "/copy.lodestore"
      let size = try store.backup(to: copy)
      let original = try #require(FileManager.default.contents(atPath: store.path)).count
      #expect(size == FileManager.default.contents(atPath: copy)?.count && size < original / 4)
      try expectSound(copy)
      let opened = try Store(at: copy, entities: [Film.self])
      #expect(try opened.count(Film.all) == 2_000)
      opened.close()
    }
  }

  @Test func `a backup runs next to a writer, and reports its progress`() async throws {
    let folder = try TemporaryFolder()
    let copy = folder.path + "/copy.lodestore"
    let written = try await withTemporaryStore([Film.self]) { store in
      try await store.insert((0..<60_000).map { Film(title: "film \($0)", episode: $0) })
      let progress = ProgressSteps()
      async let size = store.backup(to: copy) { progress.add($0) }
      for number in 0..<20 {
        try await store.update(Film.where { $0.episode < 100 }) { $0.title = "other \(number)" }
      }
      let bytes = try await size
      let steps = progress.all
      #expect(steps.last?.completed == bytes && steps.count > 1)
      #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
      #expect(steps.allSatisfy { $0.total.map { total in total >= bytes } ?? false })
      return bytes
    }
    try expectSound(copy)
    #expect(FileManager.default.contents(atPath: copy)?.count == written)
  }

  @Test func `a backup does not replace an existing file`() throws {
    let folder = try TemporaryFolder()
    let copy = folder.path + "/copy.lodestore"
    try Data("other".utf8).write(to: URL(filePath: copy))
    try withTemporaryStore([Film.self]) { store in
      try store.insert(Film(title: "a", episode: 1))
      let error = try storeError(.unsuitablePath) { try store.backup(to: copy) }
      #expect(error.message.contains("something is there already"), "\(error)")
      #expect(FileManager.default.contents(atPath: copy) == Data("other".utf8))
      _ = try storeError(.nestedWrite) {
        try store.write { _ in try store.backup(to: copy + "2") }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.lodestore"])
  }

  @Test func `a cancelled backup leaves nothing`() async throws {
    let folder = try TemporaryFolder()
    try await withTemporaryStore([Film.self]) { store in
      try await store.insert((0..<60_000).map { Film(title: "film \($0)", episode: $0) })
      let copy = folder.path + "/copy.lodestore"
      let begun = AsyncStream<Void>.makeStream()
      let cancelled = DispatchSemaphore(value: 0)
      let task = Task {
        defer { begun.continuation.finish() }
        return try await store.backup(to: copy) { _ in
          begun.continuation.yield()
          cancelled.wait()
          cancelled.signal()  // for the next call
        }
      }
      for await _ in begun.stream { break }
      task.cancel()
      cancelled.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }
}

@Suite struct `A check from the program` {
  @Test func `a check finds a sound store sound, on the disk and in memory`() async throws {
    for isInMemory in [false, true] {
      let folder = try TemporaryFolder()
      let store =
        isInMemory
        ? try Store.inMemory(entities: Library.entities)
        : try Store(at: folder.storePath, entities: Library.entities)
      let author = try await store.insert(Author(name: "A")).id
      try await store.insert((1...50).map { Book(title: "\($0)", author: author) })
      let progress = ProgressSteps()
      let found = try await store.verify { progress.add($0) }
      #expect(found.isSound && found.problems.isEmpty, "\(found)")
      #expect("\(found)" == "sound")
      #expect(found.recordCounts["Book"] == 50 && found.recordCounts["Author"] == 1)
      #expect(progress.all.last?.fraction == 1)
      store.close()
    }
  }

  @Test func `a check names the faults of a store in use, and of a file`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try await store.insert((1...20).map { Film(title: "film \($0)", episode: $0) })
    try store.core.write { core in
      let entity = try core.entity(named: "Film")
      var bytes = Array(try #require(try core.record(7, of: entity)))
      bytes[bytes.count - 1] ^= 1
      try core.writing.put(littleEndianBytes(7), bytes, in: entity.records)
    }
    let found = try await store.verify()
    #expect(!found.isSound && found.problemCount == 1)
    let problem = try #require(found.problems.first)
    #expect(problem.recordID == 7 && problem.subject == "Film" && problem.rule == "record.checksum")
    #expect("\(found)" == "\(problem)")
    store.close()
    #expect(try Store.verify(at: folder.storePath).problems == found.problems)
    _ = try storeError(.notAStore) {
      try Data("no store".utf8).write(to: URL(filePath: folder.path + "/x"))
      return try Store.verify(at: folder.path + "/x")
    }
  }

  @Test func `a check ends when its task is cancelled`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.insert((0..<30_000).map { Film(title: "film \($0)", episode: $0) })
      let begun = AsyncStream<Void>.makeStream()
      let cancelled = DispatchSemaphore(value: 0)
      let task = Task {
        defer { begun.continuation.finish() }
        return try await store.verify { _ in
          begun.continuation.yield()
          cancelled.wait()
          cancelled.signal()  // for the next call
        }
      }
      for await _ in begun.stream { break }
      task.cancel()
      cancelled.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}

@Suite struct `An export from the program` {
  @Test func `an export from the program equals that of kvdump`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [AllTypes.self])
    var odd = AllTypes()
    odd.string = "a,\"b\"\n\u{7}"
    odd.double = -.infinity
    odd.float = .nan
    odd.date = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    odd.decimal = Decimal(string: "123456789012345678901234567890.5") ?? 0
    odd.data = Data([0, 255])
    odd.optionalString = ""
    odd.optionalDouble = .nan
    odd.optionalDecimal = Decimal(string: "1e-20")
    odd.json = ["a": [1, "x", nil], "b": 0.5]
    odd.list = ["x", "y"]
    try await store.insert([AllTypes(), odd])
    let lines = folder.path + "/own.jsonl"
    let table = folder.path + "/own.csv"
    #expect(try await store.export(AllTypes.all, to: lines) == 2)
    #expect(try await store.export(AllTypes.all, to: table) == 2)
    store.close()
    for (own, name) in [(lines, "tool.jsonl"), (table, "tool.csv")] {
      let console = Console(output: MemorySink(), errors: MemorySink())
      let status = await KVDump.execute(
        ["export", folder.storePath, "AllTypes", "\(folder.path)/\(name)"], on: console)
      #expect(status == .success)
      let mine = try String(contentsOfFile: own, encoding: .utf8)
      let its = try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
      if name.hasSuffix("csv") {
        #expect(mine == its)
      } else {
        let values = try [mine, its].map { text in
          try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        }
        #expect(values[0] == values[1] && values[0].count == 2)
      }
    }
  }

  @Test func `an export takes a query, and an import reads its file`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/films.jsonl"
    try await withTemporaryStore([Film.self]) { store in
      try await store.insert((1...10).map { Film(title: "film \($0)", episode: $0) })
      let wanted = Film.where { $0.episode > 6 }.sorted(by: \.episode.descending)
      #expect(try await store.export(wanted, to: path) == 4)
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 4 && lines[0].contains("\"film 10\""))
      let error = await #expect(throws: StoreError.self) {
        try await store.export(wanted, to: path)
      }
      #expect(error?.code == .unsuitablePath)
      #expect(try await store.export(Film.all, to: path, replacing: true) == 10)
    }
    try await withTemporaryStore([Film.self]) { store in
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      let report = try await importer.run(FilePages.jsonLines(path), renaming: [:])
      #expect(report.inserted == 10 && report.rejected == 0)
    }
  }

  @Test func `an export that is cancelled, or meets a damaged record, leaves no file`() async throws
  {
    let folder = try TemporaryFolder()
    let store = try Store.inMemory(entities: [Film.self])
    try await store.insert((0..<50_000).map { Film(title: "film \($0)", episode: $0) })
    let path = folder.path + "/films.csv"
    let begun = AsyncStream<Void>.makeStream()
    let cancelled = DispatchSemaphore(value: 0)
    let task = Task {
      defer { begun.continuation.finish() }
      return try await store.export(Film.all, to: path) { _ in
        begun.continuation.yield()
        cancelled.wait()
        cancelled.signal()  // for the next call
      }
    }
    for await _ in begun.stream { break }
    task.cancel()
    cancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    try store.core.write { core in
      let entity = try core.entity(named: "Film")
      var bytes = Array(try #require(try core.record(70, of: entity)))
      bytes[bytes.count - 1] ^= 1
      try core.writing.put(littleEndianBytes(70), bytes, in: entity.records)
    }
    let error = await #expect(throws: StoreError.self) {
      try await store.export(Film.all, to: path)
    }
    #expect(error?.code == .damaged && error?.recordID == 70)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    store.close()
  }
}

private final class ProgressSteps: @unchecked Sendable {
  private let lock = NSLock()
  private var steps: [WorkProgress] = []

  func add(_ step: WorkProgress) { lock.withLock { steps.append(step) } }

  var all: [WorkProgress] { lock.withLock { steps } }
}
