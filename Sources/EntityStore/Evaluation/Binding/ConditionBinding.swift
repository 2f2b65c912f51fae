internal import LodestoreFormat

/// Binds a condition to an entity before any record is read.
///
/// Binding resolves names, converts constants to the types they are compared with, and refuses
/// comparisons of types that cannot be compared.
struct ConditionBinding {
  let entity: StoredEntity
  /// The positions of paths in the format string that the condition was parsed from, for errors.
  let positions: [String: FormatPosition]
  /// The schema with the relationships; `nil` where conditions may not use related records.
  let schema: StoredSchema?
  /// The transaction whose expired records are left out of conditions on related records.
  private(set) var core: TransactionCore?
  /// The variables of the enclosing SUBQUERYs, outermost first, with the types of their elements
  /// where known.
  private(set) var variables: [(name: String, type: DocumentType?)] = []
  static let deepestSubquery = 3
  /// The condition to whose search `_score` refers in an order, and to whose `NEAR` `_distance`.
  var condition: BoundCondition?
  /// Whether the condition is stored in the file, so that it must mean the same in every program.
  var isOfRule = false

  static func bind(
    _ tree: ConditionTree, to entity: StoredEntity, positions: [String: FormatPosition] = [:],
    schema: StoredSchema? = nil
  ) throws(StoreError) -> BoundCondition {
    var binding = ConditionBinding(entity, positions, schema)
    return try binding.bind(tree)
  }

  init(
    _ entity: StoredEntity, _ positions: [String: FormatPosition] = [:],
    _ schema: StoredSchema? = nil
  ) {
    self.entity = entity
    self.positions = positions
    self.schema = schema
  }

  /// Creates a binding for the conditions of a query that `core` runs.
  init(_ entity: StoredEntity, _ positions: [String: FormatPosition], core: TransactionCore) {
    self.init(entity, positions, core.schema)
    self.core = core
  }

  /// Returns the binding for conditions on the records that `end` leads to.
  func binding(of end: RelationshipEnd) -> ConditionBinding {
    var binding = ConditionBinding(end.target, positions, schema)
    binding.core = core
    return binding
  }

  mutating func bind(_ tree: ConditionTree) throws(StoreError) -> BoundCondition {
    switch tree {
    case .constant(let flag): return .constant(flag)
    case .all(let parts): return .all(try parts.map { (part) throws(StoreError) in try bind(part) })
    case .any(let parts): return .any(try parts.map { (part) throws(StoreError) in try bind(part) })
    case .not(let part): return .not(try bind(part))
    case .closure(let closure): return .closure(closure)
    case .comparison(let comparison): return try bind(comparison)
    }
  }

  // MARK: Comparisons

  private mutating func bind(_ given: Comparison) throws(StoreError) -> BoundCondition {
    if given.operator.isSearch { return .search(try search(given)) }
    if given.operator.isOfPlaces { return .proximity(try proximity(given.withFoldedConstants())) }
    let comparison = try withDerivedParts(given.withFoldedConstants())
    if comparison.operator == .notEqual, comparison.quantifier == nil {
      var equality = comparison
      equality.operator = .equal
      return .not(try bind(equality))
    }
    if let test = try relatedTest(comparison) { return test }
    if let range = try dateRange(comparison) { return try bind(range) }
    if comparison.quantifier == nil, let test = try attributeTest(comparison) { return test }
    var expression = try expression(comparison)
    expression.elements = try elements(comparison)
    if let member = try memberTest(comparison) { return .all([member, .expression(expression)]) }
    return .expression(expression)
  }

  /// Returns the comparison as a test of one attribute, or `nil` for any other comparison.
  private func attributeTest(_ comparison: Comparison) throws(StoreError) -> BoundCondition? {
    let comparison = comparison.withConstantOnTheRight
    guard case .path(let path) = comparison.left, path.root == .record, path.steps.count <= 1,
      comparison.right.isConstant
    else { return nil }
    let attribute = try self.attribute(of: path)
    guard attribute.type != .json, attribute.type != .document else { return nil }
    return try AttributeTestBinding(attribute, comparison, self).bound()
  }

  private mutating func expression(_ comparison: Comparison) throws(StoreError) -> BoundComparison {
    let bound = BoundComparison(
      quantifier: comparison.quantifier, left: try operand(comparison.left),
      operator: comparison.operator, options: comparison.options,
      right: try operand(comparison.right), pattern: nil,
      text: ConditionPrinter.text(.comparison(comparison)))
    let fitted = try OperandTypes.fitted(bound, comparison, self)
    return try withPattern(fitted)
  }

  private func withPattern(_ comparison: BoundComparison) throws(StoreError) -> BoundComparison {
    guard let operation = comparison.operator.textOperation,
      comparison.operator.isTextOnly, case .value(.string(let operand)) = comparison.right
    else { return comparison }
    var result = comparison
    result.pattern = try textTest(operation, operand, comparison.options, in: comparison.text)
    return result
  }

  func textTest(
    _ operation: TextTest.Operation, _ operand: String, _ options: TextOptions,
    in comparison: @autoclosure () -> String
  ) throws(StoreError) -> TextTest {
    do {
      return try TextTest(operation, operand, options: options)
    } catch {
      throw .badPattern(error, in: comparison())
    }
  }

