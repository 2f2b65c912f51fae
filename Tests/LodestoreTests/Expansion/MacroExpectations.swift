#if Macros
  import ExpansionClient
  import Testing

  /// Expects that `source` is accepted and becomes `expanded`.
  func expectExpansion(
    of source: String, _ expanded: String, conforms: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var question = ExpansionQuestion(source)
    question.conforms = conforms
    question.expanded = expanded
    for failure in try question.answer().failures {
      Issue.record("\(failure)", sourceLocation: sourceLocation)
    }
  }

  /// Expects that `source` is refused with one diagnostic.
  ///
  /// The diagnostic starts at the first occurrence of `place`, and has exactly the fix-its in
  /// `fixes`: their messages, and the source after applying each.
  ///
  /// A source in `fixes` must itself be accepted, unless it has a placeholder or `stillWrong` names
  /// the messages that it leaves. `EntityExpansionTests` checks the code that is generated after a
  /// refusal.
  func expectRefusal(
    of source: String, at place: String, _ message: String, fixes: [(String, String)] = [],
    stillWrong: Set<String> = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let start = try #require(
      source.firstRange(of: place)?.lowerBound, "'\(place)' is not in the source",
      sourceLocation: sourceLocation)
    let before = source[..<start]
    let lineStart = before.lastIndex(of: "\n").map { before.index(after: $0) } ?? before.startIndex
    var question = ExpansionQuestion(source)
    question.refusal = ExpansionQuestion.Refusal(
      message, line: before.count { $0 == "\n" } + 1,
      column: before[lineStart...].utf8.count + 1, fixes: fixes)
    let answer = try question.answer()
    for failure in answer.failures { Issue.record("\(failure)", sourceLocation: sourceLocation) }
    for errors in answer.errorsAfterFixes {
      #expect(
        Set(errors).isSubset(of: stillWrong), "after a fix-it", sourceLocation: sourceLocation)
    }
  }

  /// Whether the swift-syntax of the build parses names such as `a b`.
  let parserKnowsRawIdentifiers = (try? expand("").knowsRawIdentifiers) ?? true

  /// The expansion of `source`, and the messages about it.
  func expand(_ source: String) throws -> ExpansionAnswer {
    try ExpansionQuestion(source).answer()
  }
#endif
