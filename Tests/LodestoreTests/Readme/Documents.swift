#if Macros
  import Foundation

  /// The texts whose Swift is compiled: README.md and its neighbours, and every article in
  /// `Sources`.
  ///
  /// The tests find each article and each Swift file of this folder without a list. A new article
  /// brings one Swift file of its own here, with every paragraph of its ```swift blocks somewhere
  /// in it, best in an enumeration of the article's name, or in a suite that also runs them. Whole
  /// programs, blocks with `@main` in them, are type checked as they stand by `The programs of the
  /// manual` in EntityStoreTests, and the programs of the tutorial are run by `The tutorial of the
  /// manual`.
  enum Documents {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../..").standardized

    /// Paths from the root of the project.
    static let all: [String] = {
      let beside = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Sources/README.md"]
        .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }
      return beside + files("md", under: "Sources").filter { $0.contains(".docc/") }
    }()

    /// The Swift that is compiled, each file in paragraphs without indentation.
    static let compiled: [String] = {
      let folders = [
        "Tests/LodestoreTests/Readme", "Tests/LodestoreWebTests",
        "Tests/LodestoreDatasetsTests/Readme", "Tests/LodestorePostgresTests/Readme",
        "Tests/LodestoreReplicasTests/Readme", "tools/quickstart-example",
      ]
      return folders.flatMap { files("swift", under: $0) }
        .compactMap { try? paragraphs(text($0)).flatMap { $0 + [""] }.joined(separator: "\n") }
    }()

    /// The documents without Swift code, whose links are checked too.
    static let withoutSwift =
      [
        "Samples/README.md", "Sources/LMDB/README.md", "Sources/LodestorePostgres/README.md",
        "Sources/LodestoreReplicas/README.md",
        "Sources/LodestoreWeb/README.md",
      ] + files("md", under: "Examples").filter { !$0.contains("/.build") }

    static func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Lines without their indentation, in paragraphs.
    static func paragraphs(_ text: some StringProtocol) -> [[String]] {
      text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
        .split(separator: "").map(Array.init)
    }

    /// The contents of a document's ```swift blocks, except blocks that are programs or manifests.
    static func blocks(of document: String) throws -> [Substring] {
      try text(document).split(separator: "\n```swift\n").dropFirst()
        .compactMap { $0.split(separator: "\n```").first }
        .filter { !$0.contains("@main") && !$0.hasPrefix("// swift-tools-version") }
    }

    private static func files(_ end: String, under folder: String) -> [String] {
      let url = root.appending(path: folder)
      let found = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
      return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == end }
        .map { String($0.standardized.path.dropFirst(root.path.count)).trimmingPrefix("/") }
        .map(String.init).sorted()
    }
  }
#endif
