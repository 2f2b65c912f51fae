internal import LodestoreFormat

// Comparisons of values inside documents that an index can answer: by an attribute derived from a
// member, or by an element index.
extension ConditionBinding {
  /// Returns a test of an attribute derived from the member at the path, or `nil` if no attribute
  /// is derived from this member.
  ///
  /// The test is true for every record for which `comparison` is true.
  func memberTest(_ comparison: Comparison) throws(StoreError) -> BoundCondition? {
    // CONTAINS can also be true of an array, for which the derived attribute holds null. So the
    // attribute cannot find such records.
    guard comparison.quantifier == nil, comparison.operator != .contains,
      let (attribute, path, comparison) = try documentPath(comparison), !path.isEmpty
    else { return nil }
    let found = entity.description.declaredAttributes.first {
      $0.derivation?.kind == .member && $0.derivation?.source == attribute.number
        && path.hasSameBytes(as: $0.derivation?.path ?? [])
    }
    guard let found, let kind = ConstantKind(comparison.right) else { return nil }
    let derived = BoundAttribute(found)
    func test() throws(StoreError) -> BoundCondition? {
      try AttributeTestBinding(derived, comparison, self).bound()
    }
    if kind == .text {
      guard found.type == .string, try hasTexts(comparison, attribute) else { return nil }
      return try test()
    }
    // A derived integer attribute holds null for other numbers, so it serves equality only.
    let isEquality = comparison.operator == .equal || comparison.operator == .in
    guard
      found.type == .double && kind != .bool
        || found.type.isNumber && found.type != .decimal && kind == .integer && isEquality
        || found.type == .bool && kind == .bool && isEquality,
      let test = try test()
    else { return nil }
    // Conditions compare Booleans as 0 and 1. A derived attribute of numbers holds null for a
    // Boolean, and one of Booleans null for a number, so records with null pass.
    return .any([test, .test(AttributeTest(derived, .null))])
  }

  /// Returns the test of `comparison` that an element index can answer, or `nil` if none exists.
  func elements(_ comparison: Comparison) throws(StoreError) -> BoundElements? {
    guard let (attribute, path, given) = try documentPath(comparison.withCollectionOnTheLeft) else {
      return nil
    }
    var comparison = given
    var isArray = false
    var isOfTexts = attribute.type == .json
    if attribute.type == .document, case .path(let whole) = comparison.left,
      let type = path.isEmpty ? documentType(of: attribute) : try self.type(at: whole)
    {
      let element = (type.element ?? type).type
      isOfTexts = element is String.Type || element is String?.Type
      isArray = path.isEmpty && type.element != nil
    }
    switch (comparison.quantifier, comparison.operator) {
    case (.any, .equal), (.any, .less), (.any, .lessOrEqual), (.any, .greater),
      (.any, .greaterOrEqual), (.any, .between), (.any, .in), (.any, .beginsWith):
      break
    // On a text, CONTAINS would search for a part of it, so only arrays are served.
    case (nil, .contains) where isArray: comparison.operator = .equal
    default: return nil
    }
    comparison.quantifier = nil
    // A text constant is served only if the elements are texts. If elements may be dates, the
    // constant would have to be compared as a date too.
    guard let kind = ConstantKind(comparison.right), kind != .text || isOfTexts else { return nil }
    if kind == .bool { comparison.right = comparison.right.withNumbersForBooleans }
    let element = BoundAttribute(elementsAs: kind == .text ? .string : .double)
    guard kind == .text || comparison.operator != .beginsWith,
      case .test(let test)? = try AttributeTestBinding(element, comparison, self).bound()
    else { return nil }
    let isEquality = comparison.operator == .equal || comparison.operator == .in
    return BoundElements(
      attribute: attribute.number, path: path, test: test, isExact: isEquality && kind == .text)
  }

  /// Returns the document, the member names that lead into it, and the comparison with its
  /// constants on the right.
  ///
  /// Returns `nil` if the other side is no constant.
  private func documentPath(
    _ comparison: Comparison
  ) throws(StoreError) -> (BoundAttribute, [String], Comparison)? {
    // A quantifier belongs to the left side, so such a comparison is not turned around.
    let comparison = comparison.quantifier == nil ? comparison.withConstantOnTheRight : comparison
    guard comparison.options.isEmpty, case .path(let path) = comparison.left,
      path.root == .record, !path.steps.isEmpty, comparison.hasFittingConstants,
      relationship(path) == nil
    else { return nil }
    let attribute = try attribute(of: path)
    guard attribute.type == .json || attribute.type == .document else { return nil }
    var names: [String] = []
    for step in path.steps.dropFirst() {
      guard case .member(let name) = step else { return nil }
      names.append(name)
    }
    return (attribute, names, comparison)
  }

  /// Returns whether the left side is never a date or a UUID.
  ///
  /// A text constant that is compared with a date or a UUID is read as one.
  private func hasTexts(
    _ comparison: Comparison, _ attribute: BoundAttribute
  ) throws(StoreError) -> Bool {
    if attribute.type == .json { return true }
    guard case .path(let path) = comparison.left, let type = try type(at: path)?.type else {
      return false
    }
    return type is String.Type || type is String?.Type
  }

  private func documentType(of attribute: BoundAttribute) -> DocumentType? {
    entity.declared.first { $0.number == attribute.number }?.documentType.map { DocumentType($0) }
  }
}

/// The kind of one or several constants that index keys compare in the same way as conditions do.
private enum ConstantKind {
  case text, bool
  /// Integers below 2^53 in magnitude, which a double holds exactly.
  ///
  /// Larger integers in documents round to doubles that differ from all of these.
  case integer
  /// Numbers below 2^53 in magnitude, not all of them integers.
  case number

  init?(_ operand: Operand) {
    guard let values = operand.constants else { return nil }
    let kinds = values.map { value -> ConstantKind? in
      switch value {
      // Index keys of long texts are cut, so they do not compare like the texts.
      case .string(let text): text.utf8.count < 150 ? .text : nil
      case .bool: .bool
      case .integer(let number) where number.magnitude < 1 << 53: .integer
      case .double(let number) where number.magnitude < 0x1p53: .number
      default: nil
      }
    }
    guard let first = kinds.first, let first else { return nil }
    if kinds.allSatisfy({ $0 == first }) {
      self = first
    } else if kinds.allSatisfy({ $0 == .integer || $0 == .number }) {
      self = .number
    } else {
      return nil
    }
  }
}

extension Comparison {
  /// Whether the right side is a list for IN and BETWEEN, and one constant for other operators.
  fileprivate var hasFittingConstants: Bool {
    switch right {
    case .value: `operator` != .in && `operator` != .between
    case .values: `operator` == .in || `operator` == .between
    default: false
    }
  }
}

extension Operand {
  fileprivate var withNumbersForBooleans: Operand {
    func number(_ value: Value) -> Value {
      if case .bool(let flag) = value { .integer(flag ? 1 : 0) } else { value }
    }
    return switch self {
    case .value(let value): .value(number(value))
    case .values(let list): .values(list.map(number))
    default: self
    }
  }
}

extension Comparison {
  /// `tags CONTAINS "x"` for `"x" IN tags`.
  fileprivate var withCollectionOnTheLeft: Comparison {
    guard self.operator == .in, quantifier == nil, left.isConstant, case .path = right else {
      return self
    }
    var turned = self
    turned.operator = .contains
    (turned.left, turned.right) = (right, left)
    return turned
  }
}
