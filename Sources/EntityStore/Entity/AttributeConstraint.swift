internal import LodestoreFormat

/// What the values of an attribute must be beyond having its type: a range, a length, a pattern.
///
///     .init("stars", \.stars, constraints: [.range(0...5)])
///     .init("slug", \.slug, constraints: [.length(1...200), .pattern("[a-z0-9-]+")])
///
/// Every write checks them before anything is written and throws ``StoreError/Code/invalidValue``;
/// reads do not. Null passes all of them. An attribute has one of each kind at most. They are kept
/// in the file, so that `kvdump import` and other programs keep to them; changing them costs the
/// same for any number of records, and stored records are not checked: one that breaks a newer
/// constraint can be read, and left as it is, and must keep to it when it is next changed. A
/// default value is not checked before a record has it.
public struct AttributeConstraint: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case range(minimum: Value, maximum: Value)
    case length(minimum: Int?, maximum: Int?)
    case pattern(String)
  }

  let kind: Kind

  /// From a lowest to a highest number or date.
  ///
  /// The bounds are taken in the attribute's type: whole numbers are good for every number,
  /// fractions for floating point, to which they are rounded, and decimals. Not-a-number is in no
  /// range.
  public static func range<V: AttributeValue & Comparable>(
    _ range: ClosedRange<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(
        minimum: range.lowerBound._storedValue.value, maximum: range.upperBound._storedValue.value))
  }

  /// From a lowest number or date on.
  public static func range<V: AttributeValue & Comparable>(
    _ range: PartialRangeFrom<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(minimum: range.lowerBound._storedValue.value, maximum: .null))
  }

  /// Up to a highest number or date.
  public static func range<V: AttributeValue & Comparable>(
    _ range: PartialRangeThrough<V>
  ) -> AttributeConstraint {
    AttributeConstraint(
      kind: .range(minimum: .null, maximum: range.upperBound._storedValue.value))
  }

  /// How many Unicode scalars text and URLs have, or bytes data.
  ///
  /// Scalars are what JSON Schema counts: "é" is one or two, as it was written.
  public static func length(_ range: ClosedRange<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: range.lowerBound, maximum: range.upperBound))
  }

  /// How many Unicode scalars text and URLs have at least, or bytes data.
  public static func length(_ range: PartialRangeFrom<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: range.lowerBound, maximum: nil))
  }

  /// How many Unicode scalars text and URLs have at most, or bytes data.
  public static func length(_ range: PartialRangeThrough<Int>) -> AttributeConstraint {
    AttributeConstraint(kind: .length(minimum: nil, maximum: range.upperBound))
  }

  /// A regular expression that the whole text matches, as with MATCHES in a condition.
  ///
  /// It is matched in time O(pattern × text) and looks at scalars as they are stored.
  public static func pattern(_ pattern: String) -> AttributeConstraint {
    AttributeConstraint(kind: .pattern(pattern))
  }
}

/// Why constraints cannot be used: a clause behind the attribute's name.
struct ConstraintFault: Error {
  var reason: String
}

extension AttributeConstraints {
  /// What `list` says of an attribute of `type`; throws for one that is there twice and for bounds
  /// that the type does not have.
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

  /// Throws what makes them useless for attributes of `type`.
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
