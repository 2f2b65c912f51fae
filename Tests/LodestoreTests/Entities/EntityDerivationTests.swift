#if Macros
  import Foundation
  import Lodestore
  import Testing

  @Entity struct Orchard: Equatable {
    #Unique<Orchard>([\.sortName])
    var name: String
    static let trees = ToMany<Orchard, Tree>(inverse: \.orchard, onDelete: .cascade)
    @Derived(.canonical(\Orchard.name)) private(set) var sortName = ""
    @Derived(.count(Orchard.trees)) private(set) var treeCount = 0
    @Derived(.maximum(Orchard.trees, \.height)) private(set) var greatestHeight: Double?
    @Derived(.function(version: 1) { (orchard: Orchard) in orchard.name.count })
    private(set) var nameLength = 0
    @Derived(.insertedAt) private(set) var insertedAt: Date = .distantPast

    static let rules = [
      RecordRule<Orchard>("the name is not empty") { $0.name != "" }
    ]
  }

  @Entity struct Tree: Equatable {
    var height: Double
    @Relationship var orchard: Orchard.ID?
    @Derived(.copy(\Tree.orchard, \.name)) private(set) var orchardName: String?
  }

  @Suite struct `Entities with derived attributes` {
    @Test func `properties declare derived attributes`() throws {
      let store = try Store.inMemory(entities: [Orchard.self, Tree.self])
      let orchard = try store.insert(Orchard(name: "Été"))
      try store.insert([1.5, 4, 2].map { Tree(height: $0, orchard: orchard.id) })
      let stored = try #require(try store.fetch(Orchard.key(sortName: "ete")))
      #expect(stored.treeCount == 3 && stored.greatestHeight == 4 && stored.nameLength == 3)
      #expect(stored.insertedAt > .distantPast)
      #expect(try store.fetch(Tree.where { $0.orchardName == "Été" }).count == 3)
      try store.update(Tree.all) { $0.height.add(1) }
      #expect(try store.fetch(Orchard.where { $0.greatestHeight > 4.5 }).map(\.name) == ["Été"])
      let error = #expect(throws: StoreError.self) { try store.insert(Orchard(name: "")) }
      #expect(error?.violations.map(\.rule) == ["the name is not empty"])
    }

    @Test func `an entity with derived attributes accepts assignments to its other attributes`()
      throws
    {
      let store = try Store.inMemory(entities: [Orchard.self, Tree.self])
      let orchard = try store.insert(Orchard(name: "A"))
      try store.update(Orchard.all) { $0.name = $0.sortName }
      #expect(try store.fetch(orchard.id)?.name == "a")
    }
  }
#endif
