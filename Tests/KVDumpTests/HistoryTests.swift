import EntityStore
import LodestoreBytes
import Testing

// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation

@testable import KVDumpCommands

/// An entity for stores that keep a history.
private struct Note: Entity {
  var id = RecordID<Note>()
  var title: String
  var length = 0

  struct Attributes: Sendable {
    var id: Attribute<Note, Note.ID> { .recordID }
    var title: Attribute<Note, String> { .init(0) }
    var length: Attribute<Note, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Note>(
    "Note", attributes: [.init("title", \.title), .init("length", \.length)],
    unique: [[\.title]], history: .kept(preserving: \.title))

  init(title: String, length: Int = 0) {
    self.title = title
    self.length = length
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    length = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(length)
  }
}

/// The note without a history.
private struct PlainNote: Entity {
  var id = RecordID<PlainNote>()
  var title: String
  var length: Int

  struct Attributes: Sendable {
    var title: Attribute<PlainNote, String> { .init(0) }
    var length: Attribute<PlainNote, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlainNote>(
    "Note", attributes: [.init("title", \.title), .init("length", \.length)], unique: [[\.title]])

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    length = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(length)
  }
}

@Suite("History")
struct HistoryCommandTests {
  @Test func `the history is part of the schema, and is imported with it`() async throws {
    let folder = try Self.make()
    let told = await folder.run("schema", "--format", "table", "--color", "never")
    #expect(
      told.messages.contains("Note: history: changes, values of title in deleted records"),
      "\(told.messages)")
    let file = folder.path + "/schema.json"
    let objects = await folder.run("schema", "Note", "--format", "json")
    #expect(objects.data.contains(#""history":{"images":false,"preserved":["title"]}"#))
    try objects.data.write(toFile: file, atomically: true, encoding: .utf8)
    let records = folder.path + "/notes.jsonl"
    try #"{"title": "z", "length": 1}"#.write(toFile: records, atomically: true, encoding: .utf8)
    let other = try StoreFolder()
    let imported = await other.run("import", records, "--entity", "Note", "--schema", file)
    #expect(imported.status == .success, "\(imported.messages)")
    let same = await other.run("schema", "--diff", folder.store, "--format", "table")
    #expect(same.messages.contains("nothing would change"), "\(same.data)")
    let history = await other.run("history", "--changes", "--format", "jsonl")
    #expect(history.data.contains(#""inserted""#), "\(history.data)")
    let plain = try StoreFolder()
    try Store(at: plain.store, entities: [PlainNote.self]).close()
    let changes = await plain.run("schema", "--diff", folder.store, "--format", "jsonl")
    #expect(
      changes.data.contains(
        "history of changes from now on: changes, values of title in deleted records"),
      "\(changes.data)")
    let back = await folder.run("schema", "--diff", plain.store, "--format", "jsonl")
    #expect(back.data.contains("no history of changes from now on"), "\(back.data)")
  }

  private static func make() throws -> StoreFolder {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Note.self])
    defer { store.close() }
    let ids = try store.write(author: "app", contextName: "list") { tx in
      try tx.insert([Note(title: "a"), Note(title: "b"), Note(title: "c", length: 9)]).ids
    }
    try store.write(author: "sync") { tx in
      try tx.update(Note.all) { $0.length.add(1) }
      try tx.delete(ids[0])
    }
    return folder
  }

  @Test func `history lists writes and changes, with filters`() async throws {
    let folder = try Self.make()
    let all = await folder.run("history", "--format", "csv")
    let rows = all.data.split(whereSeparator: \.isNewline).dropFirst().map { row in
      row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    #expect(rows.map { $0[0] } == ["1", "2"])
    #expect(rows.map { $0[2] } == ["app", "sync"])
    #expect(rows.map { Array($0[5...8]) } == [["3", "0", "0", "0"], ["0", "2", "1", "0"]])
    let changes = await folder.run("history", "--changes", "--format", "csv", "--after", "1")
    let kinds = changes.data.split(whereSeparator: \.isNewline).dropFirst().map { row in
      row.split(separator: ",", omittingEmptySubsequences: false).dropFirst(3).joined(
        separator: " ")
    }
    #expect(kinds == ["updated Note 2 length", "updated Note 3 length", "deleted Note 1 \"\""])
    func numbers(_ arguments: [String]) async -> String {
      let outcome = await folder.execute("history", arguments + ["--format", "csv"])
      return outcome.data.split(whereSeparator: \.isNewline).dropFirst()
        .compactMap { $0.split(separator: ",").first.map(String.init) }.joined(separator: " ")
    }
    #expect(await numbers(["--author", "app"]) == "1")
    #expect(await numbers(["--not-author", "app"]) == "2")
    #expect(await numbers(["--kind", "deleted"]) == "2")
    #expect(await numbers(["--entity", "Note", "--limit", "1"]) == "1")
    #expect(await numbers(["--since", "2001-01-02"]) == "1 2")
    #expect(await folder.run("history", "--entity", "Nope").status != .success)
    #expect(await folder.run("history", "--since", "yesterday").messages.contains("is not a date"))
    #expect(await folder.run("history", "--after", "99").status != .success)
  }

  @Test func `history purges with an option, and is a reading command otherwise`() async throws {
    let folder = try Self.make()
    let before = try folder.bytes(folder.store)
    _ = await folder.run("history")
    _ = await folder.run("history", "--consumers")
    #expect(try folder.bytes(folder.store) == before)
    #expect(await folder.run("history", "--purge").status == .usage)
    #expect(await folder.run("history", "--through", "1").status == .usage)
    #expect(await folder.run("history", "--purge", "--through", "1").data == "{\"purged\":1}\n")
    #expect(await folder.run("history", "--after", "0").messages.contains("has been purged"))
    #expect(await folder.run("history", "--purge", "--consumed").data == "{\"purged\":0}\n")
    #expect(
      await folder.run("history", "--purge", "--before", "2101-01-01").data == "{\"purged\":1}\n")
    #expect(await folder.run("history").messages.contains("no such writes"))
    let verified = await folder.run("verify")
    #expect(verified.status == .success, "\(verified.data)")
    let info = await folder.run("keys", "history")
    #expect(info.data.contains("purged"))
  }

  /// If the command used the pager, its rows would appear only at the end.
  @Test(arguments: ["table", "json"])
  func `the command watch shows rows as they come, and ends its array`(format: String) async throws
  {
    let folder = try Self.make()
    let store = try Store(at: folder.store, entities: [Note.self])
    // The command blocks its thread, and there may be no other thread for tasks, so the test uses
    // its own thread.
    let isOver = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var number = 0
      while isOver.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
        number += 1
        _ = try? store.insert(Note(title: "new \(number)", length: 10))
      }
      isDone.signal()
    }
    let sink = WriteCounter()
    let console = Console(
      output: sink, errors: MemorySink(),
      terminal: Terminal(size: .init(columns: 80, rows: 24), hasStyle: true),
      environment: ["PAGER": "true"])
    let status = await KVDump.execute(
      ["watch", folder.store, "--limit", "2", "--format", format], on: console)
    isOver.signal()
    while isDone.wait(timeout: .now()) == .timedOut {
      try await Task.sleep(for: .milliseconds(10))
    }
    store.close()
    #expect(status == .success && sink.writes.count >= 2, "\(sink.writes)")
    if format == "json" {
      let array = try JSONSerialization.jsonObject(with: Data(sink.writes.joined().utf8))
      #expect((array as? [Any])?.count == 2)
    }
    #expect(await folder.run("watch", "--limit", "0").status == .usage)
  }

  @Test(arguments: [[], ["Note"], ["Note", "length > 4"]])
  func `the command watch prints the commits of another process`(arguments: [String]) async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try Self.make()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments =
      ["watch", folder.store] + arguments + ["--limit", "2", "--format", "jsonl"]
    let output = folder.store + ".output"
    #expect(FileManager.default.createFile(atPath: output, contents: nil))
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    try process.run()
    let store = try Store(at: folder.store, entities: [Note.self])
    // `watch` does not report commits from before its start, and it may start late. Commits that
    // arrive together are reported as one.
    for _ in 0..<200 where process.isRunning {
      let note = try await store.write(author: "me") { tx in
        try tx.insert(Note(title: "new", length: 10))
      }
      try await Task.sleep(for: .milliseconds(500))
      try await store.write(author: "me") { tx in _ = try tx.delete(note.id) }
      try await Task.sleep(for: .milliseconds(500))
    }
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    store.close()
    let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2)
    for kind in ["inserted", "deleted"] {
      #expect(lines.filter { $0.contains("\"\(kind)\"") }.count == 1, "\(lines)")
    }
    #expect(lines.first?.contains("\"author\":\"me\"") == (arguments.count < 2))
  }
}

/// A sink that records each write as a text.
private final class WriteCounter: ByteSink {
  private(set) var writes: [String] = []
  func write(_ bytes: ByteView) throws {
    writes.append(String(decoding: bytes, as: UTF8.self))
  }
  func finish() {}
}
