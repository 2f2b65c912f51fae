import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Time limits of a web source` {
  private let options = WebPages.Options.with {
    $0.requestTimeout = .seconds(2)
    $0.retries = 1
  }

  @Test func `time limits end each request that is not answered`() async throws {
    try await withServer { _ in
      .never
    } _: { server in
      let pages = WebPages(try server.url("/"), options: options)
      let (error, _) = try await webError(.timedOut, pages.timed(by: RecordingClock()))
      // A request that a busy machine sends too late does not reach the server.
      #expect(error.attempts == 2 && server.log.count <= 2)
      #expect(error.message.contains("behind 0 bytes"))
    }
  }

  @Test func `time limits end an answer that stops in its midst`() async throws {
    try await withServer { request in
      .each(
        request,
        .head(200, ["Content-Length: 9"], then: .bytes(Array("[1,".utf8)), .waitForClient),
        .json("[2]"))
    } _: { server in
      // A busy machine may take seconds to send the request.
      var options = options
      options.requestTimeout = .seconds(20)
      let pages = WebPages(try server.url("/"), options: options)
      try await expect(pages.timed(by: RecordingClock()), gives: ["[2]"])
      #expect(server.log.count == 2)
    }
  }

  @Test func `time limits end an endless answer that comes byte by byte`() async throws {
    let drops = (0..<2000).flatMap { _ in
      [Answer.Step.bytes([0x20]), .wait(milliseconds: 10)]
    }
    try await withServer { _ in
      Answer(steps: Answer.head(200, ["Connection: close"]).steps + drops)
    } _: { server in
      let pages = WebPages(
        try server.url("/"),
        options: .with {
          $0.transferTimeout = .seconds(2)
          $0.retries = 0
        })
      let (error, _) = try await webError(.timedOut, pages)
      #expect(error.message.contains("transferTimeout") && server.log.count <= 1)
    }
  }

  @Test func `time limits of any size can be set`() async throws {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      let pages = WebPages(
        try server.url("/"),
        options: .with {
          $0.requestTimeout = .seconds(Int64.max)
          $0.transferTimeout = .seconds(Int64.max)
        })
      try await expect(pages, gives: ["[]"])
    }
  }
}

@Suite struct `Cancelling the pages of a web source` {
  /// Reads all pages in a task, cancels the task when the server has `requests`, and returns its
  /// error.
  private func cancel(
    _ pages: WebPages, _ server: LoopbackServer, after requests: Int
  ) async throws -> any Error {
    let task = Task { try await pages.all() }
    while server.log.count < requests { try await Task.sleep(for: .milliseconds(2)) }
    task.cancel()
    return try #require(await task.result.failure)
  }

  @Test func `cancelling ends a request that waits for its answer, and closes it`() async throws {
    try await withServer { _ in
      .never
    } _: { server in
      let error = try await cancel(WebPages(server.url("/")), server, after: 1)
      #expect(error is CancellationError)
      while server.closedByClients == 0 { try await Task.sleep(for: .milliseconds(2)) }
      #expect(server.log.count == 1)
    }
  }

  @Test func `cancelling ends all requests made in advance`() async throws {
    try await withServer { request in
      request.value(of: "page") == "1" ? .json("[1]") : .never
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "")),
        options: .with { $0.pagesInFlight = 3 })
      let error = try await cancel(pages, server, after: 4)
      #expect(error is CancellationError)
      while server.closedByClients < 3 { try await Task.sleep(for: .milliseconds(2)) }
      #expect(server.log.count == 4)
    }
  }

  @Test func `cancelling ends the wait before a retry`() async throws {
    try await withServer { _ in
      Answer(503, ["Retry-After: 3000"])
    } _: { server in
      let pages = WebPages(
        try server.url("/"), options: .with { $0.longestWait = .seconds(3000) })
      let error = try await cancel(pages, server, after: 1)
      #expect(error is CancellationError && server.log.count == 1)
    }
  }

  @Test func `cancelling before the first page makes no request`() async throws {
    try await withServer { _ in
      .json("[]")
    } _: { server in
      let pages = WebPages(try server.url("/"))
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await pages.all()
      }
      task.cancel()
      let error = try #require(await task.result.failure)
      #expect(error is CancellationError && server.log.isEmpty)
    }
  }

  @Test func `a loop that is left cancels the remaining requests`() async throws {
    try await withServer { request in
      request.value(of: "page") == "1" ? .json("[1]") : .never
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .pageNumber(endsAt: .emptyPage(records: "")))
      for try await _ in pages.pages() {
        while server.log.count < 3 { try await Task.sleep(for: .milliseconds(2)) }
        break
      }
      while server.closedByClients < 2 { try await Task.sleep(for: .milliseconds(2)) }
    }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
