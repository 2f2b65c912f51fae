#if Macros
  import Foundation
  import Lodestore
  import Testing

  /// The Lodestore code in the articles for readers who come from other frameworks is compiled.
  ///
  /// In a block, each paragraph is in a program next to this file, as in all articles. In a table,
  /// so is each piece of code in the column headed Lodestore. In double backticks such a piece is a
  /// symbol, which the build of the documentation resolves. Code of other frameworks is in blocks
  /// marked `text` and in the other columns of tables: nothing compiles it here.
  @Suite struct `The articles on coming from elsewhere` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private static func article(_ framework: String) throws -> String {
      let path = "../../../Sources/EntityStore/EntityStore.docc/ComingFrom\(framework).md"
      return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// The text of the compiled Swift files, with each run of white space replaced by one space.
    private static func compiled(_ framework: String) throws -> String {
      try ["Article", "Phrases"].map {
        let file = folder.appending(path: "\(framework)\($0).swift")
        return flat(try String(contentsOf: file, encoding: .utf8))
      }.joined(separator: " ")
    }

    /// Returns the text on one line, without the `;` that stand for line ends.
    private static func flat(_ text: some StringProtocol) -> String {
      text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .replacing("( ", with: "(").replacing(" )", with: ")").replacing("; ", with: " ")
    }

    /// The cells in the column of the article's tables that is headed Lodestore.
    private static func cells(of article: String) -> [String] {
      var cells: [String] = []
      var column: Int?
      for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
        guard line.hasPrefix("|") else {
          column = nil
          continue
        }
        let row = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        if let column {
          if row.indices.contains(column), !row[column].hasPrefix("---") {
            cells.append(row[column])
          }
        } else {
          column = row.firstIndex(of: "Lodestore") ?? row.count
        }
      }
      return cells
    }

    @Test(arguments: ["CoreData", "SwiftData", "GRDB"])
    func `the tables of the articles quote compiled code`(framework: String) throws {
      let compiled = try Self.compiled(framework)
      let cells = Self.cells(of: try Self.article(framework))
      #expect(cells.count > 30)
      for cell in cells {
        for code in cell.matches(of: /(?:^|[^`])`([^`]+)`(?!`)/).map(\.1) {
          #expect(
            compiled.contains(Self.flat(code)), "compile `\(code)`, or say it in words: \(cell)")
        }
      }
    }

    @Test func `the entities of the articles open a store`() throws {
      for entities: [any Entity.Type] in [
        [Chef.self, Picture.self], [Recipe.self, Ingredient.self, Diet.self],
        [Tool.self, Gardener.self, Garden.self, Plant.self],
        [Station.self, Reading.self, Network.self, Sensor.self],
      ] {
        try Store.inMemory(entities: entities).close()
      }
    }
  }
#endif
