import Foundation
import Testing

/// Programs that the articles show whole are type checked as they stand: their ```swift blocks with
/// `@main` in them.
@Suite(
  .serialized, .enabled(if: CompilerCheck.shared?.hasMacros == true, "the compiler is not found")
)
struct `The programs of the manual` {
  struct Program: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String

    var testDescription: String { name }
  }

  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Sources").standardized

  private static let all: [Program] = {
    let found = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    let files = (found?.compactMap { $0 as? URL } ?? []).filter { $0.path.contains(".docc/") }
    return files.sorted { $0.path < $1.path }.flatMap(programs)
  }()

  private static func programs(in file: URL) -> [Program] {
    guard file.pathExtension == "md", let text = try? String(contentsOf: file, encoding: .utf8)
    else { return [] }
    let name = file.lastPathComponent
    let blocks = text.components(separatedBy: "\n```swift\n").dropFirst()
    return blocks.compactMap { $0.components(separatedBy: "\n```").first }
      .filter { $0.contains("@main") }.map { Program(name: name, text: $0) }
  }

  @Test func `the programs of the manual are found`() { #expect(!Self.all.isEmpty) }

  @Test(arguments: all) func `the programs of the manual compile without a warning`(
    program: Program
  ) throws {
    let result = try #require(CompilerCheck.shared).check(program: program.text)
    #expect(
      !result.output.contains("error:") && !result.output.contains("warning:"), "\(result.output)")
  }
}
