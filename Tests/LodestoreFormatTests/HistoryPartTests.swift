import LodestoreBytes
import LodestoreFormat
import Testing

/// The history's record of a write, from arbitrary documents.
@Suite struct `A part of the history` {
  private static func part(_ change: [String: Document]) throws -> HistoryPart {
    try part(.object(["changes": .array([.object(change)])]))
  }

  private static func part(_ document: Document) throws -> HistoryPart {
    try document.encoded()._withBytes { try HistoryPart(decoding: $0) }
  }

  @Test func `a part of the history with a restart and ids is refused`() throws {
    // A regression test: the decoder accepted these members, and the encoder left them out.
    let restart = try Self.part(["entity": .integer(1), "restarted": .data([])])
    #expect(restart.changes.map(\.kind) == [.restarted])
    #expect(throws: FormatError.self) {
      try Self.part(["entity": .integer(1), "restarted": .data([1, 0])])
    }
  }

  @Test func `a part of the history without a change is refused`() throws {
    func rule(_ body: () throws -> Void) -> FormatRule? {
      do { try body() } catch { return (error as? FormatError)?.rule }
      return nil
    }
    let update: [String: Document] = [
      "entity": .integer(1), "updated": .data([1, 0]), "attributes": .array([.integer(1)]),
    ]
    #expect(rule { _ = try Self.part(update) } == nil)
    for (name, empty) in [("updated", Document.data([])), ("attributes", .array([]))] {
      #expect(
        rule { _ = try Self.part(update.merging([name: empty]) { _, new in new }) }
          == .historyNotEmpty)
    }
    for name in ["inserted", "deleted"] {
      #expect(
        rule { _ = try Self.part(["entity": .integer(1), name: .data([])]) } == .historyNotEmpty)
    }
    for name in ["added", "removed", "moved"] {
      let links: Document = .object(["relationship": .integer(1), name: .data([])])
      #expect(
        rule { _ = try Self.part(.object(["links": .array([links])])) } == .historyNotEmpty)
    }
  }

  @Test func `a part of the history with a repeated pair of links, or without an id, is refused`()
    throws
  {
    for bytes: [UInt8] in [[0, 0, 1], [1, 0, 0], [1, 1, 4, 0], [1, 0, 4, 0, 0, 4], [1, 1, 4]] {
      bytes._withBytes { bytes in
        let error = #expect(throws: FormatError.self) { try HistoryPart.Links.pairs(bytes) }
        #expect(error?.rule == .historyPairs)
      }
    }
  }
}