  // MARK: Operands

  mutating func operand(_ operand: Operand) throws(StoreError) -> BoundOperand {
    switch operand {
    case .value(let value): return BoundOperand(value)
    case .values(let values): return .list(values.map { BoundOperand($0) })
    case .list(let elements): return .list(try operands(elements))
    case .path(let path): return try bind(path)
    case .variable(let name): throw .unboundVariable(name)
    case .arithmetic(let op, let left, let right):
      let (left, right) = (try self.operand(left), try self.operand(right))
      if op.isBitwise { try checkBits(operand, left, right) }
      return .arithmetic(op, left, right)
    case .negative(let inner): return .negative(try self.operand(inner))
    case .conditional(let test, let yes, let no):
      return .conditional(try bind(test), try self.operand(yes), try self.operand(no))
    case .subquery(let collection, let variable, let test, let steps):
      if let related = try relatedSubquery(collection, variable, test, steps) { return related }
      let elements = try self.operand(collection)
      guard variables.count < Self.deepestSubquery else {
        throw .badQuery(
          "more than \(Self.deepestSubquery) SUBQUERYs are nested; each multiplies the time of a "
            + "record by the size of its collection")
      }
      variables.append((variable, try type(of: collection)?.element))
      defer { variables.removeLast() }
      return .subquery(elements, try bind(test), steps)
    case .cast(let inner, let type): return .cast(try self.operand(inner), type)
    case .call(let function, let arguments):
      if let part = function.calendarPart { return try datePart(part, arguments) }
      return .call(function, try operands(arguments))
    }
  }

  /// Throws if an operand of a bitwise operator has no bits: `&` may be meant as `&&`.
  private func checkBits(
    _ operand: Operand, _ left: BoundOperand, _ right: BoundOperand
  ) throws(StoreError) {
    for side in [left, right] {
      let kind = OperandTypes.kind(side)
      guard ![.number, .any, .null].contains(kind) else { continue }
      throw .badQuery(
        "'\(ConditionPrinter.text(operand))' takes the bits of \(kind.words), and only integers have "
          + "bits; AND (&&) and OR (||) combine conditions")
    }
  }

  private mutating func operands(_ list: [Operand]) throws(StoreError) -> [BoundOperand] {
    try list.map { (element) throws(StoreError) in try operand(element) }
  }

  private mutating func bind(_ path: ValuePath) throws(StoreError) -> BoundOperand {
    if case .variable(let name) = path.root {
      guard let index = variables.lastIndex(where: { $0.name == name }) else {
        throw .unboundVariable(name)
      }
      _ = try type(at: path)
      return .element(depth: variables.count - 1 - index, path.steps)
    }
    if let (end, rest) = relationship(path) { return try relatedOperand(end, rest) }
    if let search = try scored(path) { return .score(search) }
    if let place = try measured(path) { return .distance(place) }
    let attribute = try attribute(of: path)
    let rest = Array(path.steps.dropFirst())
    if !rest.isEmpty, attribute.type != .json, attribute.type != .document {
      throw .nothingInside(
        attribute.name, attribute.type.name, entity: entity.name, position: position(of: path))
    }
    if !rest.isEmpty { _ = try type(at: path) }
    return .attribute(attribute, rest)
  }

  /// Returns the attribute that `path` begins with, or the record's id for SELF.
  func attribute(of path: ValuePath) throws(StoreError) -> BoundAttribute {
    guard let step = path.steps.first else { return .recordID }
    guard case .member(let name) = step else {
      throw .unknownAttribute(
        ConditionPrinter.text(.path(path)), entity: entity, position: position(of: path))
    }
    return try attribute(named: name, position: position(of: path))
  }

  /// Returns the attribute with this name, or throws if the entity has none.
  ///
  /// - Parameter position: evaluated only for an error, since it needs the text of the path.
  func attribute(
    named name: String, position: @autoclosure () -> FormatPosition? = nil
  ) throws(StoreError) -> BoundAttribute {
    if let attribute = entity.description.attribute(named: name) {
      return BoundAttribute(attribute)
    }
    if name == ValuePath.recordIDName { return .recordID }
    throw .unknownAttribute(name, entity: entity, position: position())
  }

  func position(of path: ValuePath) -> FormatPosition? {
    positions.isEmpty ? nil : positions[ConditionPrinter.text(.path(path))]
  }
}

extension Comparison.Operator {
  var textOperation: TextTest.Operation? {
    switch self {
    case .equal: .equal
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .contains: .contains
    case .like: .like
    case .matches: .matches
    case .notEqual, .between, .in, .search, .searchAny, .searchPrefix, .within, .near: nil
    }
  }

  /// Whether the operator requires text on both sides.
  var isTextOnly: Bool {
    switch self {
    case .beginsWith, .endsWith, .like, .matches: true
    default: false
    }
  }
}

extension BoundOperand {
  init(_ value: Value) {
    if case .document(let bytes) = value {
      self = .document(ConstantDocument(bytes))
    } else {
      self = .value(value)
    }
  }
}
