internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Turns the comparison of a scalar attribute with a constant into an ``AttributeTest``.
struct AttributeTestBinding {
  private let attribute: BoundAttribute
  private let comparison: Comparison
  private let binding: ConditionBinding

  init(_ attribute: BoundAttribute, _ comparison: Comparison, _ binding: ConditionBinding) {
    self.attribute = attribute
    self.comparison = comparison
    self.binding = binding
  }

  /// Returns the test, or `nil` if the comparison needs an expression.
  func bound() throws(StoreError) -> BoundCondition? {
    switch comparison.right {
    case .value(let value): return try single(value)
    case .values(let values): return try several(values)
    default: return nil
    }
  }

  // MARK: One constant

  private func single(_ constant: Value) throws(StoreError) -> BoundCondition? {
    let isText = attribute.type == .string || attribute.type == .url
    switch comparison.operator {
    case .equal where constant == .null: return .test(AttributeTest(attribute, .null))
    case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual:
      if constant == .null { return .constant(false) }
      return try order(comparison.operator, constant).map(BoundCondition.test)
    case .beginsWith, .endsWith, .contains, .like, .matches:
      guard isText else { throw mismatch(constant) }
      if constant == .null { return .constant(false) }
      return try text(comparison.operator, constant).map(BoundCondition.test)
    case .in where isText:
      guard case .string = constant else { throw mismatch(constant) }
      return nil
    case .notEqual, .between, .in, .search, .searchAny, .searchPrefix, .within, .near:
      throw mismatch(constant)
    }
  }

  private func order(
    _ operator: Comparison.Operator, _ constant: Value
  ) throws(StoreError) -> AttributeTest? {
    if case .double(let number) = constant, number.isInfinite, attribute.type == .decimal {
      return AttributeTest(attribute, .key(try decimals(`operator`, isNegative: number < 0)))
    }
    let constant = try fitted(constant)
    switch attribute.type {
    case .string, .url: return try text(`operator`, constant)
    case .data, .uuid, .decimal:
      return AttributeTest(attribute, .key(try keys(`operator`, constant)))
    case .json, .document: return nil
    default:
      guard let interval = NumberInterval(`operator`, constant, attribute.type) else {
        throw mismatch(constant)
      }
      return AttributeTest(attribute, .interval(interval))
    }
  }

  private func text(
    _ operator: Comparison.Operator, _ constant: Value
  ) throws(StoreError) -> AttributeTest? {
    guard case .string(let text) = constant, let operation = `operator`.textOperation else {
      throw mismatch(constant)
    }
    let test = try binding.textTest(
      operation, text, comparison.options, in: ConditionPrinter.text(.comparison(comparison)))
    return AttributeTest(attribute, .text(test, `operator`, text, comparison.options))
  }

  private func keys(
    _ operator: Comparison.Operator, _ constant: Value
  ) throws(StoreError) -> KeyInterval {
    let element = try element(constant)
    let included = KeyInterval.Bound(element: element, isIncluded: true)
    let excluded = KeyInterval.Bound(element: element, isIncluded: false)
    // A decimal not-a-number sorts after all numbers in keys, but compares as neither less nor
    // greater. The bounds leave it out.
    let top: KeyInterval.Bound? =
      attribute.type == .decimal
      ? KeyInterval.Bound(element: try self.element(.decimal(.nan)), isIncluded: false) : nil
    if constant == .decimal(.nan) { return KeyInterval(lower: excluded, upper: excluded) }
    return switch `operator` {
    case .less: KeyInterval(lower: nil, upper: excluded)
    case .lessOrEqual: KeyInterval(lower: nil, upper: included)
    case .greater: KeyInterval(lower: excluded, upper: top)
    case .greaterOrEqual: KeyInterval(lower: included, upper: top)
    default: KeyInterval(lower: included, upper: included)
    }
  }

  /// Returns the decimals for which the comparison with an infinity is true: all of them or none.
  private func decimals(
    _ operator: Comparison.Operator, isNegative: Bool
  ) throws(StoreError) -> KeyInterval {
    let end = KeyInterval.Bound(element: try element(.decimal(.nan)), isIncluded: false)
    let isBelow = `operator` == .less || `operator` == .lessOrEqual
    let isAbove = `operator` == .greater || `operator` == .greaterOrEqual
    return KeyInterval(lower: (isNegative ? isAbove : isBelow) ? nil : end, upper: end)
  }

  // MARK: Lists

  private func several(_ constants: [Value]) throws(StoreError) -> BoundCondition? {
    switch comparison.operator {
    case .between:
      guard constants.count == 2 else {
        throw .badQuery(
          "BETWEEN takes a list of two, found \(constants.count) for '\(attribute.name)'")
      }
      if constants.contains(.null) { return .constant(false) }
      guard let low = try order(.greaterOrEqual, constants[0]),
        let high = try order(.lessOrEqual, constants[1])
      else { return nil }
      if case (.interval(let a), .interval(let b)) = (low.kind, high.kind) {
        return .test(AttributeTest(attribute, .interval(a.intersection(b))))
      }
      return .all([.test(low), .test(high)])
    case .in:
      return comparison.options.isEmpty ? .test(try membership(constants)) : try folded(constants)
    default:
      throw .badQuery(
        "'\(attribute.name)' is compared with a list; use IN or BETWEEN, or ANY on the list's side")
    }
  }

