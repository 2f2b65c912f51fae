import EntityStore
import Foundation
import Testing

/// Arrays, dictionaries and structs given to drafts and updates, where they may be null or refuse
/// to be encoded.
@Suite struct DocumentAssignmentTests {
  @Test func `a draft's optional struct takes a value, nil and a variable that is nil`() throws {
    try withTemporaryStore([Trip.self]) { store in
      let stops: [Stop?] = [Stop(name: "a"), nil, Stop(name: "b")]
      try store.write { transaction in
        var next = 0
        try transaction.insert(Trip.self) { draft in
          guard next < stops.count else { return true }
          draft.number = next
          draft.stop = stops[next]
          #expect(draft.stop == stops[next])
          next += 1
          return false
        }
      }
      #expect(try store.read { try $0.fetch(Trip.all).map(\.stop) } == stops)
      #expect(try store.read { try $0.count(Trip.where(format: "stop == NULL")) } == 1)
    }
  }

  @Test func `a value that cannot be encoded is refused, and does not become null`() throws {
    try withTemporaryStore([Trip.self]) { store in
      let bad = Stop(name: "")
      try store.write { try $0.insert(Trip(number: 0, stop: Stop(name: "a"))) }
      var isDone = false
      let inserting = #expect(throws: StoreError.self) {
        try store.write { transaction in
          isDone = false
          try transaction.insert(Trip.self) { draft in
            defer { isDone = true }
            draft.number = 1
            draft.stop = bad
            return isDone
          }
        }
      }
      #expect(inserting?.code == .unstorableValue)
      #expect(inserting?.message.contains("cannot be encoded: Nameless()") == true)
      let updating = #expect(throws: StoreError.self) {
        try store.write { tx in _ = try tx.update(Trip.all) { $0.stop = bad } }
      }
      #expect(updating?.code == .unstorableValue)
      #expect(updating?.message == "a value of Trip's 'stop' cannot be encoded: Nameless()")
      #expect(try store.read { try $0.fetch(Trip.all).map(\.stop) } == [Stop(name: "a")])
    }
  }
}

private struct Nameless: Error {}

/// A struct whose encoding throws when it has no name.
private struct Stop: Codable, Hashable, Sendable {
  var name: String

  func encode(to encoder: any Encoder) throws {
    if name.isEmpty { throw Nameless() }
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }

  init(name: String) { self.name = name }

  init(from decoder: any Decoder) throws {
    name = try decoder.singleValueContainer().decode(String.self)
  }
}

private struct Trip: Entity {
  var id = RecordID<Trip>()
  var number: Int
  var stop: Stop?

  struct Attributes: Sendable {
    var id: Attribute<Trip, RecordID<Trip>> { .recordID }
    var number: Attribute<Trip, Int> { .init(0) }
    var stop: Attribute<Trip, Stop?> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Trip>(
    "Trip", attributes: [.init("number", \.number), .init("stop", \.stop)])

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(stop)
  }
}

extension Trip {
  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    stop = try reader.read()
  }
}
