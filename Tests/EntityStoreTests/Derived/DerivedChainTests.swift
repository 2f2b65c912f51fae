import EntityStore
import Foundation
import Testing

@Suite struct `Attributes derived from derived ones` {
  @Test func `attributes derived from derived ones are right for each single record`() async throws
  {
    try await withTemporaryStore([Twig.self]) { store in
      var importer = Importer(into: store, Twig.self, matching: .unique(\.name))
      importer.links = [.init("under", \.parent, by: \.name)]
      for page in [
        #"[{"name":"n0","weight":1}]"#, #"[{"name":"n1","weight":1,"under":"n0"}]"#,
        #"[{"name":"n2","weight":1,"under":"n1"}]"#, #"[{"name":"n3","weight":1,"under":"n2"}]"#,
      ] {
        _ = try await importer.run(
          AsyncStream { continuation in
            continuation.yield(Data(page.utf8))
            continuation.finish()
          }, renaming: [:])
        try expectSound(store)
      }
      try Self.expectChain(store)
    }
  }

  private static func expectChain(_ store: Store) throws {
    let twigs = try store.fetch(Twig.all)
    #expect(twigs.map(\.childCount) == [1, 1, 1, 0])
    #expect(twigs.map(\.grandchildCount) == [1, 1, 0, 0])
    #expect(twigs.map(\.mostGrandchildren) == [1, 0, 0, nil])
    #expect(twigs.map(\.grandparentName) == [nil, nil, "n0", "n1"])
  }

  @Test func `attributes derived from derived ones reflect all changes of one write`() throws {
    try withTemporaryStore([Twig.self]) { store in
      let root = try store.insert(Twig("root"))
      let first = try store.insert(Twig("first", parent: root.id))
      try store.write { tx throws in
        // The write adds a leaf to the child `first`, and a second child with its own leaf.
        try tx.insert(Twig("leaf", parent: first.id))
        let second = try tx.insert(Twig("second", parent: root.id))
        try tx.insert(Twig("other leaf", parent: second.id))
      }
      #expect(try store.fetch(root.id)?.grandchildCount == 2)
      try store.write { tx throws in
        // The new parent has a higher id than its child.
        let top = try tx.insert(Twig("top"))
        try tx.modify(root.id) { $0.parent = top.id }
      }
      #expect(try store.fetch(Twig.where { $0.name == "top" }).first?.mostGrandchildren == 2)
      #expect(try store.fetch(first.id)?.grandparentName == "top")
      try expectSound(store)
    }
  }

  @Test func `a record that is its own parent has the values of its definitions`() throws {
    try withTemporaryStore([Twig.self]) { store in
      let (one, two) = try store.write { tx throws in
        let one = try tx.insert(Twig("one"))
        let two = try tx.insert(Twig("two", parent: one.id))
        try tx.modify(one.id) { $0.parent = two.id }
        return (one.id, two.id)
      }
      #expect(try store.fetch(one)?.grandchildCount == 1)
      #expect(try store.fetch(one)?.grandparentName == "one")
      try store.write { tx in try tx.modify(two) { $0.parent = two } }
      #expect(try store.fetch(two)?.childCount == 2)
      #expect(try store.fetch(two)?.grandchildCount == 2)
      #expect(try store.fetch(two)?.mostGrandchildren == 2)
      try expectSound(store)
      try store.write { tx in try tx.delete([one, two]) }
    }
  }

  @Test func `attributes derived from derived ones are right through random changes`() throws {
    let operations = SeededNumbers.environmentNumber("LODESTORE_DERIVED_OPERATIONS") ?? 200
    try withTemporaryStore([Twig.self]) { store in
      var numbers = SeededNumbers(salt: 4_207)
      var next = 0
      for _ in 0..<operations {
        let seed = numbers
        try store.write { tx throws in
          // The closure may run again, so it starts from the saved numbers.
          numbers = seed
          for _ in 0...numbers.below(4) { try Self.change(&tx, &numbers, &next) }
        }
        try expectSound(store)
      }
    }
  }

