import Foundation
import LoopbackWeb
import Synchronization
import Testing

@testable import LodestoreReplicas

/// Requests to services that answer badly, late or not at all.
@Suite struct S3StorageTests {
  private func withStorage(
    answering answer: @escaping @Sendable (LoopbackServer.Request) -> Answer,
    with change: (inout S3Storage.Options) -> Void = { _ in },
    run body: (S3Storage, LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer(answer)
    defer { server.stop() }
    var options = S3Storage.Options()
    // Other tests may keep all threads busy for some seconds.
    options.requestTimeout = .seconds(60)
    change(&options)
    let storage = try S3Storage(
      "http://127.0.0.1:\(server.port)/bucket/place", .keys(StorageServer.credentials), options,
      AWSSettings(environment: [:]) { _ in nil })
    try await body(storage, server)
  }

  private static func error(_ code: String) -> [UInt8] {
    Array("<Error><Code>\(code)</Code><Message>Said &lt;so&gt;</Message></Error>".utf8)
  }

  struct Case: Sendable {
    var status: Int
    var code: String?
    var fields: [String] = []
    var kind: StorageError.Kind
    var mayHaveHappened = false
  }

  static let cases = [
    Case(status: 404, code: "NoSuchKey", kind: .notFound),
    Case(status: 404, code: "NoSuchBucket", kind: .noBucket),
    // Another program answers at the address: this is no "absent".
    Case(status: 404, kind: .badAnswer),
    Case(status: 412, code: "PreconditionFailed", kind: .conditionFailed),
    Case(status: 412, kind: .conditionFailed),
    Case(status: 409, code: "ConditionalRequestConflict", kind: .conflictAgain),
    Case(
      status: 429, fields: ["Retry-After: 7"], kind: .throttled(retryAfter: .seconds(7))),
    Case(
      status: 503, code: "SlowDown", kind: .throttled(retryAfter: nil), mayHaveHappened: true),
    Case(status: 503, kind: .unavailable, mayHaveHappened: true),
    Case(status: 500, code: "InternalError", kind: .unavailable, mayHaveHappened: true),
    Case(status: 504, kind: .unavailable, mayHaveHappened: true),
    Case(status: 501, code: "NotImplemented", kind: .unsupported),
    Case(status: 403, code: "AccessDenied", kind: .denied),
    Case(status: 403, code: "SignatureDoesNotMatch", kind: .denied),
    Case(status: 400, code: "ExpiredToken", kind: .denied),
    Case(status: 400, code: "RequestTimeout", kind: .cut, mayHaveHappened: true),
    Case(status: 400, code: "EntityTooLarge", kind: .tooLarge),
    Case(status: 400, code: "InvalidRequest", kind: .badAnswer),
    Case(status: 301, code: "PermanentRedirect", kind: .badAnswer),
    Case(status: 418, kind: .badAnswer),
  ]

  @Test(arguments: cases)
  func `a refusal has its kind`(of given: Case) async throws {
    let body = given.code.map(Self.error) ?? Array("<html>Sorry".utf8)
    try await withStorage(answering: { _ in Answer(given.status, given.fields, body: body) }) {
      storage, _ in
      let one = try key("log/1")
      let put = try await failure { () async throws(StorageError) in
        try await storage.put(.bytes([1]), at: one, if: .absent)
      }
      #expect(put.kind == given.kind, "\(put)")
      #expect(put.mayHaveHappened == given.mayHaveHappened)
      #expect(put.serviceCode == given.code)
      #expect(put.message.contains("cannot write 'log/1' in 'http://127.0.0.1:"))
      let get = try await failure { () async throws(StorageError) in
        try await storage.get(one, byteLimit: 10)
      }
      #expect(get.kind == given.kind, "\(get)")
      #expect(!get.mayHaveHappened)
      #expect(!put.message.contains(StorageServer.credentials.secretKey))
    }
  }

  @Test func `a write whose answer is lost may have happened`() async throws {
    let answers: [Answer] = [
      .reset, .raw("HTTP/1.1 200 OK\r\nContent-Le"), .raw(""), .raw("nonsense\r\n\r\n"),
      .raw("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\nab"),
    ]
    for (number, answer) in answers.enumerated() {
      try await withStorage(answering: { _ in answer }) { storage, _ in
        let one = try key("a")
        let put = try await failure { () async throws(StorageError) in
          try await storage.put(.bytes([1]), at: one, if: .absent)
        }
        #expect(put.kind == .cut, "\(number): \(put)")
        #expect(put.message.contains("; check the network between this machine and the storage"))
        #expect(put.mayHaveHappened)
        #expect(put.isWorthRepeating)
      }
    }
  }

  @Test func `a write to a service that says nothing may have happened`() async throws {
    try await withStorage(
      answering: { _ in .never }, with: { $0.requestTimeout = .seconds(2) }
    ) {
      storage, _ in
      let one = try key("a")
      let put = try await failure { () async throws(StorageError) in
        try await storage.put(.bytes([1]), at: one, if: .absent)
      }
      #expect(put.kind == .cut && put.mayHaveHappened, "\(put)")
    }
  }

  @Test func `a service that is not there has not written`() async throws {
    let port = try {
      let socket = try Socket.bound()
      defer { close(socket) }
      return try Socket.port(of: socket)
    }()
    let storage = try S3Storage(
      "http://127.0.0.1:\(port)/bucket", credentials: .keys(StorageServer.credentials))
    let one = try key("a")
    let put = try await failure { () async throws(StorageError) in
      try await storage.put(.bytes([1]), at: one, if: .absent)
    }
    #expect(put.kind == .unavailable && !put.mayHaveHappened, "\(put)")
    #expect(
      put.message.hasSuffix(
        "the host takes no connection at this port; check the address, and that the service runs"))
  }

