internal import LodestoreFormat

// What indexes say of values inside of documents: an attribute derived from a member, and the entries of an
// index over elements.
extension ConditionBinding {
  /// A test of a derived attribute that is true wherever `comparison` is: one that holds what is at the
  /// path; `nil` where there is none.
  func memberTest(_ comparison: Comparison) throws(StoreError) -> BoundCondition? {
    // An array contains what is no text.
    guard comparison.quantifier == nil, comparison.operator != .contains,
      let (attribute, path, comparison) = try way(comparison), !path.isEmpty
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
    // In an attribute of integers the other numbers are null.
    let isEquality = comparison.operator == .equal || comparison.operator == .in
    guard
      found.type == .double && kind != .bool
        || found.type.isNumber && found.type != .decimal && kind == .integer && isEquality
        || found.type == .bool && kind == .bool && isEquality,
      let test = try test()
    else { return nil }
    // Conditions compare Booleans as 0 and 1; here they are null among numbers, and numbers among them.
    return .any([test, .test(AttributeTest(derived, .null))])
  }

  /// What an index over elements says of `comparison`; `nil` where it says nothing.
  func elements(_ comparison: Comparison) throws(StoreError) -> BoundElements? {
    guard let (attribute, path, given) = try way(comparison) else { return nil }
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
    // Of a text it would be a part.
    case (nil, .contains) where isArray: comparison.operator = .equal
    default: return nil
    }
    comparison.quantifier = nil
    // A text is read as a date where an element is one.
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

  /// The document and the names that lead into it, where the comparison is with constants; turned around
  /// where they are on the left.
  private func way(
    _ comparison: Comparison
  ) throws(StoreError) -> (BoundAttribute, [String], Comparison)? {
    // A quantifier is one of the left side.
    let comparison =
      comparison.quantifier == nil ? comparison.withConstantOnTheRight : comparison
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

  /// Whether what is compared with a text is never a date or a UUID, which would be read from it.
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
    entity.declared.first { $0.number == attribute.number }?.documentType
      .map { DocumentType($0) }
  }
}

/// The kind of one or several constants, of those that index keys compare as conditions do.
private enum ConstantKind {
  case text, bool
  /// Of a size that a double holds exactly, and what is beyond is rounded away from it.
  case integer
  /// The same, among them numbers that are no integers.
  case number

  init?(_ operand: Operand) {
    guard let values = operand.constants else { return nil }
    let kinds = values.map { value -> ConstantKind? in
      switch value {
      // Keys of long texts are cut.
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
  /// Whether the right side is one constant, or a list where the operator takes one.
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
