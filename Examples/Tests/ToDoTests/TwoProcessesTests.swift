import Foundation
import Lodestore
import TestSupport
import Testing
import ToDo

/// The program runs as a second process next to the tests.
@Suite struct TwoProcessesTests {
  @Test(.timeLimit(.minutes(1)))
  func `two processes have one list and see each other's changes`() async throws {
    try await withStorePath { path in try await share(path) }
  }

  private func share(_ path: String) async throws {
    let list = try ToDoList(at: path, author: "test")
    defer { list.store.close() }
    try await list.add("Milk?")
    var updates = list.newest(10).makeAsyncIterator()
    #expect(try await updates.next()?.items.map(\.title) == ["Milk?"])

    // The other process sees the existing items and the items that come while it runs.
    let other = try Program(["answer", "--store", path, "--until", "Bread?"])
    #expect(try await updates.next()?.items.first?.title == "Yes, Milk!")
    try await list.add("Bread?")
    while let update = try await updates.next() {
      if update.items.contains(where: { $0.title == "Yes, Bread!" }) { break }
    }
    #expect(other.waitUntilExit() == 0)

    let writers = Set(try await list.store.history().map(\.process))
    #expect(writers == [Int(ProcessInfo.processInfo.processIdentifier), other.identifier])
  }

  @Test(.timeLimit(.minutes(1)))
  func `commands use one file one after the other`() async throws {
    try await withStorePath { path in try command(["--store", path]) }
  }

  private func command(_ store: [String]) throws {
    #expect(try Program(["fill", "300"] + store).output().contains("300 items"))
    #expect(try Program(["add", "Buy milk"] + store).output() == "Added: Buy milk\n")
    let lines = try Program(["list", "--page", "100"] + store).output().split(separator: "\n")
    #expect(lines.count == 301)
    #expect(lines.first?.hasSuffix("Buy milk") == true)
    #expect(try Program(["finish", "--older-than", "0"] + store).output().contains("301 items"))
    #expect(try Program(["clear"] + store).output().contains("301 items"))
    #expect(try Program(["undo"] + store).output().contains("301 items"))
    #expect(
      try Program(["list"] + store).output().split(separator: "\n").count == 301)
  }
}

/// A run of the program that is built next to the tests.
private struct Program {
  private let process: Process
  private let pipe = Pipe()

  init(_ arguments: [String]) throws {
    process = program("todo", arguments)
    process.standardOutput = pipe
    try process.run()
  }

  var identifier: Int { Int(process.processIdentifier) }

  func output() throws -> String {
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  func waitUntilExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