  @Test func `the service's clock is taken over after its refusal`() async throws {
    let machine = 1_000_000_000
    let service = "Sun, 29 Nov 2026 01:33:37 GMT"
    for method in ["PUT", "HEAD"] {
      try await withStorage(
        answering: { request in
          // The first date is in September 2001.
          request.fields["x-amz-date"] == "20261129T013337Z"
            ? Answer(200, ["ETag: \"a\"", "Date: \(service)"])
            : Answer(
              403, ["Date: \(service)"],
              body: request.method == "HEAD" ? [] : Self.error("RequestTimeTooSkewed"))
        },
        with: {
          $0.now = { machine }
        }
      ) { storage, server in
        if method == "PUT" {
          _ = try await storage.put(.bytes([1]), at: try key("a"), if: .absent)
          _ = try await storage.put(.bytes([1]), at: try key("b"), if: .absent)
        } else {
          _ = try await storage.head(try key("a"))
          _ = try await storage.head(try key("b"))
        }
        #expect(server.log.map { $0.fields["x-amz-date"]?.prefix(4) } == ["2001", "2026", "2026"])
      }
    }
  }

  @Test func `a service that always refuses the time is asked twice`() async throws {
    try await withStorage(
      answering: { _ in
        Answer(
          403, ["Date: Sun, 29 Nov 2026 01:33:37 GMT"], body: Self.error("RequestTimeTooSkewed"))
      },
      with: {
        $0.now = { 0 }
      }
    ) { storage, server in
      let one = try key("a")
      let found = try await failure { () async throws(StorageError) in
        try await storage.get(one, byteLimit: 1)
      }
      #expect(found.kind == .denied)
      #expect(found.message.hasSuffix("set the clock of this machine"))
      #expect(server.log.count == 2)
    }
  }