  private func membership(_ constants: [Value]) throws(StoreError) -> AttributeTest {
    let isText = attribute.type == .string || attribute.type == .url
    let isKey = isText || [.data, .uuid, .decimal].contains(attribute.type)
    var list = MembershipList(expectedCount: constants.count)
    // The texts of a long list may be scattered in memory, so they are prefetched.
    try StringPrefetch.forEach(constants) { (constant) throws(StoreError) in
      if case .null = constant {
        list.admitsNull = true
      } else if isText, case .string(let text) = constant {
        list.append(text)
      } else if isKey {
        let constant = try fitted(constant)
        if constant != .decimal(.nan), !list.append(constant) { throw mismatch(constant) }
      } else {
        let constant = try fitted(constant)
        guard let interval = NumberInterval(.equal, constant, attribute.type) else {
          throw mismatch(constant)
        }
        // The interval is empty if no value of the attribute equals the constant. For zero it has
        // two keys, those of −0 and 0.
        if !interval.isEmpty { list.numbers += interval.low...interval.high }
      }
    }
    return AttributeTest(
      attribute, isKey ? .keys(list.keys) : .numbers(NumberSet(list.numbers)),
      admitsNull: list.admitsNull)
  }

  /// Returns the condition for `IN` with the options `[c]` or `[d]`.
  private func folded(_ constants: [Value]) throws(StoreError) -> BoundCondition {
    var parts: [BoundCondition] = []
    for constant in constants {
      if constant == .null {
        parts.append(.test(AttributeTest(attribute, .null)))
      } else if let test = try order(.equal, constant) {
        parts.append(.test(test))
      }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .constant(false) : .any(parts)
  }

  // MARK: Constants

  /// Converts the constant to the attribute's kind.
  ///
  /// Text is parsed as a date, a UUID, a decimal or Base64, depending on the attribute.
  private func fitted(_ constant: Value) throws(StoreError) -> Value {
    switch (constant, attribute.type) {
    case (.string(let text), .date), (.string(let text), .uuid), (.string(let text), .data),
      (.string(let text), .decimal):
      guard let value = Value(text: text, as: attribute.type) else { throw unreadable(constant) }
      return value
    case (.integer(let number), .decimal):
      return .decimal(
        DecimalValue(
          isNegative: number < 0, exponent: 0, significand: UInt128(number.magnitude)))
    case (.unsigned(let number), .decimal):
      return .decimal(DecimalValue(isNegative: false, exponent: 0, significand: UInt128(number)))
    case (.double(let number), .decimal):
      return .decimal(DecimalValue(text: number.description) ?? .nan)
    case (.string, .string), (.string, .url), (.uuid, .uuid), (.data, .data),
      (.decimal, .decimal), (.date, .date):
      return constant
    case (_, .string), (_, .url), (_, .uuid), (_, .data), (_, .decimal), (_, .date),
      (.string, _), (.document, _):
      throw mismatch(constant)
    default: return constant
    }
  }

  private func element(_ constant: Value) throws(StoreError) -> [UInt8] {
    var encoder = KeyEncoder()
    do { try encoder.append(constant) } catch { throw mismatch(constant) }
    return Array(encoder.bytes)
  }

  private func mismatch(_ constant: Value) -> StoreError {
    .cannotCompare(
      attribute.name, attribute.type.name, with: constant.kindName, comparison, position: position)
  }

  private func unreadable(_ constant: Value) -> StoreError {
    .unreadableConstant(attribute.name, attribute.type.expectation, position: position)
  }

  private var position: FormatPosition? {
    if case .path(let path) = comparison.left { return binding.position(of: path) }
    return nil
  }
}

/// The constants of a list, as numbers or as elements of index keys.
private struct MembershipList: ~Copyable {
  var admitsNull = false
  var numbers: [Int64] = []
  private let elements: KeyEntries
  private var encoder = KeyEncoder()

  init(expectedCount: Int) { elements = KeyEntries(expectedCount: expectedCount) }

  mutating func append(_ text: String) {
    encoder.reset()
    var text = text
    text.withUTF8 { encoder.append(text: ByteView($0)) }
    elements.append(key: encoder.bytes, recordID: 0)
  }

  /// Adds the constant's key, and returns false if the constant has no key.
  mutating func append(_ constant: Value) -> Bool {
    encoder.reset()
    do { try encoder.append(constant) } catch { return false }
    elements.append(key: encoder.bytes, recordID: 0)
    return true
  }

  /// The keys in ascending order.
  var keys: KeySet { KeySet(keys: PackedKeys(sorting: elements)) }
}
