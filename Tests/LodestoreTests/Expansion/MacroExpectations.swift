#if Macros
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  import EntityMacroExpansion

  // As the plug-in has them, which a test cannot import.
  struct EntityMacro: EntityExpanding {}
  struct AttributeMacro: MarkerExpanding { static let name = "@Attribute" }
  struct RelationshipMacro: MarkerExpanding { static let name = "@Relationship" }
  struct TransientMacro: MarkerExpanding { static let name = "@Transient" }
  struct IndexMacro: IndexExpanding {}

  let macros: [String: MacroSpec] = [
    "Entity": MacroSpec(type: EntityMacro.self, conformances: ["Entity"]),
    "Attribute": MacroSpec(type: AttributeMacro.self),
    "Relationship": MacroSpec(type: RelationshipMacro.self),
    "Transient": MacroSpec(type: TransientMacro.self),
    "Index": MacroSpec(type: IndexMacro.self),
    "Unique": MacroSpec(type: IndexMacro.self),
    "Expires": MacroSpec(type: IndexMacro.self),
    "Limit": MacroSpec(type: IndexMacro.self),
  ]

  /// Expects that `source` is accepted and becomes `expanded`.
  func expectExpansion(
    of source: String, _ expanded: String, macros: [String: MacroSpec] = macros,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    assertMacroExpansion(
      source, expandedSource: expanded, macroSpecs: macros, indentationWidth: .spaces(2),
      failureHandler: { Issue.record("\($0.message)", sourceLocation: sourceLocation) })
  }

  /// Expects that `source` is refused with one diagnostic, which starts where `place` first stands,
  /// and has exactly the fix-its in `fixes`: their messages, and the source after applying each.
  ///
  /// A source in `fixes` must itself be accepted, unless it has a placeholder in it or `stillWrong`
  /// names the messages that it leaves.
  func expectRefusal(
    of source: String, at place: String, _ message: String, fixes: [(String, String)] = [],
    stillWrong: Set<String> = [], sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    guard let start = source.firstRange(of: place)?.lowerBound else {
      Issue.record("'\(place)' is not in the source", sourceLocation: sourceLocation)
      return
    }
    let before = source[..<start]
    let line = before.count { $0 == "\n" } + 1
    let column =
      before.utf8.count - (before.lastIndex(of: "\n").map { before[...$0].utf8.count } ?? 0)
    // What is generated after a refusal is the subject of EntityExpansionTests.
    let (expanded, _, _) = expand(source)
    let diagnostic = DiagnosticSpec(
      message: message, line: line, column: column + 1,
      fixIts: fixes.map { FixItSpec(message: $0.0) })
    if fixes.isEmpty {
      assertMacroExpansion(
        source, expandedSource: expanded, diagnostics: [diagnostic], macroSpecs: macros,
        indentationWidth: .spaces(2),
        failureHandler: { Issue.record("\($0.message)", sourceLocation: sourceLocation) })
    }
    for (fix, fixed) in fixes {
      assertMacroExpansion(
        source, expandedSource: expanded, diagnostics: [diagnostic], macroSpecs: macros,
        applyFixIts: [fix], fixedSource: fixed, indentationWidth: .spaces(2),
        failureHandler: { Issue.record("\($0.message)", sourceLocation: sourceLocation) })
      let left = fixed.contains("<#") ? [] : expand(fixed).messages
      #expect(
        Set(left).isSubset(of: stillWrong), "after '\(fix)'", sourceLocation: sourceLocation)
    }
  }

  let parserKnowsRawIdentifiers = !Parser.parse(source: "let `a b` = 1").hasError

  /// The expansion of `source`, the messages of its errors, and those of its notes.
  func expand(_ source: String) -> (source: String, messages: [String], notes: [String]) {
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
    let (errors, notes) = (
      context.diagnostics.filter { $0.diagMessage.severity == .error },
      context.diagnostics.filter { $0.diagMessage.severity == .note }
    )
    return (expanded.description, errors.map(\.message), notes.map(\.message))
  }
#endif