  private static func change(
    _ tx: inout WriteTransaction, _ numbers: inout SeededNumbers, _ next: inout Int
  ) throws {
    next += 1
    let ids = try tx.fetch(Twig.all).map(\.id)
    func some() -> Twig.ID? { ids.randomElement(using: &numbers) }
    let weights = [0.0, -0.0, 1, 2.5, -3, 1e15]
    let weight = weights[numbers.below(weights.count)]
    switch numbers.below(10) {
    case 0, 1:
      _ = try tx.insert(Twig("t\(next)", weight: weight, parent: numbers.oneIn(4) ? nil : some()))
    case 2:
      let twigs = (0..<3).map { Twig("t\(next).\($0)", weight: weight, parent: some()) }
      _ = try tx.insert(twigs)
    case 3: if let id = some() { _ = try tx.modify(id) { $0.weight = weight } }
    case 4:
      guard let id = some() else { return }
      let parent = numbers.oneIn(5) ? id : some()
      _ = try tx.modify(id) { $0.parent = parent }
    case 5: if let id = some() { _ = try tx.modify(id) { $0.name = "t\(next)" } }
    case 6:
      guard let parent = some() else { return }
      let children = ids.shuffled(using: &numbers).prefix(4)
      try tx.set(Twig.children, of: parent, to: children + children)
    case 7:
      guard let one = some(), let other = some(), let child = some() else { return }
      try tx.link([(one, child), (other, child), (other, one)], by: Twig.children)
    case 8:
      let parent = some()
      try tx.update(Twig.where { $0.weight > 0 }) { $0.parent = parent }
    default:
      if ids.count > 6 { try tx.delete(Array(ids.shuffled(using: &numbers).prefix(2))) }
    }
  }

  @Test func `attributes that depend on themselves are refused, with the chain`() throws {
    try withTemporaryPath { path throws in
      try Store(at: path, entities: [Twig.self]).close()
      let error = try storeError(.badSchema) { try Store(at: path, entities: [Knot.self]) }
      #expect(
        error.message.contains("'Knot.a' is derived from 'Knot.b', which is derived from 'Knot.a'"),
        "\(error)")
    }
  }

  @Test func `attributes derived from derived ones have one minimum and maximum in any order`()
    throws
  {
    try withTemporaryStore([Twig.self]) { store in
      let (one, other) = try store.write { tx throws in
        let one = try tx.insert(Twig("one"))
        let other = try tx.insert(Twig("other"))
        try tx.insert(Twig("a", weight: 0.0, parent: one.id))
        try tx.insert(Twig("b", weight: -0.0, parent: one.id))
        try tx.insert(Twig("c", weight: -0.0, parent: other.id))
        try tx.insert(Twig("d", weight: 0.0, parent: other.id))
        return (one.id, other.id)
      }
      for id in [one, other] {
        #expect(try store.fetch(id)?.lightest?.sign == .plus)
      }
      try store.write { tx throws in
        try tx.update(Twig.where { $0.name == "c" }) { $0.weight = .infinity }
        try tx.update(Twig.where { $0.name == "d" }) { $0.weight = -.infinity }
      }
      let weight = try #require(try store.fetch(other)).childWeight
      #expect(weight.isNaN && weight.sign == .plus)
    }
  }
}

/// An entity with two attributes that are derived from each other.
private struct Knot: Entity {
  var id = RecordID<Knot>()
  var next: Knot.ID?
  private(set) var a = 0
  private(set) var b = 0

  static let previous = ToMany<Knot, Knot>(inverse: \.next)

  static let schema = EntitySchema<Knot>(
    "Knot",
    attributes: [
      .toOne("next", \.next), .derived("a", \.a, .sum(previous, \.b)),
      .derived("b", \.b, .sum(previous, \.a)),
    ],
    relationships: [.init("previous", previous)])

  init(from reader: inout RecordReader) throws(StoreError) {
    next = try reader.read()
    a = try reader.read()
    b = try reader.read()
  }

  func encode(into writer: inout RecordWriter) { writer.write(next) }
}
