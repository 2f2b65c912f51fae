#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation
  import Testing

  // The Swift of the article ComingFromSwiftData: the model that moves, and its calls.

  @Entity struct Garden {
    #Unique<Garden>([\.name])
    var name: String
    var place: Place?
    static let plants = ToMany<Garden, Plant>(inverse: \.garden, onDelete: .cascade)
    static let gardeners = ToMany<Garden, Gardener>()

    struct Place: Codable, Sendable, Equatable {
      var latitude: Double
      var longitude: Double
    }
  }

  @Entity struct Plant {
    #Index<Plant>([\.wateredAt], [\.garden, \.species])
    var species: String
    var heightInCentimeters: Double = 0
    var wateredAt: Date?
    @Relationship var garden: Garden.ID?
  }

  @Entity struct Gardener {
    #Unique<Gardener>([\.email])
    var email: String
    var name: String
    static let gardens = ToMany<Gardener, Garden>(inverse: Garden.gardeners)
  }

  struct GardenBook {
    let store: Store

    init(at path: String) throws {
      store = try Store(at: path, entities: [Garden.self, Plant.self, Gardener.self])
    }

    func plant(_ species: [String], in name: String) async throws {
      try await store.write { tx in
        let garden = try tx.insert(Garden(name: name), onConflict: .ignore)
        try tx.insert(species.map { Plant(species: $0, garden: garden.id) })
      }
    }

    func water(_ plant: Plant.ID, at time: Date) async throws {
      try await store.modify(plant) {
        $0.wateredAt = time
        $0.heightInCentimeters += 1
      }
    }

    func thirsty(since date: Date) async throws -> [(garden: String, plant: Plant)] {
      let plants = Plant.where { anyOf($0.wateredAt == nil, $0.wateredAt < date) }
        .sorted(by: \.wateredAt, \.species)
      return try await store.read { snapshot in
        try snapshot.fetch(plants, including: \.garden)
          .map { (garden: $0.related?.name ?? "", plant: $0.record) }
      }
    }

    @MainActor func list(of garden: Garden.ID) -> LiveResults<Plant> {
      LiveResults(of: Plant.where { $0.garden == garden }.sorted(by: \.species), in: store)
    }
  }

  @Suite struct `The article on coming from SwiftData` {
    @Test @MainActor func `the programs of the article on SwiftData run as described`() async throws
    {
      let path = FileManager.default.temporaryDirectory
        .appending(path: "gardens-\(UUID().uuidString).lodestore").path
      defer {
        for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
      }
      let book = try GardenBook(at: path)
      defer { book.store.close() }
      try await book.plant(["thyme", "sage"], in: "Roof")
      let garden = try #require(try await book.store.fetch(Garden.key(name: "Roof")))
      let list = book.list(of: garden.id)
      let sage = try #require(
        try await book.store.first(Plant.where { $0.species == "sage" }))

      let now = Date.now
      try await book.water(sage.id, at: now)

      let thirsty = try await book.thirsty(since: now.addingTimeInterval(-60))
      #expect(thirsty.map(\.plant.species) == ["thyme"] && thirsty[0].garden == "Roof")
      while list.items.first?.heightInCentimeters != 1 {
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(list.items.map(\.species) == ["sage", "thyme"])
      list.stop()
    }
  }
#endif
