package import LodestoreFormat

extension QueryRequest {
  /// All records.
  package static var all: QueryRequest { QueryRequest(condition: .constant(true)) }

  /// The records for which the format string is true; nil is all of them.
  ///
  /// - Parameter arguments: the texts that the marks `%@` stand for, in their order.
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError``.
  package init(format text: String?, arguments: [String] = []) throws(StoreError) {
    self = .all
    guard let text else { return }
    let parsed = try ConditionParser.parse(
      text, arguments: arguments.map { .value(.string($0)) })
    condition = parsed.tree
    positions = parsed.positions
  }

  /// The records whose attributes have all these values, as `==` of conditions compares.
  package init(equal values: [(attribute: String, value: Value)]) {
    let comparisons = values.map { name, value in
      ConditionTree.comparison(
        Comparison(.path(ValuePath(attribute: name)), .equal, .value(value)))
    }
    self.init(condition: .all(of: comparisons))
  }

  /// Whether the condition leaves no record out, whatever the records are.
  package var isOfAll: Bool { condition == .constant(true) }
}

extension ValuePath {
  /// A path as a person types it: `name`, `license.type`, `authors[0].name` or `authors.@count`; nil
  /// when it is none.
  ///
  /// What names an attribute as it is needs no quotes, whatever characters it has. The record itself,
  /// `SELF`, is its id. Whether the attribute exists is not looked at.
  package init?(_ text: String, of entity: DynamicEntity) {
    guard let path = Self.plain(text, entity.description) ?? Self.parsed(text) else { return nil }
    self = path.steps.isEmpty ? ValuePath(attribute: DynamicRecord.idName) : path
  }

  /// The attribute that the path begins with, ``DynamicRecord/idName`` for the id; nil when it begins
  /// with none.
  package var attributeName: String? {
    if case .member(let name)? = steps.first { name } else { nil }
  }

  /// Whether the path leads into the attribute's value.
  package var leadsInside: Bool { steps.count > 1 }

  /// Names, and positions in lists, with dots between them; nil for what the grammar must read.
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

  /// What the grammar of format strings reads as a key path; it takes one as the argument of `%K`.
  private static func parsed(_ text: String) -> ValuePath? {
    guard let parsed = try? ConditionParser.parse("%K == NULL", arguments: [.path(text)]),
      case .comparison(let comparison) = parsed.tree, case .path(let path) = comparison.left,
      path.root == .record
    else { return nil }
    return path
  }
}

/// A value of each record, as a person types it for an order or groups: a path, also of related
/// records, or an expression of format strings such as `ratings.@max.scale`.
package struct DynamicExpression: Sendable {
  let operand: Operand

  private init(operand: Operand) { self.operand = operand }

  package init(_ path: ValuePath) { self.init(operand: .path(path)) }

  /// The expression that `text` says; nil when it says none.
  ///
  /// Text that names an attribute needs no quotes, whatever characters it has. Whether names exist
  /// and types fit is checked when the query is planned.
  package init?(_ text: String, of entity: DynamicEntity) {
    if let path = ValuePath(text, of: entity) {
      self.init(path)
    } else if let parsed = try? ConditionParser.parseOperand(text) {
      self.init(operand: parsed)
    } else {
      return nil
    }
  }

  /// The path, where the expression is one.
  package var path: ValuePath? { if case .path(let path) = operand { path } else { nil } }
}

extension SortTerm {
  package init(_ expression: DynamicExpression, isDescending: Bool, options: TextOptions) {
    self.init(expression.operand, isDescending: isDescending, options: options)
  }
}

extension StoreError {
  /// Where in a format string the fault is, from 1, the column in Unicode scalars; nil for other errors.
  package var formatPosition: (line: Int, column: Int)? {
    switch cause {
    case let fault as PredicateSyntaxError: (fault.line, fault.column)
    case let fault as ConditionFault: (fault.position.line, fault.position.column)
    default: nil
    }
  }
}
