#if Macros
  import Foundation
  import Lodestore
  import Testing

  @Suite struct ReadmeTests {
    @Test func `the program of the readme runs as described`() async throws {
      let directory = FileManager.default.temporaryDirectory
        .appending(path: "readme-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let pages = try ["films-1.json", "films-2.json"].map {
        try Data(contentsOf: Documents.root.appending(path: "Samples/\($0)"))
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

    @Test(arguments: Documents.all)
    func `every Swift block of the documents is compiled in a test`(document: String) throws {
      for paragraph in try Documents.blocks(of: document).flatMap(Documents.paragraphs) {
        let text = paragraph.joined(separator: "\n")
        #expect(
          Documents.compiled.contains { $0.contains(text) },
          "compile this paragraph of \(document), or take it out: \(paragraph)")
      }
    }

    @Test func `the documents with programs are found`() throws {
      #expect(Documents.all.count > 10 && Documents.withoutSwift.count == 13)
      #expect(try !Documents.blocks(of: "README.md").isEmpty)
    }

    @Test(arguments: Documents.all + Documents.withoutSwift)
    func `the links of the documents lead to files`(document: String) throws {
      let directory = Documents.root.appending(path: document).deletingLastPathComponent()
      let links = try Documents.text(document).matches(of: /\]\(([^)#:\s]+)(#[^)]*)?\)/).map(\.1)
      for link in links {
        #expect(
          FileManager.default.fileExists(atPath: directory.appending(path: "\(link)").path),
          "\(document) links to \(link), which is not there")
      }
    }
  }
#endif
