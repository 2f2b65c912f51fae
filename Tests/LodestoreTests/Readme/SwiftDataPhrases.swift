#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation

  // The Lodestore column of the tables of the article ComingFromSwiftData; see `ComingFromTests`.

  @Entity struct Tool {
    #Unique<Tool>([\.name, \.maker])
    #Index<Tool>([\.boughtAt])
    @Attribute(originalName: "title") var name: String
    @Attribute(.unique) var serial: String?
    var maker: String = ""
    var boughtAt: Date
    var state: State = .sharp
    var parts: [String] = []
    var photo: Data?
    var details: JSONValue = .null
    @Transient var isSelected = false
    @Relationship(onDelete: .nullify) var owner: Gardener.ID?
    static let history = HistoryPolicy<Tool>.kept(preserving: \.name)

    enum State: String, Codable, Sendable { case sharp, dull }
  }

  enum SwiftDataPhrases {
    static func opening(_ path: String) throws {
      _ = try Store(at: path, entities: [Garden.self, Plant.self, Gardener.self])
      _ = try Store.inMemory(entities: [Tool.self, Gardener.self, Garden.self, Plant.self])
      _ = try Store(at: path, entities: [Garden.self, Plant.self], options: .readOnly)
    }

    static func reading(_ store: Store, _ id: Plant.ID, _ garden: Garden) async throws {
      _ = try await store.fetch(Plant.all.sorted(by: \.species))
      _ = try await store.fetch(Plant.all.limit(20).offset(40))
      _ = try await store.fetch(id)
      _ = try await store.count(Plant.all)
      _ = try await store.read { snapshot in try snapshot.ids(Plant.all) }
      _ = try await store.results(Plant.all)
      for try await batch in store.batches(of: 500, Plant.all) { print(batch.count) }
      try await store.read { snapshot in
        _ = try snapshot.related(Garden.plants, of: garden.id)
        _ = try snapshot.fetch(Garden.all, including: Garden.plants)
        _ = try snapshot.values(Plant.all, \.species, \.wateredAt)
        _ = try snapshot.aggregate(Plant.all, .average(\.heightInCentimeters))
        _ = try snapshot.sections(Plant.all.sorted(by: \.garden, \.species), by: \.garden)
      }
      let snapshot = try store.snapshot()
      snapshot.end()
    }

    static func conditions(_ ids: [Plant.ID], _ names: [String], _ species: String?) throws {
      _ = Plant.where(#Predicate { $0.heightInCentimeters > 10 && $0.species.starts(with: "s") })
      _ = Plant.where {
        $0.heightInCentimeters > 10
        if let species { $0.species == species }
      }
      _ = Plant.where { $0.garden[\.name] == "Roof" }
      _ = Garden.where { $0.plants.any { $0.wateredAt == nil } }
      _ = Garden.where { $0.plants.isEmpty }
      _ = Plant.where { $0.id.isIn(ids) }
      _ = Plant.where { $0.species.contains("sa", [.caseInsensitive, .diacriticInsensitive]) }
      _ = Tool.where { $0.state == .dull }
      _ = Tool.where { $0.parts.contains("blade") }
      _ = Tool.where { $0.details["color"] == "red" }
    }

    static func writing(_ store: Store, _ garden: Garden, _ id: Plant.ID) async throws {
      let plant = try await store.insert(Plant(species: "sage"))
      try await store.modify(plant.id) { $0.species = "Salvia" }
      try await store.delete(plant)
      try await store.upsert(garden)
      try await store.delete(Plant.where { $0.species == "sage" })
      try await store.update(Plant.all) { $0.heightInCentimeters.add(1) }
      try await store.insert(["sage", "thyme"].map { Plant(species: $0) })
      try await store.write { tx in
        let garden = try tx.insert(garden)
        try tx.insert(Plant(species: "sage", garden: garden.id))
      }
    }

    static func relating(_ store: Store, _ garden: Garden, _ gardener: Gardener) throws {
      try store.write { tx in
        try tx.add(gardener.id, to: Garden.gardeners, of: garden.id)
        try tx.remove(gardener.id, from: Garden.gardeners, of: garden.id)
      }
    }

    @MainActor static func following(_ store: Store, _ id: Plant.ID) async throws {
      _ = LiveResults(of: Plant.all.sorted(by: \.species), in: store)
      _ = store.updates(of: Plant.all.sorted(by: \.garden), sectionedBy: \.garden)
      for try await plant in store.updates(of: id) { print(plant?.species ?? "gone") }
      let hook = store.onCommit { print($0.author ?? "") }
      hook.cancel()
    }

    static func history(_ store: Store, _ token: HistoryToken) async throws {
      try await store.write(author: "import") { tx in try tx.delete(Plant.all) }
      _ = try await store.history(.after(token).of(Plant.self).only(.deleted))
    }

    static func back(_ store: Store, _ token: HistoryToken) throws {
      try store.purgeHistory(through: token)
      try store.write { tx in try tx.undo(token) }
      var edit = try store.edit(Plant.ID(rawValue: 1))
      edit.species = "Salvia"
      try store.update(edit, onConflict: .keepEdited)
    }

    static func migrating(_ path: String) throws {
      let stages = [
        MigrationStage(to: 2, .rename(entity: "Bed", to: "Garden")),
        MigrationStage(to: 3, .map("Plant") { plant in plant["species"] = "sage" }),
      ]
      _ = try Store(at: path, entities: [Garden.self, Plant.self], migrating: stages)
    }
  }
#endif
