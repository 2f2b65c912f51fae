import Foundation
import LoopbackWeb
import Testing

@testable import LodestoreReplicas

/// Requests to services whose answers stop, change their form, or contradict themselves.
@Suite(.timeLimit(.minutes(30))) struct S3StutterTests {
  private func get(
    _ answer: Answer, with change: (inout S3Storage.Options) -> Void = { _ in }
  ) async throws -> Result<[UInt8], StorageError> {
    let server = try LoopbackServer { _ in answer }
    defer { server.stop() }
    var options = S3Storage.Options()
    change(&options)
    let storage = try S3Storage(
      "http://127.0.0.1:\(server.port)/bucket/place", .keys(StorageServer.credentials), options,
      AWSSettings(environment: [:]) { _ in nil })
    let one = try key("log/1")
    do throws(StorageError) {
      return .success(try await storage.get(one, byteLimit: 1 << 20).bytes)
    } catch { return .failure(error) }
  }

  private func raw(_ lines: String..., body: String = "") -> Answer {
    .raw(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
  }

  @Test func `an answer that stops after its head or within its body is cut`() async throws {
    let answers: [Answer] = [
      .head(200, ["ETag: \"a\"", "Content-Length: 500"], then: .waitForClient),
      .head(200, ["ETag: \"a\"", "Content-Length: 500"], then: .bytes([1, 2]), .waitForClient),
      .head(200, ["ETag: \"a\"", "Transfer-Encoding: chunked"], then: .waitForClient),
      .head(
        200, ["ETag: \"a\"", "Transfer-Encoding: chunked"], then: .bytes(Array("2\r\nab".utf8)),
        .waitForClient),
    ]
    for (number, answer) in answers.enumerated() {
      let found = try await get(answer) { $0.requestTimeout = .seconds(2) }
      guard case .failure(let error) = found else {
        Issue.record("\(number): \(found)")
        continue
      }
      #expect(error.kind == .cut, "\(number): \(error)")
    }
  }

  @Test func `a body that ends early is cut, in each form`() async throws {
    let answers = [
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Content-Length: 5", body: "abc"),
      raw("HTTP/1.0 200 OK", "ETag: \"a\"", "Content-Length: 5", body: "abc"),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Transfer-Encoding: chunked", body: "5\r\nabc"),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Transfer-Encoding: chunked", body: "3\r\nabc\r\n"),
    ]
    for (number, answer) in answers.enumerated() {
      let found = try await get(answer)
      guard case .failure(let error) = found else {
        Issue.record("\(number): \(found)")
        continue
      }
      #expect(error.kind == .cut, "\(number): \(error)")
    }
  }

  @Test func `other forms of whole answers are read`() async throws {
    let answers = [
      raw("HTTP/1.0 200 OK", "ETag: \"a\"", "Content-Length: 3", body: "abc"),
      raw("HTTP/1.0 200 OK", "ETag: \"a\"", body: "abc"),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Connection: close", body: "abc"),
      raw("HTTP/1.1 200 OK", "ETag: W/\"a\"", "Content-Length: 3", body: "abc"),
      raw("HTTP/1.1 200 OK", "ETag: a", "Content-Length: 3", body: "abc"),
      raw(
        "HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "ETag: \"a\"", "Content-Length: 3",
        body: "abc"),
      raw(
        "HTTP/1.1 200 OK", "etag: \"a\"", "Transfer-Encoding: chunked",
        body: "1;x=y\r\na\r\n2\r\nbc\r\n0\r\nTrailer: 1\r\n\r\n"),
    ]
    for (number, answer) in answers.enumerated() {
      let found = try await get(answer)
      guard case .success(let bytes) = found else {
        Issue.record("\(number): \(found)")
        continue
      }
      #expect(bytes == Array("abc".utf8), "\(number)")
    }
  }

  @Test func `redirects, huge heads and contradictions end in an error in words`() async throws {
    let answers = [
      raw(
        "HTTP/1.1 301 Moved", "Location: http://127.0.0.1:1/", "x-amz-bucket-region: eu-west-3",
        "Content-Length: 0"),
      raw("HTTP/1.1 307 Moved", "Location: http://127.0.0.1:1/", "Content-Length: 0"),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "x: " + String(repeating: "x", count: 8 << 20)),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Content-Length: 99999999999999999999999"),
      raw("HTTP/1.1 200 OK", "ETag: \"a\"", "Content-Length: -5", body: "abc"),
      raw(
        "HTTP/1.1 200 OK", "ETag: \"a\"", "Content-Length: 3", "Content-Length: 4", body: "abcd"),
      raw("HTTP/1.1 200 OK", "Content-Length: 3", body: "abc"),
      raw("HTTP/1.1 999 Odd", "Content-Length: 0"),
      raw("HTTP/1.1 204 None", "ETag: \"a\""),
      raw("HTTP/3.9 200 OK", "ETag: \"a\"", "Content-Length: 3", body: "abc"),
      raw("HTTP/1.1 429 Slow", "Retry-After: 99999999999999999999", "Content-Length: 0"),
      raw("HTTP/1.1 429 Slow", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", "Content-Length: 0"),
      raw("HTTP/1.1 403 No", "Date: Fri, 31 Dec 9999 23:59:59 GMT", "Content-Length: 0"),
    ]
    for (number, answer) in answers.enumerated() {
      let found = try await get(answer) { $0.requestTimeout = .seconds(5) }
      guard case .failure(let error) = found else {
        // An answer without a body is an empty object.
        print("answer \(number): \(found)")
        continue
      }
      print("answer \(number): \(error.kind) \(error.message)")
      #expect(error.message.count > 30, "\(number): \(error)")
      #expect(error.message.utf8.count < 2_000, "\(number)")
    }
  }

  @Test func `a service cannot ask for a wait of years`() async throws {
    for asked in [Duration.seconds(7), .seconds(86_400 * 3650), .seconds(Int64.max)] {
      let waited = try await waited(asked)
      #expect(waited >= min(asked, .seconds(300)) && waited <= .seconds(300))
    }
  }

  private func waited(_ asked: Duration) async throws -> Duration {
    let (stream, continuation) = AsyncStream<Duration>.makeStream()
    var clock = ReplicaClock.system
    clock.sleep = { continuation.yield($0) }
    try await clock.wait(after: 1, asked)
    for await duration in stream { return duration }
    return .zero
  }
}
