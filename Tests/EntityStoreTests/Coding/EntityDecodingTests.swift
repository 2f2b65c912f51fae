import EntityStore
import Foundation
import Testing

/// An entity that is decoded from the answer of a service.
private struct Launch: Entity, Codable, Equatable {
  var id = RecordID<Launch>()
  var name: String
  var number: Int

  static let schema = EntitySchema<Launch>(
    "Launch", attributes: [.init("name", \.name), .init("number", \.number)],
    unique: [[\.number]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(number)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    number = try reader.read()
  }
}

@Suite struct `Entities that are Codable` {
  @Test func `Codable entities decode answers of a service, which has no ids`() throws {
    let sent = Data(#"[{"name": "a", "number": 1}, {"name": "b", "number": 2, "id": null}]"#.utf8)
    let launches = try JSONDecoder().decode([Launch].self, from: sent)
    #expect(launches.allSatisfy { !$0.id.isAssigned })
    try withTemporaryStore([Launch.self]) { store in
      try store.insert(launches)
      #expect(try store.fetch(Launch.all).map(\.name) == ["a", "b"])
    }
  }

  @Test func `Codable entities come back with their ids from their encoded form`() throws {
    try withTemporaryStore([Launch.self]) { store in
      let first = try #require(
        try JSONDecoder().decode(
          [Launch].self, from: Data(#"[{"name": "a", "number": 1}]"#.utf8)
        ).first)
      let stored = try store.insert(first)
      let decoded = try JSONDecoder().decode(Launch.self, from: JSONEncoder().encode(stored))
      #expect(decoded == stored && decoded.id.isAssigned)
    }
  }

  @Test func `a program can make the errors that it handles`() {
    let error = StoreError(.uniqueViolation, message: "held", entity: "Launch", recordID: 7)
    #expect(error.code == .uniqueViolation && error.recordID == 7 && "\(error)" == "held")
  }
}
