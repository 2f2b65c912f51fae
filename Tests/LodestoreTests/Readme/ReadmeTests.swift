#if Macros
  import Foundation
  import Lodestore
  import Testing

  @Suite struct ReadmeTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = tests.appending(path: "../../..").standardized

    private static func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Lines without their indentation, in paragraphs.
    private static func paragraphs(_ text: some StringProtocol) -> [[String]] {
      text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
        .split(separator: "").map(Array.init)
    }

    /// The contents of the document's fenced blocks in `language`.
    private static func blocks(_ language: String, of document: String) throws -> [Substring] {
      try text(document).split(separator: "\n```\(language)\n").dropFirst().compactMap {
        $0.split(separator: "\n```").first
      }
    }

    @Test func `the program does what the readme says`() async throws {
      let directory = FileManager.default.temporaryDirectory
        .appending(path: "readme-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let pages = try ["films-1.json", "films-2.json"].map {
        try Data(contentsOf: Self.root.appending(path: "Samples/\($0)"))
      }
      let program = ReadmeProgram(
        pages: AsyncStream { continuation in
          for page in pages { continuation.yield(page) }
          continuation.finish()
        }, path: directory.appending(path: "films.lodestore").path)

      let (films, report) = try await program.run()

      #expect("\(report)" == "9 inserted, 0 updated, 0 unchanged, 0 rejected")
      #expect(
        films.map(\.title) == ["The Rise of Skywalker", "The Last Jedi", "The Force Awakens"])
    }

    @Test(arguments: [
      "README.md", "Sources/EntityStore/EntityStore.docc/Batches.md",
      "Sources/EntityStore/EntityStore.docc/Imports.md",
      "Sources/EntityStore/EntityStore.docc/Queries.md",
      "Sources/EntityStore/EntityStore.docc/Relationships.md",
      "Sources/EntityStore/EntityStore.docc/DerivedAttributes.md",
      "Sources/EntityStore/EntityStore.docc/Migration.md",
      "Sources/EntityStore/EntityStore.docc/Changes.md",
    ])
    func `every paragraph of Swift is compiled somewhere`(document: String) throws {
      let compiled = try [
        "Tests/LodestoreTests/Readme/ReadmeProgram.swift",
        "Tests/LodestoreTests/Readme/ArticlePrograms.swift",
        "Tests/LodestoreTests/Readme/DerivedArticle.swift",
        "Tests/LodestoreTests/Readme/MigrationArticle.swift",
        "Tests/LodestoreTests/Readme/ChangesArticle.swift",
        "Tests/LodestoreTests/Readme/QueriesArticle.swift", "tools/quickstart-example/Film.swift",
        "tools/quickstart-example/Deleting.swift",
        "Tests/LodestoreWebTests/WebImportTests.swift",
      ].map { try Self.paragraphs(Self.text($0)).flatMap { $0 + [""] }.joined(separator: "\n") }
      let blocks = try Self.blocks("swift", of: document)
      #expect(!blocks.isEmpty)
      for paragraph in blocks.flatMap(Self.paragraphs) {
        #expect(
          compiled.contains { $0.contains(paragraph.joined(separator: "\n")) },
          "compile this paragraph of \(document), or take it out: \(paragraph)")
      }
    }

    @Test(arguments: ["README.md", "Sources/README.md", "Samples/README.md"])
    func `links lead to files`(document: String) throws {
      let directory = Self.root.appending(path: document).deletingLastPathComponent()
      let links = try Self.text(document).matches(of: /\]\(([^)#:\s]+)(#[^)]*)?\)/).map(\.1)
      for link in links {
        #expect(
          FileManager.default.fileExists(atPath: directory.appending(path: "\(link)").path),
          "\(document) links to \(link), which is not there")
      }
    }
  }
#endif
