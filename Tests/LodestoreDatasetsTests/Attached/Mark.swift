import EntityStore
import Foundation

/// A release in a dataset.
struct Release: Entity, Hashable {
  var id = RecordID<Release>()
  var name: String
  var number: Int
  var summary = ""

  struct Attributes: Sendable {
    var name: Attribute<Release, String> { .init(0) }
    var number: Attribute<Release, Int> { .init(1) }
    var summary: Attribute<Release, String> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Release>(
    "Release",
    attributes: [
      .init("name", \.name), .init("number", \.number), .init("summary", \.summary),
    ],
    unique: [[\.name, \.number]], indexes: [[\.summary]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(number)
    writer.write(summary)
  }
}

extension Release {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    number = try reader.read()
    summary = try reader.read()
  }
}

/// A mark that a user sets at a release, kept in another store than the releases.
struct Mark: Entity, Hashable {
  var id = RecordID<Mark>()
  var release: Reference<Release>
  var text = ""

  struct Attributes: Sendable {
    var release: Attribute<Mark, Reference<Release>> { .init(0) }
    var text: Attribute<Mark, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Mark>(
    "Mark", attributes: [.init("release", \.release), .init("text", \.text)],
    unique: [[\.release]])

  func encode(into writer: inout RecordWriter) {
    writer.write(release)
    writer.write(text)
  }
}

extension Mark {
  init(from reader: inout RecordReader) throws(StoreError) {
    release = try reader.read()
    text = try reader.read()
  }
}

/// Sealed generations of releases, each of which lacks every seventh of the forty.
struct ReleaseGenerations {
  static let count = 40
  let folder: ScratchFolder

  /// Whether generation `generation` lacks the release with this number.
  static func lacks(_ number: Int, in generation: UInt64) -> Bool {
    (number + Int(generation)) % 7 == 0
  }

  static func release(_ number: Int) -> Release {
    Release(name: number % 2 == 0 ? "even" : "Even", number: number)
  }

  /// Makes the sealed file of a generation, and returns its path.
  func seal(_ generation: UInt64) throws -> String {
    let store = try Store.inMemory(entities: [Release.self])
    defer { store.close() }
    // Record ids differ from generation to generation.
    let numbers = (0..<Self.count).filter { !Self.lacks($0, in: generation) }.shuffled()
    try store.insert(
      numbers.map { number in
        var release = Self.release(number)
        release.summary = "\(generation)"
        return release
      })
    let path = folder.file("sealed-\(generation).lodestore")
    try store.seal(to: path, name: "releases", generation: generation, dataAsOf: .now)
    return path
  }
}
