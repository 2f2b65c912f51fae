internal import LodestoreFormat

/// The cause of an error that was found by comparing a condition with the schema: its position in
/// the format string.
struct ConditionFault: Error, CustomStringConvertible {
  let position: FormatPosition

  /// Creates the fault; `nil` without a position, when the condition comes from no format string.
  init?(_ position: FormatPosition?) {
    guard let position else { return nil }
    self.position = position
  }

  var description: String { position.description }
}

// Messages about conditions and queries that cannot be used; see StoreError+Catalogue.swift.

extension StoreError {
  static func badQuery(_ reason: String) -> StoreError {
    StoreError(.invalidQuery, "cannot use the query: \(reason)")
  }

  private static func badQuery(
    _ reason: String, at position: FormatPosition?, entity: String? = nil, attribute: String? = nil
  ) -> StoreError {
    let place = position.map { "\($0.description): " } ?? ""
    return StoreError(
      .invalidQuery, "cannot use the query: \(place)\(reason)", cause: ConditionFault(position),
      entity: entity, attribute: attribute)
  }

  static func unknownAttribute(
    _ name: String, entity: StoredEntity, position: FormatPosition?
  ) -> StoreError {
    let known = entity.description.declaredAttributes.map(\.name)
    let nearest =
      entity.description.attribute(filledFrom: name)?.name
      ?? NearestName.of(name, among: known + [ValuePath.recordIDName])
    let hint = nearest.map { "did you mean '\($0)'?" } ?? "it has \(known.joined(separator: ", "))"
    return .badQuery(
      "'\(name)' is no attribute of \(entity.name); \(hint)", at: position, entity: entity.name)
  }

  static func nothingInside(
    _ name: String, _ type: String, entity: String, position: FormatPosition?
  ) -> StoreError {
    let length = type == AttributeType.string.name ? ", or its length as length:(\(name))" : ""
    return .badQuery(
      "'\(name)' is stored as \(type) and has nothing inside; name it alone\(length)",
      at: position, entity: entity)
  }

  /// Returns the error for a path to a member that the type lacks.
  ///
  /// - Parameter known: the names of the type's members; `nil` if the type can have none.
  static func unknownMember(
    _ name: String, of type: String, at path: String, known: [String]?, entity: String,
    position: FormatPosition?
  ) -> StoreError {
    var fact = "\(type) has no members"
    if let known {
      fact = "\(type) has no member '\(name)'"
      if let nearest = NearestName.of(name, among: known) {
        fact += "; did you mean '\(nearest)'?"
      } else if !known.isEmpty {
        fact += "; it has \(known.joined(separator: ", "))"
      }
    }
    return .badQuery("'\(path)' does not exist: \(fact)", at: position, entity: entity)
  }

  static func noSuchCase(
    _ value: Value, of cases: any EnumerationCases, attribute: String, position: FormatPosition?
  ) -> StoreError {
    let name = ConditionPrinter.text(.value(value))
    var fact =
      "'\(attribute)' is compared with \(name), which is the raw value of no case of \(cases.name)"
    let known = (cases.rawValues ?? []).map { ConditionPrinter.text(.value($0.value)) }
    if let nearest = NearestName.of(name, among: known) {
      fact += "; did you mean \(nearest)?"
    } else if !known.isEmpty {
      let others = known.count > 20 ? ", …" : ""
      fact += "; there are \(known.prefix(20).joined(separator: ", "))\(others)"
    }
    return .badQuery(fact, at: position, attribute: attribute)
  }

  static func unboundVariable(_ name: String) -> StoreError {
    .badQuery("the variable $\(name) has no value; pass one with the format string")
  }

  static func cannotCompare(
    _ name: String, _ type: String, with kind: String, _ comparison: Comparison,
    position: FormatPosition?
  ) -> StoreError {
    .badQuery(
      "'\(name)' is stored as \(type) and is compared by \(comparison.operator.canonicalText) with "
        + "\(kind); compare it with a value of its type, or convert with CAST", at: position)
  }

  static func cannotCompare(_ left: String, _ right: String, _ text: String) -> StoreError {
    .badQuery(
      "'\(text)' compares \(left) with \(right); compare like with like, or convert one side with CAST"
    )
  }

  static func unreadableConstant(
    _ name: String, _ expectation: String, position: FormatPosition?
  ) -> StoreError {
    .badQuery(
      "'\(name)' is compared with a text that cannot be read; it must be \(expectation)",
      at: position)
  }

  /// Returns the error for a pattern that cannot be used.
  ///
  /// - Parameter comparison: the text of the comparison.
  static func badPattern(_ error: PatternError, in comparison: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot use the query: the pattern in '\(beginning(of: comparison))' is refused: "
        + error.message, cause: error)
  }

  /// Returns the beginning of a long text, enough to recognize it.
  private static func beginning(of text: String) -> String {
    text.utf8.count > 200 ? String(text.unicodeScalars.prefix(100)) + "…" : text
  }

  static func needsIndex(entity: String, condition: String, known: [String]) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot run the query on \(entity) without reading all records, and an index is required: "
        + "no index serves '\(condition)'; it has "
        + (known.isEmpty ? "none" : known.joined(separator: ", ")), entity: entity)
  }

  static func badToken(_ reason: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot continue after the token: \(reason); begin again without a token")
  }

  static func cancelledQuery(_ entity: String) -> StoreError {
    StoreError(.cancelled, "cannot finish the query on \(entity): it was cancelled; run it again")
  }
}
