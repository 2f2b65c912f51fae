import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Retries of a web source` {
  @Test func `temporary failures are requested again, with longer waits`()
    async throws
  {
    let clock = RecordingClock()
    try await withServer { request in
      .each(request, Answer(408), Answer(425), Answer(500), Answer(504), .json("[]"))
    } _: { server in
      let pages = WebPages(
        try server.url("/"),
        options: .with {
          $0.firstWait = .seconds(1)
          $0.longestWait = .seconds(5)
        })
      try await expect(pages.timed(by: clock), gives: ["[]"])
      #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
      #expect(server.targets == Array(repeating: "/", count: 5))
    }
  }

  @Test func `the last answer is the error after all retries`() async throws {
    let clock = RecordingClock()
    try await withServer {
      Answer($0.number < 3 ? 500 : 502)
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.retries = 2 })
      let (error, _) = try await webError(.badStatus, pages.timed(by: clock))
      #expect(error.status == 502 && error.attempts == 3 && server.log.count == 3)
      #expect(error.message.contains("asked 3 times") && clock.sleeps.count == 2)
    }
  }

  @Test(arguments: [400, 401, 403, 404, 410, 418, 501, 204, 206, 300, 305])
  func `other answers are not requested again`(_ status: Int) async throws {
    try await withServer { _ in
      Answer(status)
    } _: { server in
      let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
      #expect(error.status == status && error.attempts == 1 && server.log.count == 1)
    }
  }

  @Test func `a program can choose which answers are requested again`() async throws {
    let clock = RecordingClock()
    try await withServer {
      $0.number == 1 ? Answer(418) : Answer(500)
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.retriedStatuses = [418] })
      let (error, _) = try await webError(.badStatus, pages.timed(by: clock))
      #expect(error.status == 500 && server.log.count == 2)
    }
  }

  @Test(arguments: [
    ("7", Duration.seconds(7)), ("0", .zero), ("30", .seconds(30)), ("1.5", .milliseconds(1500)),
    // The clock of the source says Sun, 06 Nov 1994 08:49:37 GMT.
    ("Sun, 06 Nov 1994 08:49:49 GMT", .seconds(12)), ("Sun, 06 Nov 1994 08:49:30 GMT", .zero),
    ("soon", .zero), ("-5", .zero), ("1.2.3", .zero), (".", .zero),
  ])
  func `a source waits for as long as the service asks`(
    _ field: String, _ wait: Duration
  ) async throws {
    let clock = RecordingClock()
    try await withServer { request in
      request.number == 1 ? Answer(503, ["Retry-After: \(field)"]) : .json("[]")
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.longestWait = .seconds(30) })
      try await expect(pages.timed(by: clock, fraction: 0), gives: ["[]"])
      #expect(clock.sleeps == [wait])
    }
  }

  @Test(arguments: [
    ("31", Duration.seconds(31)), ("3600", .seconds(3600)), ("30.5", .milliseconds(30_500)),
    ("99999999999999999999", .seconds(31_536_000)),
    ("Sun, 06 Nov 1994 09:49:37 GMT", .seconds(3600)),
  ])
  func `a wait above the longest one is an error with the requested wait`(
    _ field: String, _ wait: Duration
  ) async throws {
    let clock = RecordingClock()
    try await withServer { _ in
      Answer(429, ["Retry-After: \(field)"])
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.longestWait = .seconds(30) })
      let (error, _) = try await webError(.badStatus, pages.timed(by: clock))
      #expect(error.retryAfter == wait && error.status == 429 && error.attempts == 1)
      #expect(error.message.contains("asks to wait \(wait)") && clock.sleeps.isEmpty)
      #expect(server.log.count == 1)
    }
  }

  @Test(arguments: [
    (403, ["Retry-After: 3"], 3), (403, ["Retry-After: 3.0"], 3), (413, ["Retry-After: 3"], 3),
    (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 784111780"], 3),
    (429, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 3"], 3),
    (403, ["RateLimit-Remaining: 0", "RateLimit-Reset: 3"], 3),
    (429, [#"RateLimit: "default";r=0;t=3"#], 3),
    (403, ["Retry-After: 2", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 9"], 2),
  ])
  func `a source waits out a rate limit as the answer states`(
    _ status: Int, _ fields: [String], _ seconds: Int
  ) async throws {
    let clock = RecordingClock()
    try await withServer { request in
      request.number == 1 ? Answer(status, fields) : .json("[]")
    } _: { server in
      // The clock of the source says Sun, 06 Nov 1994 08:49:37 GMT.
      try await expect(WebPages(server.url("/")).timed(by: clock, fraction: 0), gives: ["[]"])
      #expect(clock.sleeps == [.seconds(seconds)])
    }
  }

  @Test(arguments: [
    ["X-RateLimit-Remaining: 7", "X-RateLimit-Reset: 3"], ["X-RateLimit-Remaining: 0"],
    ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: soon"], [#"RateLimit: "default";r=5;t=3"#],
  ])
  func `a refusal that names no time is not requested again`(_ fields: [String]) async throws {
    try await withServer { _ in
      Answer(403, fields)
    } _: { server in
      let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
      #expect(error.retryAfter == nil && server.log.count == 1)
    }
  }

  @Test func `a source waits after too many requests`() async throws {
    let clock = RecordingClock()
    try await withServer { request in
      request.number < 4 ? Answer(429, ["Retry-After: 3"]) : .json("[]")
    } _: { server in
      try await expect(WebPages(server.url("/")).timed(by: clock), gives: ["[]"])
      #expect(clock.sleeps == [.seconds(3), .seconds(3), .seconds(3)])
    }
  }

  @Test func `a connection that is reset or closed before an answer is opened again`() async throws
  {
    let clock = RecordingClock()
    try await withServer { request in
      .each(request, .reset, .reset, .raw(""), .raw(""), .json("[]"))
    } _: { server in
      try await expect(WebPages(server.url("/")).timed(by: clock), gives: ["[]"])
      #expect(server.log.count == 5)
    }
  }

  @Test func `a host that takes no connection is an error that states the number of attempts`()
    async throws
  {
    let clock = RecordingClock()
    let url = try await withServer { _ in
      .json("[]")
    } _: {
      try $0.url("/x?api_key=secret")
    }
    let (error, _) = try await webError(.noConnection, WebPages(url).timed(by: clock))
    #expect(error.attempts == 5 && clock.sleeps.count == 4 && error.cause is URLError)
    #expect(error.message.contains("/x?api_key=***"))
    #expect(!"\(error)\(error.debugDescription)\(dumped(error))".contains("secret"))
  }

  /// The dump of a value with all its members.
  private func dumped(_ value: Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text + "\((value as? WebSourceError)?.cause as NSError?, default: "")"
  }

  @Test func `a body that breaks off is fetched again, and is an error if it always breaks off`()
    async throws
  {
    let clock = RecordingClock()
    let part = Answer.Step.bytes(Array("[1,".utf8))
    let fields = ["Content-Type: application/json", "Content-Length: 6"]
    try await withServer { request in
      request.number == 2 ? .json("[1, 2]") : .head(200, fields, then: part, .close)
    } _: { server in
      let url = try server.url("/")
      try await expect(WebPages(url).timed(by: clock), gives: ["[1, 2]"])
      let pages = WebPages(url, options: .with { $0.retries = 1 })
      let (error, _) = try await webError(.truncated, pages.timed(by: clock))
      #expect(error.message.contains("behind 3 of 6 bytes") && error.attempts == 2)
      #expect(server.log.count == 4)
    }
  }

  @Test func `a chunk that breaks off is a body that breaks off`() async throws {
    try await withServer { _ in
      .head(
        200, ["Transfer-Encoding: chunked"], then: .bytes(Array("8\r\n[1,".utf8)), .close)
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.retries = 0 })
      let (error, _) = try await webError(.truncated, pages)
      #expect(error.message.contains("behind 3 bytes"))
    }
  }
}

@Suite struct `The wait before a retry` {
  private func wait(
    _ retry: Int, _ fraction: Double = 1, serverWait: Duration? = nil,
    first: Duration = .seconds(1),
    longest: Duration = .seconds(60)
  ) -> Duration {
    RetryTiming(fraction: { fraction })
      .wait(beforeRetry: retry, serverWait: serverWait, first: first, longest: longest)
  }

  @Test func `the wait is drawn below a bound that doubles up to the longest`() {
    #expect((1...8).map { wait($0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    #expect(wait(4, 0.25) == .seconds(2))
    #expect(wait(4, 0) == .zero)
    #expect(wait(.max) == .seconds(60))
  }

  @Test func `the wait is not shorter than asked, and not longer than the longest`() {
    #expect(wait(1, 0.5, serverWait: .seconds(9)) == .seconds(9))
    #expect(wait(4, 1, serverWait: .seconds(1)) == .seconds(8))
    #expect(wait(1, serverWait: .seconds(Int.max)) == .seconds(60))
  }

  @Test func `the wait is never negative and never overflows`() {
    #expect(wait(1, first: .seconds(-1)) == .zero)
    #expect(wait(3, longest: .seconds(-1)) == .zero)
    #expect(
      wait(100, first: .seconds(Int64.max), longest: .seconds(Int64.max)) == .seconds(31_536_000))
  }
}
