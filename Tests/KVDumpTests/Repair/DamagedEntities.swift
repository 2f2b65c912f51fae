import EntityStore
import Foundation
import LMDB
import LodestoreFormat

/// An owner, of which a history with images is kept.
struct RepairOwner: Entity {
  var id = RecordID<RepairOwner>()
  var name: String
  var note: String

  static let badges = ToMany<RepairOwner, RepairBadge>(ordered: true)
  static let schema = EntitySchema<RepairOwner>(
    "Owner", attributes: [.init("name", \.name), .init("note", \.note)], unique: [[\.name]],
    relationships: [.init("badges", badges)], history: .kept(images: true))

  init(_ name: String, _ note: String) { (self.name, self.note) = (name, note) }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    note = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(note)
  }
}

/// A badge, with a search index, a place index and a vector index.
struct RepairBadge: Entity {
  var id = RecordID<RepairBadge>()
  var title: String
  var hue: Vector
  var latitude: Double
  var longitude: Double

  static let schema = EntitySchema<RepairBadge>(
    "Badge",
    attributes: [
      .init("title", \.title), .init("hue", \.hue), .init("latitude", \.latitude),
      .init("longitude", \.longitude),
    ],
    searchIndexes: [SearchIndex(.init(\.title))],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude))],
    vectorIndexes: [VectorIndex(\.hue, dimensions: 3)])

  init(_ title: String, _ number: Int) {
    self.title = title
    hue = [Float(number), Float(number % 7), -1]
    latitude = Double(number % 90)
    longitude = Double(number % 180)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    hue = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(hue)
    writer.write(latitude)
    writer.write(longitude)
  }
}

/// Two entities of one shape, each with an index.
struct RepairCat: Entity {
  var id = RecordID<RepairCat>()
  var name: String
  var weight: Int
  var owner: RepairOwner.ID?

  static let friends = ToMany<RepairCat, RepairDog>()
  static let schema = EntitySchema<RepairCat>(
    "Cat",
    attributes: [.init("name", \.name), .init("weight", \.weight), .toOne("owner", \.owner)],
    indexes: [[\.name]], relationships: [.init("friends", friends)])

  init(_ name: String, _ weight: Int, _ owner: RepairOwner.ID?) {
    (self.name, self.weight, self.owner) = (name, weight, owner)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    weight = try reader.read()
    owner = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(weight)
    writer.write(owner)
  }
}

struct RepairDog: Entity {
  var id = RecordID<RepairDog>()
  var name: String
  var weight: Int
  var owner: RepairOwner.ID?

  static let schema = EntitySchema<RepairDog>(
    "Dog",
    attributes: [.init("name", \.name), .init("weight", \.weight), .toOne("owner", \.owner)],
    indexes: [[\.name]])

  init(_ name: String, _ weight: Int, _ owner: RepairOwner.ID?) {
    (self.name, self.weight, self.owner) = (name, weight, owner)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    weight = try reader.read()
    owner = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(weight)
    writer.write(owner)
  }
}

/// Numbers that follow from a seed.
struct RepairNumbers {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
  mutating func pick<T>(_ values: [T]) -> T? { values.isEmpty ? nil : values[below(values.count)] }
}

enum RepairSample {
  static let entities: [any Entity.Type] = [
    RepairOwner.self, RepairBadge.self, RepairCat.self, RepairDog.self,
  ]

  /// A store of some hundred records after several commits; returns the file before the last of
  /// these.
  static func make(_ path: String, _ numbers: inout RepairNumbers) throws -> [UInt8] {
    var store = try Store(at: path, entities: entities)
    let size = 100 + numbers.below(150)
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    let (owners, badges, cats, dogs) = try store.write { tx throws in
      let badges = try tx.insert((0..<30).map { RepairBadge("badge \($0) \(text(20))", $0) }).ids
      let owners = try tx.insert((0..<size).map { RepairOwner("owner \($0)", text(40 + $0 % 50)) })
        .ids
      var cats: [RepairCat.ID] = []
      var dogs: [RepairDog.ID] = []
      // Cats and dogs are inserted by turns, so that their pages are allocated side by side.
      for part in 0..<4 {
        let range = part * size / 4..<(part + 1) * size / 4
        cats += try tx.insert(
          range.map { RepairCat("cat \($0) \(text($0 % 40))", $0, owners[$0 * 7 % owners.count]) }
        ).ids
        dogs += try tx.insert(
          range.map { RepairDog("dog \($0) \(text($0 % 40))", $0, $0 % 3 == 0 ? nil : owners[$0]) }
        ).ids
      }
      try tx.insert(RepairCat(text(9_000), 7, nil))
      return (owners, badges, cats, dogs)
    }
    try store.write { tx throws in
      for (index, owner) in owners.enumerated() where index % 2 == 0 {
        try tx.set(
          RepairOwner.badges, of: owner,
          to: (0..<4).map { badges[($0 * 11 + index) % badges.count] })
      }
      for (index, cat) in cats.enumerated() {
        try tx.set(
          RepairCat.friends, of: cat, to: [dogs[index], dogs[(index * 5 + 1) % dogs.count]])
      }
      for index in 0..<12 {
        try tx.put(Data("value \(index)".utf8), for: "key \(index)", in: "bucket")
      }
    }
    store.close()
    try putImports(path)
    store = try Store(at: path, entities: entities)
    var before: [UInt8] = []
    for commit in 0..<(3 + numbers.below(4)) {
      if commit > 0 { before = Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
      var changes = numbers
      try store.write { tx throws in
        for _ in 0..<(1 + changes.below(6)) {
          if var cat = try tx.fetch(cats[changes.below(cats.count)]) {
            cat.weight += 1_000
            _ = try tx.update(cat)
          }
          if var dog = try tx.fetch(dogs[changes.below(dogs.count)]) {
            dog.weight += 1_000
            _ = try tx.update(dog)
          }
          if var owner = try tx.fetch(owners[changes.below(owners.count)]) {
            owner.note += "!"
            _ = try tx.update(owner)
          }
        }
        _ = try tx.delete(cats[changes.below(cats.count)])
        _ = try tx.insert(RepairDog("new \(commit)", commit, nil))
        let owner = owners[changes.below(owners.count)]
        try tx.set(RepairOwner.badges, of: owner, to: [badges[changes.below(30)]])
        try tx.put(Data("new \(commit)".utf8), for: "key \(changes.below(12))", in: "bucket")
      }
      numbers = changes
    }
    store.close()
    return before
  }

  /// Stores the facts about pages that an importer remembers.
  private static func putImports(_ path: String) throws {
    let environment = try EnvironmentRegistry.open(path, options: EnvironmentOptions()) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    let name = TreeName.imports.text
    guard let tree = try environment.openExistingTree(name, hasIntegerKeys: false) else { return }
    try environment.write { transaction in
      for number in 0..<8 {
        let page = "p\(number)"
        let key = ImportKey.memory(SHA256.hash(page.utf8)).bytes(name: "Cat")
        let document = Document.object([
          "page": .object(["name": .string(page)]), "epoch": .integer(1),
        ])
        try transaction.put(key, Checksum.sealed(key: key, content: document.encoded()), in: tree)
      }
    }
  }
}
