import LodestoreFormat
import Testing

@testable import EntityStore

/// A text whose words have a weight.
private struct Line: Entity {
  var id = RecordID<Line>()
  var text: String

  struct Attributes: Sendable {
    var id: Attribute<Line, Line.ID> { .recordID }
    var text: Attribute<Line, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Line>(
    "Line", attributes: [.init("text", \.text)],
    searchIndexes: [SearchIndex(.init(\.text, weight: 3))])

  init(_ text: String) { self.text = text }
  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

/// A line of a program without a search index.
private struct PlainLine: Entity {
  var id = RecordID<PlainLine>()
  var text: String

  static let schema = EntitySchema<PlainLine>("Line", attributes: [.init("text", \.text)])

  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

extension Store {
  /// Gives the search indexes of an entity without records the form of postings of version 7.
  func takeEarlierPostings(_ entity: String) throws {
    try core.write { core in
      var description = try core.entity(named: entity).description
      for index in description.computedIndexes.indices {
        description.computedIndexes[index].hasPackedPostings = false
      }
      let trees = core.store.trees
      try trees.put(description, in: core.writing)
      try core.writing.put(
        HeaderField.format.key, FormatRequirement(of: description.features).bytes, in: trees.header)
      try trees.raiseSchemaNumber(in: core.writing)
    }
  }
}

@Suite struct `Forms of postings` {
  private let words = ["new", "hope", "star", "moon", "map", "json", "view", "a", "the", "of"]

  private func line(_ random: inout SeededNumbers, upTo count: Int) -> String {
    (0..<1 + random.below(count)).map { _ in
      // Low numbers are more frequent, as in natural texts.
      let number = min(random.below(400), random.below(400))
      return number < words.count ? words[number] : "w\(number)"
    }.joined(separator: " ")
  }

  private func change(_ store: Store, _ random: inout SeededNumbers) throws {
    try store.write { tx in
      try tx.insert((0..<150).map { _ in Line(line(&random, upTo: 30)) })
      for var changed in try tx.fetch(Line.all) {
        switch random.below(6) {
        case 0: try tx.delete(changed)
        case 1:
          changed.text += " " + line(&random, upTo: 4)
          try tx.update(changed)
        case 2:
          changed.text = line(&random, upTo: 8) + " star star"
          try tx.update(changed)
        default: break
        }
      }
    }
  }

  private func requirement(_ store: Store) throws -> FormatRequirement {
    try store.core.read { try Catalogue.requirement(store.core.trees.header, in: $0.transaction) }
  }

  @Test func `equal changes leave equal postings in both forms, and fewer bytes in the second`()
    throws
  {
    let folder = try TemporaryFolder()
    let paths = ["earlier", "packed"].map { "\(folder.path)/\($0).lodestore" }
    let stores = try paths.map { try Store(at: $0, entities: [Line.self]) }
    try stores[0].takeEarlierPostings("Line")
    for round in 0..<8 as Range<UInt64> {
      for store in stores {
        var random = SeededNumbers(salt: 8810 + round)
        try change(store, &random)
      }
      for text in ["new", "star moon", "\"star star\"", "\"new w1", "w12 OR w13", "st", "ho"] {
        let found = try stores.map { store in
          let query = Line.all.where(.search(text, text.count == 2 ? .typing : .allWords))
          return try store.fetch(query) + store.fetch(query.sortedByScore().limit(10))
        }
        #expect(found[0].map(\.id) == found[1].map(\.id), "\(text)")
      }
    }
    #expect(try stores[0].count(Line.all.where(.search("\"star star\""))) > 0)
    let sizes = try stores.map { try $0.backup(to: "\($0.path).copy") }
    #expect(sizes[1] < sizes[0])
    for (store, path) in zip(stores, paths) {
      store.close()
      try expectSound(path)
    }
  }

  @Test func `an index of version 7 keeps its form, and a new index needs a reader of version 8`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let first = try Store(at: path, entities: [Line.self])
    #expect(try requirement(first) == FormatRequirement(reader: .building, writer: .building))
    try first.takeEarlierPostings("Line")
    first.close()
    let store = try Store(at: path, entities: [Line.self])
    try store.insert((0..<200).map { Line("star star n\($0)") })
    try store.delete(Line.all.where(.search("n7")))
    #expect(try requirement(store) == FormatRequirement(reader: .first, writer: .searches))
    store.close()
    try expectSound(path)
    try Store(at: path, entities: [PlainLine.self]).close()
    let new = try Store(at: path, entities: [Line.self])
    #expect(try requirement(new) == FormatRequirement(reader: .building, writer: .building))
    #expect(try new.count(Line.all.where(.search("\"star star\""))) == 199)
    new.close()
    try expectSound(path)
  }

  @Test func `a form of postings that is not known is refused`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Line.self])
    let description = try store.core.read { try $0.entity(named: "Line").description }
    store.close()
    guard case .object(var members) = description.document,
      case .array(let indexes)? = members["searchIndexes"], case .object(var index)? = indexes.first
    else { return #expect(Bool(false), "no search index: \(description.document)") }
    #expect(index["postings"] == .integer(2))
    index["postings"] = .integer(3)
    members["searchIndexes"] = .array([.object(index)])
    let error = #expect(throws: FormatError.self) {
      try EntityDescription(number: description.number, document: .object(members))
    }
    #expect(error?.description.contains("form 3 of postings is not known") == true)
    try expectSound(folder.storePath)
  }
}
