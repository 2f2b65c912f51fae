import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// The document of a `RecordID` in version 1.
private enum OldNumber: Codable, Equatable {
  case number(UInt64)
  case text(String)

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do { self = .number(try container.decode(UInt64.self)) } catch {
      self = .text(try container.decode(String.self))
    }
  }
}

/// An entity as version 1 wrote it.
///
/// The present version cannot declare such attributes.
private struct OldLink: Entity {
  var id = RecordID<OldLink>()
  var title: String
  var film: OldNumber
  var pod: OldNumber?
  var sometimes: OldNumber
  var other: OldNumber

  struct Attributes: Sendable {
    var id: Attribute<OldLink, RecordID<OldLink>> { .recordID }
    var film: Attribute<OldLink, OldNumber> { .init(0) }
    var title: Attribute<OldLink, String> { .init(1) }
    var pod: Attribute<OldLink, OldNumber?> { .init(2) }
    var sometimes: Attribute<OldLink, OldNumber> { .init(3) }
    var other: Attribute<OldLink, OldNumber> { .init(4) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<OldLink> {
    func old(
      _ name: String, _ path: any PartialKeyPath<OldLink> & Sendable, isOptional: Bool = false
    ) -> AttributeDefinition<OldLink> {
      AttributeDefinition(
        name: name, keyPath: path, originalName: nil,
        storage: AttributeStorage(type: .document, isOptional: isOptional, shape: "RecordID<Film>"),
        initial: .null, constraints: [])
    }
    return EntitySchema(
      "Link",
      attributes: [
        old("film", \.film), .init("title", \.title), old("pod", \.pod, isOptional: true),
        old("sometimes", \.sometimes), old("other", \.other),
      ], unique: [[\.title]])
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(film)
    writer.write(title)
    writer.write(pod)
    writer.write(sometimes)
    writer.write(other)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    film = try reader.read()
    title = try reader.read()
    pod = try reader.read()
    sometimes = try reader.read()
    other = try reader.read()
  }

  init(_ number: UInt64) {
    title = number == 7 ? String(repeating: "wide ", count: 20_000) : "link \(number)"
    film = .number(number)
    pod = number % 3 == 0 ? nil : .number(number % 3 == 1 ? 0 : number)
    // One record has the number 0, which stood for an id that was not assigned yet.
    sometimes = .number(number == 1_234 ? 0 : 5)
    // One record has a text where the other records have a number.
    other = number == 2_000 ? .text("not a number") : .number(1)
  }
}

@Suite struct `Upgrading a file` {
  private let count: UInt64 = 2_345

  private func makeOldFile(_ path: String) throws {
    let store = try Store(at: path, entities: [OldLink.self])
    try store.write { try $0.insert((1...count).map(OldLink.init)) }
    store.close()
  }

  private func change(_ core: WriteCore, _ hasElementIndex: Bool) throws {
    var description = try core.entity(named: "Link").description
    if hasElementIndex {
      description.computedIndexes.append(
        .init(number: 1, kind: .elements, sources: [.init(attribute: 1, path: ["q"])]))
      _ = try core.transaction.environment.tree(
        TreeName.elements(entity: description.number, index: 1).text, isCreated: true,
        hasIntegerKeys: false, in: core.writing)
    } else {
      description.attributes.append(
        .init(number: 16_383, name: "last", type: .int64, isOptional: true, isRemoved: true))
    }
    try core.store.trees.put(description, in: core.writing)
  }

  /// The new description would be unreadable if the last attribute number is used up, or if an
  /// element index is over the document.
  @Test(arguments: [false, true])
  func `an entity whose new description would be unreadable stays unchanged`(
    hasElementIndex: Bool
  ) throws {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [OldLink.self])
      try store.write { try $0.insert((1...3).map(OldLink.init)) }
      try store.core.write { try change($0, hasElementIndex) }
      store.close()
      let again = try StoreCore(path: path, options: .init())
      try again.read { core in
        let description = try core.entity(named: "Link").description
        #expect(description.layouts.count == 1)
        #expect(description.declaredAttributes[0].type == .document)
      }
      again.close()
    }
  }

  @Test func `documents with the ids of records become ids, and nothing else changes`() throws {
    try withTemporaryPath { path in
      try makeOldFile(path)
      let store = try StoreCore(path: path, options: .init())
      try store.read { core in
        let entity = try core.entity(named: "Link")
        let attributes = entity.description.declaredAttributes
        #expect(attributes.map(\.name) == ["film", "title", "pod", "sometimes", "other"])
        #expect(attributes.map(\.type) == [.recordID, .string, .recordID, .recordID, .document])
        #expect(attributes.map(\.isOptional) == [false, false, true, true, false])
        #expect(entity.description.attributes.filter(\.isRemoved).count == 3)
        var seen: UInt64 = 0
        try core.forEachRecord(of: entity) { (id, view) throws(StoreError) in
          seen += 1
          let old = OldLink(id)
          do {
            let values = try entity.values(of: view)
            #expect(view.layout === entity.layout)
            #expect(values[0] == .integer(Int64(id)) && values[1] == .string(old.title))
            #expect(values[2] == (id % 3 == 2 ? .integer(Int64(id)) : .null))
            #expect(values[3] == (id == 1_234 ? .null : .integer(5)))
            #expect(values[4] == StoredValue(document: old.other).value)
          } catch {
            throw StoreError(wrapping: error)
          }
        }
        #expect(seen == count)
        let requirement = try Catalogue.requirement(store.trees.header, in: core.transaction)
        #expect(requirement == FormatRequirement(reader: .recordIDs, writer: .schemas))
      }
      store.close()
    }
  }

  @Test func `a file is upgraded once, and not at all if it is only read`() throws {
    try withTemporaryPath { path in
      try makeOldFile(path)
      let before = FileManager.default.contents(atPath: path)
      let reading = try Store(at: path, entities: [], options: .readOnly)
      #expect(try reading.core.read { try $0.entity(named: "Link").layout.number } == 1)
      reading.close()
      #expect(FileManager.default.contents(atPath: path) == before)
      var commits: [CommitNumber] = []
      for _ in 0..<3 {
        let store = try StoreCore(path: path, options: .init())
        commits.append(try store.read { $0.commitNumber })
        store.close()
      }
      #expect(Set(commits).count == 1)
    }
  }

  @Test func `a file of version 1 is upgraded when it is opened for writing`() throws {
    let kept = `Files of earlier versions`.folder + "/format-1.lodestore"
    try withTemporaryPath { path in
      try FileManager.default.copyItem(atPath: kept, toPath: path)
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [CorpusTrip.self], options: .readOnly)
      }
      #expect(error.entity == "Trip" && error.message.contains("open it for writing once"))
      #expect(
        FileManager.default.contents(atPath: path) == FileManager.default.contents(atPath: kept))
      try Store(at: path, entities: []).close()
      let store = try Store(at: path, entities: [CorpusTrip.self], options: .readOnly)
      #expect(try store.read { try $0.fetch(CorpusTrip.all) } == CorpusTrip.all)
      store.close()
    }
  }
}
