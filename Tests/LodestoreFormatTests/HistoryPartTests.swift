import LodestoreFormat
import Testing

/// What the history tells of a write, from documents that nobody wrote.
@Suite struct `A part of the history` {
  private static func part(_ change: [String: Document]) throws -> HistoryPart {
    try HistoryPart(.object(["changes": .array([.object(change)])]))
  }

  @Test func `is refused where a restart has ids`() throws {
    // They were read, and left out when the part was written again.
    let restart = try Self.part(["entity": .integer(1), "restarted": .data([])])
    #expect(restart.changes.map(\.kind) == [.restarted])
    #expect(throws: FormatError.self) {
      try Self.part(["entity": .integer(1), "restarted": .data([1, 0])])
    }
  }
}
