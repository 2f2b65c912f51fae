import Foundation
import Testing

@testable import LodestoreReplicas

/// The contract of a storage, on a folder and on real S3-compatible servers.
@Suite(.serialized) struct StorageContractTests {
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case folder, moto, seaweed

    var testDescription: String { rawValue }
  }

  /// A storage, and the object that keeps it alive.
  private struct Opened {
    var storage: any ObjectStorage
    var owner: AnyObject
  }

  private func open(_ place: Place) throws -> Opened? {
    guard place != .folder else {
      let folder = try StorageFolder()
      return Opened(storage: try FolderStorage(path: folder.path), owner: folder)
    }
    let product = try #require(StorageServer.Product(rawValue: place.rawValue))
    return try StorageServer(product).map {
      Opened(storage: try $0.storage("some/place"), owner: $0)
    }
  }

  @Test(arguments: Place.allCases)
  func `a storage keeps its contract`(in place: Place) async throws {
    guard let opened = try open(place) else { return }
    defer { withExtendedLifetime(opened.owner) {} }
    try await checkObjects(opened.storage)
    try await checkConditions(opened.storage)
    try await checkLists(opened.storage)
    try await checkFiles(opened.storage)
    // moto looks whether an object exists, and then writes it: of two threads, both may win.
    if place != .moto { try await checkRaces(opened.storage) }
    var probe = StorageProbe()
    if place == .moto { probe.racers = 1 }
    try await probe.check(opened.storage)
    #expect(try await opened.storage.list(prefix: "probe/", after: nil, limit: 10).entries == [])
  }

  private func checkObjects(_ storage: any ObjectStorage) async throws {
    let one = try key("log/00000000000000000001.lsc")
    let absent = try await failure { () async throws(StorageError) in
      try await storage.get(one, byteLimit: 10)
    }
    #expect(absent.kind == .notFound, "\(absent)")
    let noHead = try await failure { () async throws(StorageError) in try await storage.head(one) }
    #expect(noHead.kind == .notFound, "\(noHead)")
    try await storage.delete(one)

    let tag = try await storage.put(.bytes(Array("0123456789".utf8)), at: one, if: .none)
    let found = try await storage.get(one, byteLimit: 10)
    #expect(found.bytes == Array("0123456789".utf8))
    #expect(found.head == ObjectHead(byteCount: 10, tag: tag))
    #expect(try await storage.head(one) == found.head)

    let large = try await failure { () async throws(StorageError) in
      try await storage.get(one, byteLimit: 9)
    }
    #expect(large.kind == .tooLarge, "\(large)")
    for (range, text) in [(0..<4, "0123"), (3..<5, "34"), (9..<10, "9"), (6..<100, "6789")] {
      let part = try await storage.get(
        one, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), byteLimit: 10)
      #expect(part.bytes == Array(text.utf8))
      #expect(part.head == found.head)
    }
    let outside = try await failure { () async throws(StorageError) in
      try await storage.get(one, range: 10..<12, byteLimit: 10)
    }
    #expect(outside.kind == .badRange, "\(outside)")

    let empty = try key("empty")
    _ = try await storage.put(.bytes([]), at: empty, if: .absent)
    #expect(try await storage.get(empty, byteLimit: 0).bytes == [])
    #expect(try await storage.head(empty).byteCount == 0)
    try await storage.delete(empty)
    try await storage.delete(one)
    let gone = try await failure { () async throws(StorageError) in
      try await storage.get(one, byteLimit: 10)
    }
    #expect(gone.kind == .notFound, "\(gone)")
  }

  private func checkConditions(_ storage: any ObjectStorage) async throws {
    let one = try key("lease.json")
    let first = try await storage.put(.bytes([1]), at: one, if: .absent)
    let second = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([2]), at: one, if: .absent)
    }
    #expect(second.kind == .conditionFailed, "\(second)")
    #expect(!second.mayHaveHappened)
    #expect(try await storage.get(one, byteLimit: 1).bytes == [1])

    let third = try await storage.put(.bytes([3]), at: one, if: .matches(first))
    #expect(third != first)
    let fourth = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([4]), at: one, if: .matches(first))
    }
    #expect(fourth.kind == .conditionFailed, "\(fourth)")
    #expect(try await storage.get(one, byteLimit: 1).bytes == [3])
    try await storage.delete(one)
    // Amazon and moto answer 404, SeaweedFS 412.
    let missing = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([5]), at: one, if: .matches(third))
    }
    #expect([.conditionFailed, .notFound].contains(missing.kind), "\(missing)")
  }

  private func checkLists(_ storage: any ObjectStorage) async throws {
    let names = ["a b", "a&<'\"", "a+b", "a-b", "a=b", "a~", "ä", "日"]
    for name in names.shuffled() {
      _ = try await storage.put(.bytes(Array(name.utf8)), at: key("odd/\(name)"), if: .absent)
    }
    let page = try await storage.list(prefix: "odd/", after: nil, limit: 1000)
    #expect(page.entries.map(\.key) == names.map { "odd/\($0)" })
    #expect(page.entries.map { Int($0.head.byteCount) } == names.map(\.utf8.count))
    #expect(page.isLast)
    for entry in page.entries {
      let found = try await storage.get(key(entry.key), byteLimit: 10)
      #expect(found.head == entry.head)
      #expect(found.bytes == Array(entry.key.dropFirst(4).utf8))
    }
    var walked: [String] = []
    while true {
      let next = try await storage.list(prefix: "odd/", after: walked.last, limit: 3)
      #expect(next.entries.count <= 3)
      walked += next.entries.map(\.key)
      if next.isLast { break }
    }
    #expect(walked == page.entries.map(\.key))
    #expect(try await storage.list(prefix: "odd/a", after: nil, limit: 100).entries.count == 6)
    #expect(
      try await storage.list(prefix: "none/", after: nil, limit: 10)
        == ObjectPage(entries: [], isLast: true))
    for entry in page.entries { try await storage.delete(key(entry.key)) }
    #expect(try await storage.list(prefix: "odd/", after: nil, limit: 10).entries == [])
  }

  private func checkFiles(_ storage: any ObjectStorage) async throws {
    let folder = try StorageFolder()
    var random = SeededRandom(seed: 5)
    let piece = (0..<4_099).map { _ in UInt8.random(in: 0...255, using: &random) }
    let content = Array([[UInt8]](repeating: piece, count: 768).joined())
    let path = try folder.write(content, to: "base")
    let one = try key("base/1")
    let tag = try await storage.put(.file(path: path), at: one, if: .absent)
    let received = Received()
    let head = try await storage.download(one, range: nil, byteLimit: 4 << 20) { received.add($0) }
    #expect(head == ObjectHead(byteCount: UInt64(content.count), tag: tag))
    #expect(received.bytes == content)
    let part = Received()
    _ = try await storage.download(one, range: 1_000_000..<2_000_000, byteLimit: 1_000_000) {
      part.add($0)
    }
    #expect(part.bytes.elementsEqual(content[1_000_000..<2_000_000]))
    let large = try await failure { () async throws(StorageError) in
      try await storage.download(one, range: nil, byteLimit: 1 << 20) { _ in }
    }
    #expect(large.kind == .tooLarge, "\(large)")
    // A large write that is refused must be reported as a refusal, not as a lost answer.
    let refused = try await failure { () async throws(StorageError) in
      try await storage.put(.file(path: path), at: one, if: .absent)
    }
    #expect(refused.kind == .conditionFailed, "\(refused)")
    let missing = try await failure { () async throws(StorageError) in
      try await storage.put(.file(path: path + "-none"), at: one, if: .none)
    }
    #expect(missing.kind == .badRequest, "\(missing)")
    try await storage.delete(one)
  }

  private func checkRaces(_ storage: any ObjectStorage) async throws {
    for round in 0..<4 {
      let one = try key("race/\(round)")
      let winners = try await withThrowingTaskGroup(of: UInt8?.self) { group in
        for writer in 0..<UInt8(8) {
          group.addTask {
            do throws(StorageError) {
              _ = try await storage.put(.bytes([writer]), at: one, if: .absent)
              return writer
            } catch {
              #expect(error.kind == .conditionFailed || error.kind == .conflictAgain, "\(error)")
              return nil
            }
          }
        }
        return try await group.reduce(into: [UInt8]()) { if let writer = $1 { $0.append(writer) } }
      }
      #expect(winners.count == 1)
      #expect(try await storage.get(one, byteLimit: 1).bytes == winners)
    }
  }
}

/// The pieces of a download.
private final class Received: @unchecked Sendable {
  private let lock = NSLock()
  private var pieces: [UInt8] = []

  var bytes: [UInt8] { lock.withLock { pieces } }

  func add(_ piece: [UInt8]) { lock.withLock { pieces += piece } }
}
