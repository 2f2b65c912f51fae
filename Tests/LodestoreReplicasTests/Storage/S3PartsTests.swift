import Foundation
import LoopbackWeb
import Testing

@testable import LodestoreReplicas

/// Files that are written in parts.
@Suite struct S3PartsTests {
  private static let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 4) }

  private func withStorage(
    of service: PartService, run body: (S3Storage, String) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { service.answer(to: $0) }
    defer { server.stop() }
    var options = S3Storage.Options()
    options.requestTimeout = .seconds(60)
    (options.partsThreshold, options.partSize) = (4_000, 4_000)
    options.partFailureLimit = 3
    options.wait = { _, _ in }
    let storage = try S3Storage(
      "http://127.0.0.1:\(server.port)/bucket/place", .keys(StorageServer.credentials), options,
      AWSSettings(environment: [:]) { _ in nil })
    let folder = try StorageFolder()
    try await body(storage, folder.write(Self.content, to: "base"))
  }

  // MARK: Sizes

  @Test func `a file is divided into at most 10,000 parts`() throws {
    let sizes: [(UInt64, UInt64, Int)] = [
      (1, 64 << 20, 1), (64 << 20, 64 << 20, 1), (64 << 20 + 1, 64 << 20, 2),
      (100_000_000_000, 64 << 20, 1_491), (640_000 << 20, 64 << 20, 10_000),
      (640_000 << 20 + 1, 64 << 20, 9_847), (5 << 40, 64 << 20, 9_987),
      (10_000 * (5 << 30), 64 << 20, 10_000),
    ]
    for (byteCount, wished, count) in sizes {
      let parts = try #require(UploadParts(byteCount: byteCount, wishedSize: wished))
      #expect(parts.count == count, "\(byteCount)")
      #expect(parts.range(ofPart: 1).lowerBound == 0)
      #expect(parts.range(ofPart: count).upperBound == byteCount)
      #expect(!parts.range(ofPart: count).isEmpty)
      #expect(parts.partSize <= UploadParts.sizeLimit)
    }
    #expect(UploadParts(byteCount: 0, wishedSize: 1) == nil)
    #expect(UploadParts(byteCount: 10_000 * (5 << 30) + 1, wishedSize: 1) == nil)
  }

  @Test func `the time of an upload is read`() {
    for seconds in [0, 951_782_399, 951_782_400, 951_868_800, 1_796_000_000, 4_107_542_400] {
      let text = ISO8601DateFormatter().string(
        from: Date(timeIntervalSince1970: Double(seconds)))
      #expect(RequestText.seconds(text) == seconds, "\(text)")
      #expect(RequestText.seconds(text.replacing("Z", with: ".123Z")) == seconds)
    }
    for text in ["", "2026-11-29", "2026-13-01T00:00:00Z", "2026-11-29T00:00:00", "x026-11-29"] {
      #expect(RequestText.seconds(text) == nil)
    }
  }

  // MARK: Failures

  @Test func `a large file is written in parts, and a small or conditional one is not`()
    async throws
  {
    let service = PartService()
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      let tag = try await storage.put(.file(path: path), at: one, if: .none)
      #expect(service.object == Self.content)
      #expect(service.calls == [.head, .begin, .part(1), .part(2), .part(3), .complete])
      #expect(storage.writeCount(of: .file(path: path), if: .none) == 5)
      #expect(try await storage.head(one) == ObjectHead(byteCount: 10_000, tag: tag))
      _ = try await storage.put(.file(path: path), at: one, if: .absent)
      _ = try await storage.put(.bytes(Self.content), at: one, if: .none)
      #expect(service.calls.suffix(2) == [.whole, .whole])
      #expect(storage.writeCount(of: .file(path: path), if: .absent) == 1)
    }
  }

  @Test func `a failed part is sent again, and other failures end the upload`() async throws {
    let failing: [PartService.Call] = [.begin, .part(2), .complete]
    for call in failing {
      for limit in [2, 3] {
        let service = PartService { made, count in
          guard made == call, count <= limit else { return nil }
          return .init(answer: Answer(503, [], body: PartService.error("SlowDown")))
        }
        try await withStorage(of: service) { storage, path in
          let one = try key("a")
          if limit == 2 {
            _ = try await storage.put(.file(path: path), at: one, if: .none)
            #expect(service.object == Self.content, "\(call)")
          } else {
            let error = try await failure { () async throws(StorageError) in
              try await storage.put(.file(path: path), at: one, if: .none)
            }
            #expect(error.isWorthRepeating, "\(call): \(error)")
            #expect(error.mayHaveHappened == (call == .complete))
            #expect(service.object == nil)
            #expect(service.calls.last == (call == .begin ? .begin : .abort))
          }
          #expect(service.openUploads == 0)
          #expect(service.calls.count { $0 == call } == 3)
        }
      }
    }
  }

  @Test func `a lost answer to the completion is no failure`() async throws {
    let lost: [Answer] = [
      .reset, Answer(500, [], body: PartService.error("InternalError")),
      // The service has begun its answer, and fails afterwards.
      Answer(200, [], body: PartService.error("InternalError")), Answer(200, [], body: [1]),
    ]
    for (number, answer) in lost.enumerated() {
      let service = PartService { call, count in
        call == .complete && count == 1 ? .init(answer: answer, isDone: true) : nil
      }
      try await withStorage(of: service) { storage, path in
        let one = try key("a")
        let tag = try await storage.put(.file(path: path), at: one, if: .none)
        #expect(service.object == Self.content, "\(number)")
        #expect(try await storage.head(one).tag == tag)
      }
    }
  }

  @Test func `a completion that did not happen is not taken for one because of an older object`()
    async throws
  {
    let service = PartService { call, count in
      guard call == .complete, count > 1 else { return nil }
      return .init(answer: Answer(200, [], body: PartService.error("InternalError")))
    }
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      _ = try await storage.put(.file(path: path), at: one, if: .none)
      let error = try await failure { () async throws(StorageError) in
        try await storage.put(.file(path: path), at: one, if: .none)
      }
      #expect(error.kind == .unavailable && error.mayHaveHappened, "\(error)")
      #expect(service.openUploads == 0)
    }
  }

  @Test func `a completion is repeated after an answer that cannot be read`() async throws {
    let service = PartService { call, count in
      guard call == .complete, count == 2 || count > 3 else { return nil }
      return .init(answer: Answer(200, [], body: Array("<html>a page".utf8)))
    }
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      _ = try await storage.put(.file(path: path), at: one, if: .none)
      // The object in place is older, so only a second call can complete the upload.
      _ = try await storage.put(.file(path: path), at: one, if: .none)
      #expect(service.calls.count { $0 == .complete } == 3)
      let error = try await failure { () async throws(StorageError) in
        try await storage.put(.file(path: path), at: one, if: .none)
      }
      #expect(error.kind == .badAnswer && error.mayHaveHappened, "\(error)")
      #expect("\(error)".contains("it begins with '<html>a page'"), "\(error)")
    }
  }

  @Test func `an upload that somebody aborts fails in a way that is worth repeating`()
    async throws
  {
    let service = PartService { call, _ in
      guard call == .part(2) else { return nil }
      return .init(answer: Answer(404, [], body: PartService.error("NoSuchUpload")))
    }
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      let error = try await failure { () async throws(StorageError) in
        try await storage.put(.file(path: path), at: one, if: .none)
      }
      #expect(error.kind == .cut && !error.mayHaveHappened, "\(error)")
      #expect(service.calls.count { $0 == .part(2) } == 1)
    }
  }

  @Test func `a service without uploads in parts gets the file whole`() async throws {
    let service = PartService { call, _ in
      guard call == .begin else { return nil }
      return .init(answer: Answer(501, [], body: PartService.error("NotImplemented")))
    }
    try await withStorage(of: service) { storage, path in
      _ = try await storage.put(.file(path: path), at: try key("a"), if: .none)
      #expect(service.object == Self.content && service.calls.last == .whole)
    }
  }

  @Test func `a cancelled upload is aborted`() async throws {
    let service = PartService { call, _ in call == .part(2) ? .init(answer: .never) : nil }
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      let task = Task { () -> StorageError? in
        do throws(StorageError) {
          _ = try await storage.put(.file(path: path), at: one, if: .none)
          return nil
        } catch { return error }
      }
      while !service.calls.contains(.part(2)) { try await Task.sleep(for: .milliseconds(5)) }
      task.cancel()
      #expect(await task.value?.kind == .cancelled)
      #expect(service.openUploads == 0 && service.calls.last == .abort)
    }
  }

  @Test func `uploads that are older than a time are aborted, and running ones are not`()
    async throws
  {
    let service = PartService { call, _ in call == .part(2) ? .init(answer: .never) : nil }
    try await withStorage(of: service) { storage, path in
      let one = try key("a")
      let task = Task { try? await storage.put(.file(path: path), at: one, if: .none) }
      while !service.calls.contains(.part(2)) { try await Task.sleep(for: .milliseconds(5)) }
      let other = S3Call(.put, "POST", key: "a", query: [(name: "uploads", value: "")])
      _ = try await storage.answer(to: other)
      #expect(service.openUploads == 2)
      #expect(try await storage.endOldWrites(prefix: "", olderThan: .seconds(3_600)) == 0)
      #expect(try await storage.endOldWrites(prefix: "b", olderThan: .seconds(60)) == 0)
      #expect(try await storage.endOldWrites(prefix: "", olderThan: .seconds(60)) == 1)
      #expect(service.openUploads == 1)
      task.cancel()
      #expect(await task.value == nil)
      #expect(service.openUploads == 0)
    }
  }

  // MARK: Servers

  @Test(arguments: StorageServer.Product.trusted)
  func `a server takes a file in parts`(on product: StorageServer.Product) async throws {
    guard let server = try StorageServer(product) else { return }
    defer { withExtendedLifetime(server) {} }
    let storage = try server.storage("some/place") {
      // SeaweedFS refuses smaller parts, as Amazon does.
      ($0.partsThreshold, $0.partSize) = (1, 5 << 20)
    }
    let folder = try StorageFolder()
    var random = SeededRandom(seed: 7)
    let piece = (0..<4_099).map { _ in UInt8.random(in: 0...255, using: &random) }
    let content = Array([[UInt8]](repeating: piece, count: 3_000).joined())
    let path = try folder.write(content, to: "base")
    let one = try key("base/ä 1+")
    for _ in 1...2 {
      let tag = try await storage.put(.file(path: path), at: one, if: .none)
      #expect(try await storage.head(one) == ObjectHead(byteCount: 12_297_000, tag: tag))
    }
    #expect(try await storage.get(one, byteLimit: 16 << 20).bytes == content)
    let page = try await storage.list(prefix: "base/", after: nil, limit: 10)
    #expect(page.entries.map(\.key) == ["base/ä 1+"])
    #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 0)
    // The upload of a killed process is aborted after its time.
    let begin = S3Call(.put, "POST", key: "base/2", query: [(name: "uploads", value: "")])
    for _ in 1...2 { _ = try await storage.answer(to: begin) }
    #expect(try await storage.endOldWrites(prefix: "log/", olderThan: .seconds(-60)) == 0)
    if product != .moto {
      // moto states one time for all uploads.
      #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(86_400)) == 0)
    }
    #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 2)
    #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 0)
    #expect(try await storage.get(one, byteLimit: 16 << 20).bytes == content)
  }
}
