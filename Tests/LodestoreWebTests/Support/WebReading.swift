import EntityStore
import Foundation
@_exported import LoopbackWeb
import Testing

@testable import LodestoreWeb

/// Runs `body` while a server runs, which is stopped afterwards.
func withServer<R: Sendable>(
  _ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer,
  isolation: isolated (any Actor)? = #isolation, _ body: (LoopbackServer) async throws -> R
) async throws -> R {
  let server = try LoopbackServer(answer)
  defer { server.stop() }
  return try await body(server)
}

extension WebPages {
  /// All pages.
  func all(
    from position: String? = nil, remembering memories: [PageMemory] = []
  ) async throws -> [ImportPage] {
    var found: [ImportPage] = []
    let pages = pages(from: position) { name in memories.first { $0.name == name } }
    for try await page in pages { found.append(page) }
    return found
  }

  /// The texts of all pages.
  func texts() async throws -> [String] {
    try await all().map { String(decoding: $0.content ?? Data("unchanged".utf8), as: UTF8.self) }
  }

  /// Returns pages whose waits end at once; `clock` records the waits.
  func timed(by clock: RecordingClock, fraction: Double = 1) -> WebPages {
    var pages = self
    pages.timing = RetryTiming(clock: clock, now: { 784_111_777 }, fraction: { fraction })
    return pages
  }
}

extension WebPages.Options {
  /// The default options, changed by a closure.
  static func with(_ change: (inout WebPages.Options) -> Void) -> WebPages.Options {
    var options = WebPages.Options()
    change(&options)
    return options
  }
}

/// Expects that reading all pages ends with an error of this code; returns the error and the pages
/// before it.
func webError(
  _ code: WebSourceError.Code, _ pages: WebPages, from position: String? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> (error: WebSourceError, pages: [ImportPage]) {
  var found: [ImportPage] = []
  var iterator = pages.pages(from: position).makeAsyncIterator()
  var thrown: WebSourceError?
  do {
    while let page = try await iterator.next() { found.append(page) }
  } catch let error as WebSourceError {
    thrown = error
  }
  let error = try #require(thrown, sourceLocation: sourceLocation)
  #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  #expect(
    error.message.hasPrefix("cannot ") && !error.message.hasSuffix("."), "\(error.message)",
    sourceLocation: sourceLocation)
  let behind = try await iterator.next()
  #expect(behind == nil, sourceLocation: sourceLocation)
  return (error, found)
}

/// Checks the texts of all pages.
func expect(
  _ pages: WebPages, gives texts: [String], sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let found = try await pages.texts()
  #expect(found == texts, sourceLocation: sourceLocation)
}
