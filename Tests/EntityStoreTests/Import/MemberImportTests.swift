import Foundation
import Testing

@testable import EntityStore

/// Imports whose records have the attributes as members, without a closure.
@Suite struct `Importing by members` {
  private func importPages<E: Entity>(
    _ pages: [String], with importer: Importer<E>
  ) async throws -> ImportReport {
    let stream = AsyncStream { continuation in
      for page in pages { continuation.yield(Data(page.utf8)) }
      continuation.finish()
    }
    return try await importer.run(stream, renaming: [:])
  }

  // MARK: Enumerations

  @Test func `a raw value that is no case rejects its record alone, and the others can be read`()
    async throws
  {
    try await withTemporaryStore([Machine.self]) { store in
      let importer = Importer(into: store, Machine.self, matching: .unique(\.name))
      let text = #"""
        [{"name":"a","system":"linux","level":0},{"name":"b","system":"windows","level":0},
        {"name":"c","system":"plan 9","spare":"linux","level":127},
        {"name":"d","system":"linux","spare":"","level":0},{"name":"e","system":"linux","level":3},
        {"name":"f","system":"linux","spare":null,"level":-128},{"name":"g","system":7,"level":0}]
        """#
      let report = try await importPages([text], with: importer)
      #expect(report.inserted == 3 && report.rejected == 4)
      #expect(report.rejects.map(\.record) == [2, 4, 5, 7])
      #expect(report.rejects.map(\.attribute) == ["system", "spare", "level", "system"])
      #expect(
        report.rejects.map(\.reason) == [
          #"'system' must be a raw value of System, found the string "windows""#,
          #"'spare' must be a raw value of System, found the string """#,
          "'level' must be a raw value of Grade, found an integer 3",
          "'system' must be a string, found an integer 7",
        ])
      let offset = try #require(report.rejects[0].byteOffset)
      #expect(Array(text.utf8)[offset...].starts(with: Array("\"windows\"".utf8)))
      let machines = try await store.read { try $0.fetchAll(Machine.self) }
      #expect(machines.map(\.name) == ["a", "c", "f"])
      #expect(machines.map(\.system) == [.linux, .plan9, .linux])
      #expect(machines.map(\.spare) == [nil, .linux, nil])
      #expect(machines.map(\.level) == [.middle, .high, .low])
    }
  }
}

/// A machine with enumerations that are no attribute values of their own.
private struct Machine: Hashable {
  enum System: String, Sendable {
    case linux
    case plan9 = "plan 9"
  }

  var id = RecordID<Machine>()
  var name: String
  var system: System
  var spare: System?
  var level: Grade
}

extension Machine: Entity {
  static let schema = EntitySchema<Machine>(
    "Machine",
    attributes: [
      .init("name", \.name), .init("system", \.system), .init("spare", \.spare),
      .init("level", \.level),
    ],
    unique: [[\.name]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(system)
    writer.write(spare)
    writer.write(level)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    system = try reader.read()
    spare = try reader.read()
    level = try reader.read()
  }
}
