package import LodestoreFormat

extension QueryRequest {
  /// The request for all records.
  package static var all: QueryRequest { QueryRequest(condition: .constant(true)) }

  /// Requests the records for which the format string is true; nil requests all records.
  ///
  /// - Parameter arguments: the texts for the placeholders `%@`, in their order.
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError``.
  package init(format text: String?, arguments: [String] = []) throws(StoreError) {
    self = .all
    guard let text else { return }
    let parsed = try ConditionParser.parse(
      text, arguments: arguments.map { .value(.string($0)) })
    condition = parsed.tree
    positions = parsed.positions
  }

  /// Requests the records whose attributes equal all these values, by the `==` of conditions.
  package init(equal values: [(attribute: String, value: Value)]) {
    let comparisons = values.map { name, value in
      ConditionTree.comparison(
        Comparison(.path(ValuePath(attribute: name)), .equal, .value(value)))
    }
    self.init(condition: .all(of: comparisons))
  }

  /// Returns the request for the records that also have the words of `text`, the best first.
  ///
  /// - Parameter sources: the texts of the index; by default the entity's only search index.
  package func searching(
    _ text: String, _ mode: SearchMode, in sources: [String] = []
  ) -> QueryRequest {
    var request = self
    let search = ConditionTree.search(text, mode, in: sources)
    request.condition = isOfAll ? search : .all(of: [search, condition])
    request.order = [SortTerm(ValuePath(attribute: ValuePath.scoreName), isDescending: true)]
    return request
  }

  /// Returns the request for the records that are also near a place, the nearest first.
  ///
  /// - Parameter source: the names that lead to the latitude; by default those of the first place
  ///   index.
  package func near(
    _ place: Coordinate, meters: Double?, by source: [String] = []
  ) -> QueryRequest {
    adding(.near, .circle(place, meters), source).nearestFirst
  }

  /// Returns the request for the records that are also within an area.
  package func within(_ box: BoundingBox, by source: [String] = []) -> QueryRequest {
    adding(.within, .box(box), source)
  }

  /// Returns the request for the records that also have a vector, the nearest to `vector` first.
  ///
  /// - Parameter source: the name of the attribute; by default that of the first vector index.
  package func near(
    _ vector: Vector, by measure: VectorMeasure, in source: [String] = []
  ) -> QueryRequest {
    adding(.near, .vector(vector, measure, nil), source).nearestFirst
  }

  /// Returns the request for the same records except that with an id.
  package func except(_ id: UInt64) throws(StoreError) -> QueryRequest {
    var request = self
    let other = try QueryRequest(format: "\(DynamicRecord.idName) != \(id)").condition
    request.condition = .all(of: [condition, other])
    return request
  }

  private func adding(
    _ comparison: Comparison.Operator, _ right: Operand, _ source: [String]
  ) -> QueryRequest {
    var request = self
    let part = ConditionTree.comparison(
      Comparison(.path(ValuePath(.record, source.map { .member($0) })), comparison, right))
    request.condition = isOfAll ? part : .all(of: [part, condition])
    return request
  }

  /// The request for the same records, the nearest first.
  package var nearestFirst: QueryRequest {
    var request = self
    request.order = [SortTerm(ValuePath(attribute: ValuePath.distanceName), isDescending: false)]
    return request
  }

  /// Whether the order is by the distance from a place or vector.
  package var isByDistance: Bool {
    order.first.map { $0.operand == .path(ValuePath(attribute: ValuePath.distanceName)) } ?? false
  }

  /// Returns a format string in the form in which the library prints it.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError``.
  package static func canonicalCondition(_ text: String) throws(StoreError) -> String {
    ConditionPrinter.text(try QueryRequest(format: text).condition)
  }

  /// Whether a part of the condition is a search.
  package var hasSearch: Bool { condition.hasSearch }

  /// Whether the condition is true for every possible record.
  package var isOfAll: Bool { condition == .constant(true) }
}

extension ConditionTree {
  fileprivate var hasSearch: Bool {
    switch self {
    case .all(let parts), .any(let parts): parts.contains(where: \.hasSearch)
    case .not(let part): part.hasSearch
    case .comparison(let comparison): comparison.operator.isSearch
    case .constant, .closure: false
    }
  }
}

