#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation
  import Testing

  // The Swift of the article ComingFromCoreData: the model that moves, and its calls.

  @Entity struct Recipe {
    #Unique<Recipe>([\.name])
    #Index<Recipe>([\.createdAt])
    var name: String
    var servings: Int = 4
    var createdAt: Date

    static let ingredients = ToMany<Recipe, Ingredient>(
      inverse: \.recipe, ordered: true, onDelete: .cascade)
    static let diets = ToMany<Recipe, Diet>()
    @Derived(.count(Recipe.ingredients)) private(set) var ingredientCount = 0
  }

  @Entity struct Ingredient {
    var name: String
    var grams: Double?
    @Relationship var recipe: Recipe.ID?
  }

  @Entity struct Diet {
    #Unique<Diet>([\.name])
    var name: String
    static let recipes = ToMany<Diet, Recipe>(inverse: Recipe.diets)
  }

  /// A recipe as the service sends it.
  struct RecipeContent: Codable, Sendable {
    struct Part: Codable, Sendable {
      var name: String
      var grams: Double?
    }

    var name: String
    var servings: Int
    var createdAt: Date
    var ingredients: [Part]
    var diets: [String]
  }

  struct RecipeBook {
    let store: Store

    init(at path: String) throws {
      store = try Store(at: path, entities: [Recipe.self, Ingredient.self, Diet.self])
    }

    func add(_ page: [RecipeContent]) async throws {
      try await store.write(author: "download") { tx in
        for content in page {
          let recipe = try tx.upsert(
            Recipe(name: content.name, servings: content.servings, createdAt: content.createdAt))
          try tx.delete(Ingredient.where { $0.recipe == recipe.id })
          try tx.insert(
            content.ingredients.map {
              Ingredient(name: $0.name, grams: $0.grams, recipe: recipe.id)
            })
          let diets = try content.diets.map { try tx.upsert(Diet(name: $0)).id }
          try tx.set(Recipe.diets, of: recipe.id, to: diets)
        }
      }
    }

    func deleteRecipes(before date: Date) async throws -> Int {
      try await store.delete(Recipe.where { $0.createdAt < date })
    }

    func follow(_ diet: String, show: ([Recipe]) -> Void) async throws {
      let recipes = Recipe.where { $0.diets.any { $0.name == diet } }.sorted(by: \.name)
      for try await update in store.updates(of: recipes) { show(Array(update.items)) }
    }

    func takeOver(_ path: String) async throws {
      for try await lines in FilePages.jsonLines(path, recordsPerPage: 500) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        try await add(decoder.decode([RecipeContent].self, from: lines))
      }
    }
  }

  @Suite struct `The article on coming from Core Data` {
    private static let lines = """
      {"name":"Hummus","servings":4,"createdAt":"2024-03-01T10:00:00Z",\
      "ingredients":[{"name":"chickpeas","grams":250},{"name":"tahini","grams":60},\
      {"name":"salt"}],"diets":["vegan"]}
      {"name":"Pesto","servings":2,"createdAt":"2025-06-01T10:00:00Z",\
      "ingredients":[{"name":"basil","grams":50},{"name":"parmesan","grams":40}],\
      "diets":["vegetarian"]}

      """

    @Test func `the programs of the article on Core Data run as described`() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "recipes-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let lines = folder.appending(path: "recipes.jsonl")
      try Self.lines.write(to: lines, atomically: true, encoding: .utf8)
      let book = try RecipeBook(at: folder.appending(path: "recipes.lodestore").path)
      defer { book.store.close() }
      let shown = Task {
        var names: [[String]] = []
        try await book.follow("vegan") { names.append($0.map(\.name)) }
        return names
      }

      try await book.takeOver(lines.path)
      try await book.takeOver(lines.path)

      let hummus = try #require(try await book.store.fetch(Recipe.key(name: "Hummus")))
      let ingredients = try await book.store.read { snapshot in
        try snapshot.related(Recipe.ingredients, of: hummus.id).map(\.name)
      }
      #expect(hummus.ingredientCount == 3)
      #expect(ingredients == ["chickpeas", "tahini", "salt"])
      let newYear = try #require(ISO8601DateFormatter().date(from: "2025-01-01T00:00:00Z"))
      #expect(try await book.deleteRecipes(before: newYear) == 1)
      #expect(try await book.store.count(Ingredient.all) == 2)
      shown.cancel()
      _ = await shown.result
    }
  }
#endif
