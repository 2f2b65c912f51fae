#if Macros

  import Foundation
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport

  // The declarations of the plug-in, which another target cannot import.
  struct EntityMacro: EntityExpanding {}
  struct AttributeMacro: MarkerExpanding { static let name = "@Attribute" }
  struct RelationshipMacro: MarkerExpanding { static let name = "@Relationship" }
  struct TransientMacro: MarkerExpanding { static let name = "@Transient" }
  struct IndexMacro: IndexExpanding {}

  /// Reads one question from standard input, and writes the answer to standard output.
  @main
  struct ExpansionProgram {
    static func main() throws {
      let question = try JSONDecoder().decode(
        Question.self, from: FileHandle.standardInput.readDataToEndOfFile())
      FileHandle.standardOutput.write(try JSONEncoder().encode(question.answer()))
    }
  }

  /// A request, with the members of the client's `ExpansionQuestion`.
  struct Question: Decodable {
    let source: String
    let conforms: Bool
    let expanded: String?
    let refusal: Refusal?

    struct Refusal: Decodable {
      let message: String
      let line: Int
      let column: Int
      let fixes: [[String]]
    }

    private var macros: [String: MacroSpec] {
      [
        "Entity": MacroSpec(type: EntityMacro.self, conformances: conforms ? ["Entity"] : []),
        "Attribute": MacroSpec(type: AttributeMacro.self),
        "Relationship": MacroSpec(type: RelationshipMacro.self),
        "Transient": MacroSpec(type: TransientMacro.self),
        "Index": MacroSpec(type: IndexMacro.self),
        "Unique": MacroSpec(type: IndexMacro.self),
        "Search": MacroSpec(type: IndexMacro.self),
        "Place": MacroSpec(type: IndexMacro.self),
        "Vector": MacroSpec(type: IndexMacro.self),
        "Expires": MacroSpec(type: IndexMacro.self),
        "Limit": MacroSpec(type: IndexMacro.self),
      ]
    }

    func answer() -> Answer {
      var answer = Answer()
      let diagnostics: [Diagnostic]
      (answer.expanded, diagnostics) = expand(source)
      answer.errors = diagnostics.filter { $0.diagMessage.severity == .error }.map(\.message)
      answer.notes = diagnostics.filter { $0.diagMessage.severity == .note }.map(\.message)
      if let refusal {
        answer.failures = failures(of: refusal, expanded: answer.expanded)
        for fix in refusal.fixes where !fix[1].contains("<#") {
          answer.errorsAfterFixes.append(
            expand(fix[1]).diagnostics.filter { $0.diagMessage.severity == .error }.map(\.message))
        }
      } else if let expanded {
        answer.failures = failures(expanded: expanded)
      }
      return answer
    }

    private func expand(_ source: String) -> (expanded: String, diagnostics: [Diagnostic]) {
      let file = Parser.parse(source: source)
      let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "Example", fullFilePath: "Example.swift")])
      let expanded = file.expand(
        macroSpecs: macros,
        contextGenerator: {
          BasicMacroExpansionContext(
            sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(2))
      return (expanded.description, context.diagnostics)
    }

    private func failures(of refusal: Refusal, expanded: String) -> [String] {
      let diagnostic = DiagnosticSpec(
        message: refusal.message, line: refusal.line, column: refusal.column,
        fixIts: refusal.fixes.map { FixItSpec(message: $0[0]) })
      if refusal.fixes.isEmpty { return failures(expanded: expanded, [diagnostic]) }
      return refusal.fixes.flatMap {
        failures(expanded: expanded, [diagnostic], fix: $0[0], fixed: $0[1])
      }
    }

    private func failures(
      expanded: String, _ diagnostics: [DiagnosticSpec] = [], fix: String? = nil,
      fixed: String? = nil
    ) -> [String] {
      var failures: [String] = []
      assertMacroExpansion(
        source, expandedSource: expanded, diagnostics: diagnostics, macroSpecs: macros,
        applyFixIts: fix.map { [$0] }, fixedSource: fixed, indentationWidth: .spaces(2),
        failureHandler: { failures.append($0.message) })
      return failures
    }
  }

  /// An answer, with the members of the client's `ExpansionAnswer`.
  struct Answer: Encodable {
    var expanded = ""
    var errors: [String] = []
    var notes: [String] = []
    var failures: [String] = []
    var errorsAfterFixes: [[String]] = []
    var knowsRawIdentifiers = !Parser.parse(source: "let `a b` = 1").hasError
  }
#else
  // Without the trait this empty program is built, because the package description cannot leave out
  // a macro target by a trait.
  @main
  struct ExpansionProgram {
    static func main() {}
  }
#endif
