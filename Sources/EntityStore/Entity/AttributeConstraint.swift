internal import LodestoreFormat

/// A limit on the values of an attribute: a range, a length or a pattern.
///
///     .init("stars", \.stars, constraints: [.range(0...5)])
///     .init("slug", \.slug, constraints: [.length(1...200), .pattern("[a-z0-9-]+")])
///
/// Every write checks the constraints before it changes anything, and throws
/// ``StoreError/Code/invalidValue``. Reads do not check them. Null satisfies every constraint. An
/// attribute has at most one constraint of each kind.
///
/// The file stores the constraints, so `kvdump import` and other programs respect them. Changing
/// constraints takes the same time for any number of records, because stored records are not
/// checked. A record that breaks a newer constraint can be read and left unchanged. Its next change
/// must satisfy the constraint. A default value is checked only when a record gets it.
public struct AttributeConstraint: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case range(minimum: Value, maximum: Value)
    case length(minimum: Int?, maximum: Int?)
    case pattern(String)
  }

  let kind: Kind

  /// Requires a number or date within a closed range.
  ///
  /// The bounds are converted to the attribute's type. Whole numbers fit every number type.
  /// Fractions fit floating point, to which they are rounded, and decimals. NaN is in no range.
  public static func range<V: AttributeValue & Comparable>(
    _ range: ClosedRange<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(
        minimum: range.lowerBound._storedValue.value, maximum: range.upperBound._storedValue.value))
  }

  /// Requires a number or date that is not below a lower bound.
  public static func range<V: AttributeValue & Comparable>(
    _ range: PartialRangeFrom<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(minimum: range.lowerBound._storedValue.value, maximum: .null))
  }

  /// Requires a number or date that is not above an upper bound.
  public static func range<V: AttributeValue & Comparable>(
    _ range: PartialRangeThrough<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(minimum: .null, maximum: range.upperBound._storedValue.value))
  }

  /// Limits the number of Unicode scalars of text and URLs, or of bytes of data.
  ///
  /// JSON Schema counts scalars too: "é" is one scalar or two, depending on how it was written.
  public static func length(_ range: ClosedRange<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: range.lowerBound, maximum: range.upperBound))
  }

  /// Requires a minimum number of Unicode scalars of text and URLs, or of bytes of data.
  public static func length(_ range: PartialRangeFrom<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: range.lowerBound, maximum: nil))
  }

  /// Limits text and URLs to a maximum number of Unicode scalars, or data to a number of bytes.
  public static func length(_ range: PartialRangeThrough<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: nil, maximum: range.upperBound))
  }

  /// Requires that a regular expression matches the whole text, as MATCHES does in a condition.
  ///
  /// Matching takes time O(pattern × text) and compares the Unicode scalars as they are stored.
  public static func pattern(_ pattern: String) -> AttributeConstraint {
    AttributeConstraint(kind: .pattern(pattern))
  }
}

/// The reason why declared constraints contradict each other or the attribute's type, as a clause
/// that follows the attribute's name in a message.
struct ConstraintFault: Error {
  var reason: String
}

extension AttributeConstraints {
  /// Combines the constraints in `list` for an attribute of `type`.
  ///
  /// Throws for two constraints of one kind, and for bounds that the type cannot represent.
  init(_ list: [AttributeConstraint], for type: AttributeType) throws(ConstraintFault) {
    self.init()
    for constraint in list {
      switch constraint.kind {
      case .range(let minimum, let maximum):
        guard !hasRange else { throw ConstraintFault(reason: "has two ranges") }
        self.minimum = try Self.bound(minimum, for: type)
        self.maximum = try Self.bound(maximum, for: type)
      case .length(let minimum, let maximum):
        guard !hasLength else { throw ConstraintFault(reason: "has two lengths") }
        minLength = minimum
        maxLength = maximum
      case .pattern(let pattern):
        guard self.pattern == nil else { throw ConstraintFault(reason: "has two patterns") }
        self.pattern = pattern
      }
    }
  }

  private static func bound(
    _ value: Value, for type: AttributeType
  ) throws(ConstraintFault) -> Value {
    if value == .null { return .null }
    if value.fits(type) { return value }
    guard type.hasOrder, let bound = DynamicValue(value).stored(in: type) else {
      throw ConstraintFault(
        reason: "has a bound that is \(value.kindName) and does not fit \(type.name)")
    }
    return bound
  }

  /// Throws when the constraints cannot apply to attributes of `type`.
  func check(for type: AttributeType) throws(ConstraintFault) {
    if let fault = fault(for: type) { throw ConstraintFault(reason: fault) }
    do {
      _ = try pattern.map { (pattern) throws(PatternError) in
        try RegularExpression(pattern, isCaseless: false)
      }
    } catch {
      throw ConstraintFault(reason: "has a pattern that cannot be used: \(error.message)")
    }
  }
}
