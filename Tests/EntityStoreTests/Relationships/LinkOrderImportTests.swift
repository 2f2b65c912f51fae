import EntityStore
import Foundation
import Testing

/// A record with ordered links to other records of its entity.
private struct Step: Entity {
  var id = RecordID<Step>()
  var name: String

  struct Attributes: Sendable {
    var name: Attribute<Step, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let next = ToMany<Step, Step>(ordered: true)

  static let schema = EntitySchema<Step>(
    "Step", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("next", next)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

@Suite struct `Links of an import with an order` {
  /// Keys lead to records of earlier and later pages and to missing records, and some occur twice.
  @Test(arguments: 0..<6)
  func `imported links have the order of the record's keys, however the pages come`(
    round: Int
  ) async throws {
    var random = SeededNumbers(salt: 0x04D3 + UInt64(round))
    let count = 40
    let keys = (0..<count).map { _ in
      (0..<random.below(7)).map { _ in random.below(count + 5) }
    }
    let lines = keys.enumerated().map { number, keys in
      #"{"name":"\#(number)","next":[\#(keys.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }
    let pages = stride(from: 0, to: count, by: 7).map { start in
      "[\(lines[start..<min(start + 7, count)].joined(separator: ","))]"
    }
    try await withTemporaryStore([Step.self]) { store in
      var importer = Importer(into: store, Step.self, matching: .unique(\.name))
      importer.links = [.init("next", Step.next, by: \.name)]
      importer.options.groupRecordLimit = round.isMultiple(of: 2) ? 1 : 1_000
      let report = try await importer.run(
        AsyncStream { continuation in
          for page in pages { continuation.yield(Data(page.utf8)) }
          continuation.finish()
        }, renaming: [:])
      #expect(report.inserted == count, "\(report)")
      for step in try await store.fetch(Step.all) {
        let names = try await store.read { snapshot in
          try snapshot.related(Step.next, of: step.id).map(\.name)
        }
        var seen: Set<Int> = []
        let number = try #require(Int(step.name))
        let expected = keys[number].filter { $0 < count && seen.insert($0).inserted }
        #expect(names == expected.map(String.init), "\(keys[number]), \(SeededNumbers.replay)")
      }
    }
  }
}