  @Test func `expired credentials are read again`() async throws {
    let file = Mutex("[default]\naws_access_key_id=OLD\naws_secret_access_key=s\n")
    let server = try LoopbackServer { request in
      request.fields["authorization"]?.contains("Credential=NEW/") == true
        ? Answer(200, ["ETag: \"a\""], body: [1])
        : Answer(400, [], body: Self.error("ExpiredToken"))
    }
    defer { server.stop() }
    let settings = AWSSettings(environment: ["HOME": "/h"]) { path in
      path.hasSuffix("credentials") ? file.withLock { $0 } : nil
    }
    let storage = try S3Storage(
      "http://127.0.0.1:\(server.port)/bucket", .automatic, S3Storage.Options(), settings)
    let one = try key("a")
    let expired = try await failure { () async throws(StorageError) in
      try await storage.get(one, byteLimit: 1)
    }
    #expect(expired.kind == .denied)
    file.withLock { $0 = $0.replacingOccurrences(of: "OLD", with: "NEW") }
    #expect(try await storage.get(try key("a"), byteLimit: 1).bytes == [1])
    #expect(try await storage.get(try key("a"), byteLimit: 1).bytes == [1])
    #expect(server.log.count == 4)
  }

  @Test func `answers that are no answers are refused`() async throws {
    let bad: [(fields: [String], status: Int, range: Range<UInt64>?)] = [
      ([], 200, nil), (["ETag: \"a\""], 200, 0..<1),
      (["ETag: \"a\"", "Content-Range: bytes 1-1/3"], 206, 0..<1),
      (["ETag: \"a\"", "Content-Range: bytes 0-1/3"], 206, 0..<1),
      (["ETag: \"a\"", "Content-Range: bytes 0-0/*"], 206, 0..<1),
      (["ETag: \"a\"", "Content-Range: bytes 0-0/3"], 206, nil), (["ETag: \"a\""], 206, 0..<1),
    ]
    for (fields, status, range) in bad {
      try await withStorage(answering: { _ in Answer(status, fields, body: [1]) }) { storage, _ in
        let one = try key("a")
        let found = try await failure { () async throws(StorageError) in
          try await storage.get(one, range: range, byteLimit: 10)
        }
        #expect(found.kind == .badAnswer, "\(fields) \(status): \(found)")
      }
    }
  }

  @Test func `a content that is announced or sent beyond the limit is refused`() async throws {
    let chunk = "8\r\n01234567\r\n"
    let endless = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n"
    for answer in [
      Answer(200, ["ETag: \"a\""], body: Array("0123456789".utf8)),
      .raw(endless + String(repeating: chunk, count: 1000)),
    ] {
      try await withStorage(answering: { _ in answer }) { storage, _ in
        let one = try key("a")
        let found = try await failure { () async throws(StorageError) in
          try await storage.get(one, byteLimit: 9)
        }
        #expect(found.kind == .tooLarge, "\(found)")
      }
    }
  }

  @Test func `requests state their method, host, condition and content`() async throws {
    try await withStorage(answering: { _ in Answer(200, ["ETag: \"a\""]) }) { storage, server in
      let one = try key("log/ä 1+")
      _ = try await storage.put(.bytes([1, 2]), at: one, if: .absent)
      _ = try await storage.put(.bytes([3]), at: one, if: .matches(ObjectTag("tag")))
      try await storage.delete(one)
      let log = server.log
      #expect(log.map(\.method) == ["PUT", "PUT", "DELETE"])
      #expect(Set(log.map(\.target)) == ["/bucket/place/log/%C3%A4%201%2B"])
      #expect(log.map { $0.fields["if-none-match"] } == ["*", nil, nil])
      #expect(log.map { $0.fields["if-match"] } == [nil, "\"tag\"", nil])
      #expect(log.map(\.body) == [[1, 2], [3], []])
      #expect(
        log.map { $0.fields["host"] } == [String?](repeating: "127.0.0.1:\(server.port)", count: 3))
      #expect(
        log[0].fields["x-amz-content-sha256"]
          == "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222")
    }
  }

  @Test func `a cancelled write may have happened`() async throws {
    try await withStorage(answering: { _ in .never }) { storage, server in
      let one = try key("a")
      let task = Task { () -> StorageError? in
        do throws(StorageError) {
          _ = try await storage.put(.bytes([1]), at: one, if: .absent)
          return nil
        } catch { return error }
      }
      while server.log.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      task.cancel()
      let found = try #require(await task.value)
      #expect(found.kind == .cancelled && found.mayHaveHappened, "\(found)")
    }
  }
}