extension Condition {
  /// Returns the condition as a format string, which other programs can evaluate.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` if the condition has a part that only Swift code can
  ///   evaluate.
  package func formatString() throws(StoreError) -> String {
    try storedText {
      "the condition '\($0)' has a part that only Swift code can evaluate; use the record's "
        + "attributes alone"
    }
  }
}

extension ValuePath {
  /// Parses a path typed by a person: `name`, `license.type`, `authors[0].name` or
  /// `authors.@count`.
  ///
  /// Returns nil when the text is not a path. The exact name of an attribute needs no quotes,
  /// whatever its characters. `SELF`, the record itself, stands for its id. The attribute need not
  /// exist.
  package init?(_ text: String, of entity: DynamicEntity) {
    guard let path = Self.plain(text, entity.description) ?? Self.parsed(text) else { return nil }
    self = path.steps.isEmpty ? ValuePath(attribute: DynamicRecord.idName) : path
  }

  /// The attribute with which the path begins, or ``DynamicRecord/idName`` for the id.
  ///
  /// Nil when the path does not begin with a name.
  package var attributeName: String? {
    if case .member(let name)? = steps.first { name } else { nil }
  }

  /// Whether the path leads into the attribute's value.
  package var leadsInside: Bool { steps.count > 1 }

  /// Parses names with dots between them, and positions in lists; nil for text that needs the full
  /// grammar of format strings.
  private static func plain(_ text: String, _ entity: EntityDescription) -> ValuePath? {
    if text == DynamicRecord.idName || entity.attribute(named: text) != nil {
      return ValuePath(attribute: text)
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let name = parts.first, entity.attribute(named: String(name)) != nil,
      parts.allSatisfy({ !$0.isEmpty && !$0.contains { "@[]\"'#".contains($0) } })
    else { return nil }
    let inside = parts.dropFirst().map { part in
      let isPosition = part.utf8.allSatisfy { (0x30...0x39).contains($0) }
      return isPosition
        ? Int(part).map(Step.element) ?? .member(String(part)) : .member(String(part))
    }
    return ValuePath(.record, [.member(String(name))] + inside)
  }

  /// Parses a key path with the grammar of format strings, as the argument of `%K`.
  private static func parsed(_ text: String) -> ValuePath? {
    guard let parsed = try? ConditionParser.parse("%K == NULL", arguments: [.path(text)]),
      case .comparison(let comparison) = parsed.tree, case .path(let path) = comparison.left,
      path.root == .record
    else { return nil }
    return path
  }
}

/// A value of each record, as a person types it for an order or for groups.
///
/// The text is a path, also into related records, or an expression of format strings such as
/// `ratings.@max.scale`.
package struct DynamicExpression: Sendable {
  let operand: Operand

  private init(operand: Operand) { self.operand = operand }

  package init(_ path: ValuePath) { self.init(operand: .path(path)) }

  /// Parses `text`; returns nil when it is not an expression.
  ///
  /// The exact name of an attribute needs no quotes, whatever its characters. Planning the query
  /// checks that names exist and types fit.
  package init?(_ text: String, of entity: DynamicEntity) {
    if let path = ValuePath(text, of: entity) {
      self.init(path)
    } else if let parsed = try? ConditionParser.parseOperand(text) {
      self.init(operand: parsed)
    } else {
      return nil
    }
  }

  /// The path, if the expression is a path.
  package var path: ValuePath? { if case .path(let path) = operand { path } else { nil } }
}

extension SortTerm {
  package init(_ expression: DynamicExpression, isDescending: Bool, options: TextOptions) {
    self.init(expression.operand, isDescending: isDescending, options: options)
  }
}

extension StoreError {
  /// The position of the fault in a format string, counted from 1; nil for other errors.
  ///
  /// The column counts Unicode scalars.
  package var formatPosition: (line: Int, column: Int)? {
    switch cause {
    case let fault as PredicateSyntaxError: (fault.line, fault.column)
    case let fault as ConditionFault: (fault.position.line, fault.position.column)
    default: nil
    }
  }
}
