import Foundation

/// A question to the program that expands macros: one source, and its expected expansion.
package struct ExpansionQuestion: Encodable {
  /// The source that has macros.
  package var source: String
  /// Whether the conformance is added, as `@Entity` does.
  package var conforms = true
  /// The expected source after expansion; `nil` if it is not compared.
  package var expanded: String?
  /// The expected error; `nil` if the source must be accepted.
  package var refusal: Refusal?

  /// An expected error: its message, its place, and for each fix-it the message and the fixed
  /// source.
  package struct Refusal: Encodable {
    let message: String
    let line: Int
    let column: Int
    let fixes: [[String]]

    /// An error at a place of a source.
    package init(_ message: String, line: Int, column: Int, fixes: [(String, String)]) {
      self.message = message
      self.line = line
      self.column = column
      self.fixes = fixes.map { [$0.0, $0.1] }
    }
  }

  /// A question about `source`.
  package init(_ source: String) { self.source = source }

  /// Runs the program once for this question, and returns its answer.
  ///
  /// The program is a macro target. Only macro targets are built with swift-syntax for the
  /// compiler's machine; a test that imported swift-syntax would build all of it a second time.
  package func answer() throws -> ExpansionAnswer {
    let folders =
      (CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
      + CommandLine.arguments.prefix(1)).map { URL(filePath: $0).deletingLastPathComponent() }
    let programs = folders.map { $0.appending(path: "ExpansionProgram-tool") }
    let process = Process()
    process.executableURL =
      programs.first { FileManager.default.fileExists(atPath: $0.path) } ?? programs[0]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    // The question fits into the pipe's buffer, so the write cannot block.
    try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(self))
    try input.fileHandleForWriting.close()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(ExpansionAnswer.self, from: answer)
  }
}

/// The answer of the program that expands macros.
package struct ExpansionAnswer: Decodable {
  /// The source after expansion.
  package let expanded: String
  /// The messages of the errors.
  package let errors: [String]
  /// The messages of the notes.
  package let notes: [String]
  /// The differences from the expectation.
  package let failures: [String]
  /// For each fix-it without a placeholder, the errors of the source after it.
  package let errorsAfterFixes: [[String]]
  /// Whether this version of swift-syntax parses raw identifiers.
  package let knowsRawIdentifiers: Bool
}
