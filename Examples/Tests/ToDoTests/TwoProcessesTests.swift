import Foundation
import Lodestore
import Testing
import ToDo

/// The program as a second process beside the tests.
@Suite struct TwoProcessesTests {
  @Test(.timeLimit(.minutes(1)))
  func `two processes have one list and see each other's changes`() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("todo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("list.lodestore").path
    let list = try ToDoList(at: path, author: "test")
    try await list.add("Milk?")
    var updates = list.newest(10).makeAsyncIterator()
    #expect(try await updates.next()?.items.map(\.title) == ["Milk?"])

    // It sees what is there and what comes while it runs.
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
  func `commands work on one file one after the other`() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("todo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = ["--store", folder.appendingPathComponent("list.lodestore").path]
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

/// A run of the program that is built beside the tests.
private struct Program {
  private let process = Process()
  private let pipe = Pipe()

  init(_ arguments: [String]) throws {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0])
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("todo")
    process.arguments = arguments
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
