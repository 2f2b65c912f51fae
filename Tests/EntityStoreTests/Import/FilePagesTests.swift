import EntityStore
import Foundation
import Testing

@Suite struct `Pages of a file` {
  private func texts(_ pages: FilePages) async throws -> [String] {
    var found: [String] = []
    for try await page in pages { found.append(String(decoding: page, as: UTF8.self)) }
    return found
  }

  private func expect(
    _ pages: FilePages, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await texts(pages)
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  private func withFile<R>(
    _ text: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (String) async throws -> R
  ) async throws -> R {
    let folder = try TemporaryFolder()
    let path = folder.path + "/pages"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try await body(path)
  }

  @Test func `pages of one JSON text come unchanged, every time`() async throws {
    try await withFile("{ \"a\": 1 }\n") { path in
      let pages = FilePages.json(path)
      for _ in 0..<2 { try await expect(pages, ["{ \"a\": 1 }\n"]) }
    }
  }

  @Test func `pages of lines have the given number of records`() async throws {
    try await withFile("{\"a\":1}\n\n 2 \r\n[3]\nnull\n5.0") { path in
      let two = try await texts(.jsonLines(path, recordsPerPage: 2))
      #expect(two == [#"[{"a":1},2]"#, "[[3],null]", "[5.0]"])
      try await expect(.jsonLines(path), [#"[{"a":1},2,[3],null,5.0]"#])
      try await expect(
        .jsonLines(path, recordsPerPage: 0), [#"[{"a":1}]"#, "[2]", "[[3]]", "[null]", "[5.0]"])
      try await expect(.pagePerLine(path), [#"{"a":1}"#, "2", "[3]", "null", "5.0"])
    }
  }

  @Test func `pages of lines that are arrays have records, or rows after a line of names`()
    async throws
  {
    try await withFile("[{\"a\":1},{\"a\":2}]\n[]\n{\"a\":3}\n[{\"a\":4}]") { path in
      try await expect(
        .jsonLines(path, recordsPerPage: 3), [#"[{"a":1},{"a":2},{"a":3}]"#, #"[{"a":4}]"#])
    }
    try await withFile("[\"a\",\"\\u0062\"]\n[1,\"x\"]\n[2]\n[{},null]\n") { path in
      try await expect(
        .jsonLines(path), [#"[{"a":1,"b":"x"},[2],{"a":{},"b":null}]"#])
    }
  }

  @Test func `pages of columns come whole or with the given number of rows`() async throws {
    try await withFile(#"{"fields":["n"],"data":[[1],[2],[3]]}"#) { path in
      try await expect(.columns(path), [#"[{"n":1},{"n":2},{"n":3}]"#])
      let two = try await texts(.columns(path, recordsPerPage: 2))
      #expect(two == [#"[{"n":1},{"n":2}]"#, #"[{"n":3}]"#])
    }
    try await withFile(#"{"count":"0"}"#) { try await expect(.columns($0), ["[]"]) }
  }

  @Test func `pages of separated values have the given number of rows`() async throws {
    try await withFile("n,m\n1,x\n2,\n3,z\n") { path in
      var options = CSVOptions()
      options.types = ["n": .integer]
      let pages = try await texts(.csv(path, options, recordsPerPage: 2))
      #expect(pages == [#"[{"n":1,"m":"x"},{"n":2,"m":null}]"#, #"[{"n":3,"m":"z"}]"#])
    }
  }

  @Test func `pages of a file come through a pipe whole, however small its pieces are`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/pipe"
    #expect(mkfifo(path, 0o600) == 0)
    let lines = (0..<40).map { "{\"a\":\($0)}" }
    let writer = Thread {
      // When a reader stops early, the write to the pipe must not end the process by a signal.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      let pipe = open(path, O_WRONLY)
      for line in lines {
        // The line end is missing here, and comes with the next piece.
        let piece = Array("\n\(line)".utf8)
        _ = write(pipe, piece, piece.count)
        usleep(500)
      }
      close(pipe)
    }
    writer.start()
    let pages = try await texts(.jsonLines(path, recordsPerPage: 15))
    let expected = [0..<15, 15..<30, 30..<40].map { "[" + lines[$0].joined(separator: ",") + "]" }
    #expect(pages == expected)
  }

  @Test func `an empty file has no records`() async throws {
    try await withFile("") { path in
      try await expect(.jsonLines(path), [])
      try await expect(.pagePerLine(path), [])
      try await expect(.json(path), [""])
      await expectError(.importStopped, .csv(path), naming: path)
    }
  }

  @Test func `the pages before an error come first, then the error with its position`()
    async throws
  {
    try await withFile("1\n2\n3, 4\n5\n") { path in
      var pages = FilePages.jsonLines(path, recordsPerPage: 1).makeAsyncIterator()
      #expect(try await pages.next() == Data("[1]".utf8))
      do {
        while let page = try await pages.next() { #expect(page == Data("[2]".utf8)) }
        Issue.record("two values on a line were taken")
      } catch let error as StoreError {
        #expect(error.code == .importStopped && error.message.contains(path))
        let cause = try #require(error.cause as? JSONError)
        #expect(cause.line == 3 && cause.offset == 5, "\(error)")
      }
      #expect(try await pages.next() == nil)
    }
  }

  @Test func `pages of an unreadable file are an error that names the file`() async throws {
    try await withFile("a\n") { path in
      await expectError(.inputOutput, .json(path + "-not"), naming: path + "-not")
      let folder = String(path.dropLast("/pages".count))
      await expectError(.inputOutput, .jsonLines(folder), naming: folder)
      await expectError(.inputOutput, .json(path + "\0.json"), naming: path)
      await expectError(.inputOutput, .json(path + "/inside"), naming: path)
      #if !os(Windows)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        guard getuid() != 0 else {
          print("SKIPPED: a forbidden file, because nothing is forbidden to root")
          return
        }
        await expectError(.notPermitted, .csv(path), naming: path)
      #endif
    }
  }

  private func expectError(
    _ code: StoreError.Code, _ pages: FilePages, naming path: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    do {
      let found = try await texts(pages)
      Issue.record("\(found) came of \(path)", sourceLocation: sourceLocation)
    } catch let error as StoreError {
      #expect(
        error.code == code && error.message.contains(path), "\(error)",
        sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `pages are abandoned when the task is cancelled`() async throws {
    try await withFile(String(repeating: "1\n", count: 100_000)) { path in
      let wasClosed = Task {
        var pages = FilePages.jsonLines(path, recordsPerPage: 10).makeAsyncIterator()
        let first = try await pages.next()
        #expect(first != nil)
        #expect(isOpen(path) != false)
        withUnsafeCurrentTask { $0?.cancel() }
        do {
          _ = try await pages.next()
          Issue.record("a cancelled task went on")
        } catch { #expect(error is CancellationError) }
        return isOpen(path) != true
      }
      let isClosed = try await wasClosed.value
      #expect(isClosed)
    }
  }

  /// Whether this process has the file open; nil if the system cannot answer.
  private func isOpen(_ path: String) -> Bool? {
    let folder = "/proc/self/fd"
    guard let numbers = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return nil
    }
    return numbers.contains {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
    }
  }
}
