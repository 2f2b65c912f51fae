#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation

  // The Lodestore column of the tables of the article ComingFromCoreData; see `ComingFromTests`.

  @Entity(name: "Cook") struct Chef {
    #Unique<Chef>([\.email], [\.family, \.given])
    @Attribute(originalName: "mail") var email: String
    var family: String = ""
    var given: String = ""
    @Attribute(constraints: [.range(0...5)]) var stars: Int = 0
    var role: Role = .cook
    var photo: Data?
    var links: JSONValue = .null
    var kitchen: Kitchen?
    @Transient var isSelected = false
    @Derived(.canonical(\Chef.family)) private(set) var sortName = ""
    @Derived(.changedAt) private(set) var changedAt = Date.distantPast
    @Relationship(onDelete: .cascade) var picture: Picture.ID?
    static let history = HistoryPolicy<Chef>.kept(preserving: \.email, images: true)
    static let rules = [
      RecordRule<Chef>("a name is there") { anyOf($0.family != "", $0.given != "") }
    ]

    enum Role: String, Codable, Sendable { case cook, baker }
    struct Kitchen: Codable, Sendable, Equatable { var city: String }
  }

  @Entity struct Picture {
    var file: String
  }

  enum CoreDataPhrases {
    static func opening(_ path: String) async throws {
      _ = try Store(at: path, entities: [Recipe.self, Ingredient.self, Diet.self])
      _ = try await Store.open(at: path, entities: [Recipe.self]) { print($0.fraction ?? 0) }
      _ = try Store.inMemory(entities: [Recipe.self])
      _ = try Store(at: path, entities: [Recipe.self], options: .readOnly)
      _ = try Store.schemaChanges(at: path, opening: [Recipe.self])
    }

    static func reading(_ store: Store, _ id: Recipe.ID) throws {
      _ = try store.fetch(id)
      _ = try store.fetch(Recipe.key(name: "Pesto"))
      _ = try store.fetch(Recipe.all.sorted(by: \.createdAt.descending, \.name.ascending))
      _ = try store.fetch(Recipe.all.limit(20).offset(40))
      _ = try store.count(Recipe.all)
      _ = try store.results(Recipe.all)
      let snapshot = try store.snapshot()
      try snapshot.advance()
      try store.read { snapshot in
        _ = try snapshot.ids(Recipe.all)
        _ = try snapshot.dictionaries(Recipe.all, attributes: ["name", "servings"])
        _ = try snapshot.values(Recipe.all, \.servings, distinct: true)
        _ = try snapshot.groups(Recipe.all, by: \.servings, .count(\.name))
        _ = try snapshot.aggregate(Recipe.all, .maximum(\.createdAt))
        _ = try snapshot.related(Recipe.ingredients, of: id)
        _ = try snapshot.fetch(Recipe.all, including: Recipe.ingredients)
        _ = try snapshot.explain(Recipe.all.sorted(by: \.name))
        let version: Int? = try snapshot.value(for: "version", in: "settings")
        print(version ?? 0)
      }
    }

    static func conditions(_ ids: [Recipe.ID], _ names: [String], _ date: Date) throws {
      _ = try Recipe.where(format: "name BEGINSWITH[c] %@ AND servings > %d", "p", 2)
      _ = Recipe.where {
        $0.name.hasPrefix("p", .caseInsensitive)
        $0.servings > 2
      }
      _ = Recipe.where(#Predicate { $0.servings > 2 })
      _ = Recipe.where { $0.name.isIn(names) }
      _ = Recipe.where { $0.id.isIn(ids) }
      _ = Recipe.where { anyOf($0.servings == 1, $0.createdAt < date) }
      _ = Recipe.where { $0.ingredients.any { $0.name == "salt" } }
      _ = Recipe.where { $0.ingredients.count > 5 }
      _ = try Recipe.where(format: "SUBQUERY(ingredients, $i, $i.grams > 100).@count > 2")
      _ = Ingredient.where { $0.recipe[\.name] == "Pesto" }
      _ = Recipe.where { $0.createdAt < date }
      _ = Chef.where { $0.links["home"] == "example.org" }
    }

    static func writing(_ store: Store, _ recipe: Recipe, _ id: Recipe.ID) throws {
      try store.write { tx in
        let stored = try tx.insert(Recipe(name: "Pesto", createdAt: .now))
        try tx.modify(id) { $0.servings = 6 }
        try tx.delete(recipe)
        try tx.upsert(recipe)
        try tx.savepoint { inner in _ = try inner.upsert(recipe) }
        try tx.put(3, for: "version", in: "settings")
        print(stored.id)
      }
    }

    static func batches(
      _ store: Store, _ recipes: [Recipe], _ rows: [[String: any AttributeValue]],
      _ names: [String]
    ) throws {
      var lines = names.makeIterator()
      try store.write { tx in
        try tx.insert(recipes, onConflict: .replace)
        try tx.insert(Recipe.self, dictionaries: rows, onConflict: .patch())
        try tx.insert(Recipe.self, onConflict: .patch()) { draft in
          guard let line = lines.next() else { return true }
          draft.name = line
          return false
        }
        try tx.update(Recipe.where { $0.servings == 0 }) { $0.servings = 4 }
        try tx.update(Recipe.all) { $0.servings.add(1) }
        try tx.delete(Recipe.where { $0.name.isIn(names) })
      }
    }

    static func relating(
      _ store: Store, _ recipe: Recipe, _ diet: Diet, _ salt: Ingredient
    ) throws {
      try store.write { tx in
        try tx.add(diet.id, to: Recipe.diets, of: recipe.id)
        try tx.remove(diet.id, from: Recipe.diets, of: recipe.id)
        try tx.move(salt.id, in: Recipe.ingredients, of: recipe.id, to: .first)
      }
    }

    static func concurrently(_ store: Store, _ recipe: Recipe) async throws {
      try await store.write { tx in try tx.insert(recipe) }
      _ = try await store.read { snapshot in try snapshot.count(Recipe.all) }
      let fetch = store.asynchronousFetch(Recipe.all.sorted(by: \.createdAt))
      fetch.cancel()
    }

    static func editing(_ store: Store, _ id: Recipe.ID) throws {
      var edit = try store.edit(id)
      edit.servings = 6
      try store.update(edit, onConflict: .keepEdited)
    }

    static func following(_ store: Store, _ id: Recipe.ID) async throws {
      for try await update in store.updates(of: Recipe.all.sorted(by: \.name)) {
        print(update.difference?.moved.count ?? 0)
      }
      _ = store.updates(of: Recipe.all.sorted(by: \.servings, \.name), sectionedBy: \.servings)
      _ = store.updates(of: id)
      let hook = store.onCommit { print($0.changes.entities) }
      hook.cancel()
      let check = store.beforeChanges(of: Recipe.self) { change in
        if case .delete = change { throw RuleViolation("recipes stay") }
      }
      check.cancel()
    }

    @MainActor static func list(_ store: Store) -> LiveResults<Recipe> {
      let recipes = LiveResults(of: Recipe.all.sorted(by: \.name), in: store)
      return recipes
    }

    static func history(_ store: Store, _ token: HistoryToken) throws {
      var options = StoreOptions()
      options.history = .changes
      options.author = "app"
      _ = try store.historyToken()
      _ = try store.history(.after(token).excluding(authors: "app"))
      try store.write(author: "import") { tx in try tx.delete(Recipe.all) }
      try store.purgeHistory(before: Date.now.addingTimeInterval(-30 * 86_400))
      try store.write { tx in try tx.undo(token) }
    }

    static func migrating(_ path: String) throws {
      let stages = [
        MigrationStage(
          to: 2, .rename("people", of: "Recipe", to: "servings"),
          .convert("servings", of: "Recipe", to: Int.self))
      ]
      _ = try Store(at: path, entities: [Recipe.self], migrating: stages)
    }
  }
#endif
