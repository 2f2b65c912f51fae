import Foundation
import Testing

@testable import LodestoreReplicas

/// A storage in a folder, where other programs and mounts can be in the way.
@Suite struct FolderStorageTests {
  private let folder: StorageFolder
  private let storage: FolderStorage

  init() throws {
    folder = try StorageFolder()
    storage = try FolderStorage(path: folder.path + "/")
  }

  private var names: [String] {
    (try? FileManager.default.subpathsOfDirectory(atPath: folder.path))?.sorted() ?? []
  }

  @Test func `a missing folder is never created`() async throws {
    let path = folder.path + "/none"
    let found = #expect(throws: StorageError.self) { try FolderStorage(path: path) }
    #expect(found?.kind == .noBucket)
    let one = try key("a/b")
    try FileManager.default.removeItem(atPath: folder.path)
    let put = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([1]), at: one, if: .absent)
    }
    #expect(put.kind == .noBucket)
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `no temporary file stays, whether a write succeeds or fails`() async throws {
    let one = try key("a/b")
    _ = try await storage.put(.bytes([1]), at: one, if: .absent)
    for condition in [PutCondition.absent, .matches(ObjectTag("other"))] {
      let found = try await failure { () async throws(StorageError) in
        try await storage.put(.bytes([2]), at: one, if: condition)
      }
      #expect(found.kind == .conditionFailed)
    }
    _ = try await storage.put(.bytes([3]), at: one, if: .none)
    #expect(names == [".lodestore-lock", "a", "a/b"])
  }

  @Test func `the files of a write that was killed are no objects`() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path + "/a", withIntermediateDirectories: true)
    try folder.write([1], to: "a/.lodestore-1x")
    try folder.write([1], to: "a/b")
    let page = try await storage.list(prefix: "", after: nil, limit: 10)
    #expect(page.entries.map(\.key) == ["a/b"])
    let own = try key("a/.lodestore-1x")
    let found = try await failure { () async throws(StorageError) in
      try await storage.get(own, byteLimit: 10)
    }
    #expect(found.kind == .badRequest)
  }

  @Test func `folders, links and pipes are no objects`() async throws {
    try folder.write([1], to: "file")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/folder", withIntermediateDirectories: true)
    #expect(symlink("file", folder.path + "/link") == 0)
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    for name in ["folder", "link", "pipe", "file/below"] {
      let one = try key(name)
      let found = try await failure { () async throws(StorageError) in
        try await storage.get(one, byteLimit: 10)
      }
      #expect(found.kind == .notFound, "\(found)")
    }
    let page = try await storage.list(prefix: "", after: nil, limit: 10)
    #expect(page.entries.map(\.key) == ["file"])
  }

  @Test func `a read keeps its object while others replace it`() async throws {
    let one = try key("a")
    _ = try await storage.put(.bytes([UInt8](repeating: 0, count: 20_000)), at: one, if: .none)
    let storage = storage
    let writer = Task {
      for number in 1...50 {
        _ = try await storage.put(
          .bytes([UInt8](repeating: UInt8(number), count: 20_000)), at: one, if: .none)
      }
    }
    for _ in 0..<50 {
      let found = try await storage.get(one, byteLimit: 20_000).bytes
      #expect(found == [UInt8](repeating: found.first ?? 0, count: 20_000))
    }
    try await writer.value
  }

  @Test func `of writers with one tag one succeeds, again and again`() async throws {
    let one = try key("lease")
    var tag = try await storage.put(.bytes([0]), at: one, if: .absent)
    let storage = storage
    for round in 1...8 {
      let expected = tag
      let tags = try await withThrowingTaskGroup(of: ObjectTag?.self) { group in
        for writer in 0..<8 {
          group.addTask {
            do throws(StorageError) {
              return try await storage.put(
                .bytes([UInt8(round), UInt8(writer)]), at: one, if: .matches(expected))
            } catch {
              #expect(error.kind == .conditionFailed, "\(error)")
              return nil
            }
          }
        }
        return try await group.reduce(into: [ObjectTag]()) { if let tag = $1 { $0.append(tag) } }
      }
      #expect(tags.count == 1)
      tag = try #require(tags.first)
    }
  }

  @Test func `a lock that a stopped process holds ends a write with a tag, and no other call`()
    async throws
  {
    let one = try key("lease")
    let tag = try await storage.put(.bytes([0]), at: one, if: .absent)
    let file = open(folder.path + "/.lodestore-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    #expect(flock(file, LOCK_EX) == 0)
    var storage = storage
    storage.lockLimit = .milliseconds(50)
    let bounded = storage
    let found = try await failure { () async throws(StorageError) in
      try await bounded.put(.bytes([1]), at: one, if: .matches(tag))
    }
    #expect(found.kind == .unsupported && !found.mayHaveHappened, "\(found)")
    #expect(try await storage.get(one, byteLimit: 1).bytes == [0])
    _ = try await storage.put(.bytes([2]), at: one, if: .none)
    try await storage.delete(one)
    close(file)
    #expect(names == [".lodestore-lock"])
  }

  @Test func `lists are ordered by the bytes of whole keys`() async throws {
    let keys = ["a", "a-b", "a/b", "a/c/d", "a0", "b", "Z", "a/c-d"]
    for text in keys where text != "a" {
      _ = try await storage.put(.bytes([]), at: try key(text), if: .absent)
    }
    let all = ["Z", "a-b", "a/b", "a/c-d", "a/c/d", "a0", "b"]
    let pages: [(prefix: String, after: String?, expected: [String])] = [
      ("", nil, all), ("a", nil, Array(all[1...5])),
      ("a/", nil, Array(all[2...4])), ("a/c", nil, Array(all[3...4])),
      ("", "a/c-d", Array(all[4...])), ("a/", "a/c/d", []), ("../", nil, []), ("/", nil, []),
    ]
    for (prefix, after, expected) in pages {
      let page = try await storage.list(prefix: prefix, after: after, limit: 100)
      #expect(page.entries.map(\.key) == expected, "\(prefix) \(after ?? "-")")
      #expect(page.isLast)
    }
    let first = try await storage.list(prefix: "", after: nil, limit: 7)
    #expect(first.isLast)
    #expect(try await storage.list(prefix: "", after: nil, limit: 6).isLast == false)
  }

  @Test func `a key below an object cannot be written`() async throws {
    _ = try await storage.put(.bytes([]), at: try key("a"), if: .absent)
    let below = try key("a/b")
    let found = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([]), at: below, if: .absent)
    }
    #expect(!found.mayHaveHappened, "\(found)")
  }

  @Test func `a read-only folder says so`() async throws {
    // The user root may write everywhere.
    guard getuid() != 0 else { return print("skipped: the user is root") }
    #expect(chmod(folder.path, 0o500) == 0)
    defer { chmod(folder.path, 0o700) }
    let one = try key("a")
    let found = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([]), at: one, if: .absent)
    }
    #expect(found.kind == .denied)
  }
}
