// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import EntityStore
import Testing

@testable import KVDumpCommands

extension StoreFolder {
  /// Makes a SQLite database with these statements, and returns its path.
  func database(_ name: String = "a.db", _ statements: String...) throws -> String {
    let path = try file(name, "")
    let database = try SQLiteDatabase(path, isWritable: true)
    for statement in statements { try database.execute(statement) }
    return path
  }

  /// Runs a command line that does not begin with the store.
  func command(_ arguments: String...) async -> Outcome {
    let memory = MemoryConsole()
    let status = await KVDump.execute(arguments, on: memory.console)
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  /// The digest of all records, links and buckets of a store.
  func digest(of store: String) async throws -> String {
    let outcome = await command("info", store, "--format", "json")
    let facts = try JSONValue(parsing: outcome.data)
    return try #require(facts["digest"]?.stringValue, "\(outcome.data) \(outcome.messages)")
  }
}

/// SQLite as Python has it, which is another copy of the library than the one of kvdump.
enum PythonSQLite {
  /// Returns the faults that SQLite finds in a database; `nil` if there is no Python.
  static func faults(_ path: String) throws -> String? {
    try run(
      """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      found = db.execute('PRAGMA integrity_check').fetchall()
      found += db.execute('PRAGMA foreign_key_check').fetchall()
      print(found)
      """, path)
  }

  /// Returns the output of a script; `nil` if there is no Python.
  static func run(_ script: String, _ arguments: String..., python: String = "python3") throws
    -> String?
  {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [python, "-c", script] + arguments
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus != 127 else {
      print("skipped: there is no \(python)")
      return nil
    }
    return String(decoding: text, as: UTF8.self)
  }
}
