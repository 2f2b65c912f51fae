internal import LodestoreEssentials
internal import LodestoreFormat

/// A Swift type whose `==` gives the same result as comparing stored values in a condition tree.
///
/// Scalars and their optionals are such types. Enumerations are checked one by one. ``JSONValue``
/// and other documents are compared as Swift values only.
protocol ComparedAsStored {
  static var storedOrder: StoredOrder { get }
  /// The constant for a condition; `nil` if a condition tree compares this value differently.
  var comparedValue: Value? { get }
}

/// The relation between Swift's `<` and the order of stored values.
enum StoredOrder {
  case none, same
  /// Swift's order is that of the stored values, except for not-a-number.
  ///
  /// `Decimal` has this relation: its not-a-number equals itself and is below all numbers. In a
  /// condition tree, not-a-number equals nothing and has no order.
  case sameButNaN
}

protocol ScalarComparedAsStored: ComparedAsStored, AttributeValue {}

extension ScalarComparedAsStored {
  static var storedOrder: StoredOrder { .same }
  var comparedValue: Value? { _storedValue.value }
}

extension Int: ScalarComparedAsStored {}
extension Int8: ScalarComparedAsStored {}
extension Int16: ScalarComparedAsStored {}
extension Int32: ScalarComparedAsStored {}
extension Int64: ScalarComparedAsStored {}
extension UInt: ScalarComparedAsStored {}
extension UInt8: ScalarComparedAsStored {}
extension UInt16: ScalarComparedAsStored {}
extension UInt32: ScalarComparedAsStored {}
extension UInt64: ScalarComparedAsStored {}
extension Float: ScalarComparedAsStored {}
extension Double: ScalarComparedAsStored {}
extension String: ScalarComparedAsStored {}
extension UUID: ScalarComparedAsStored {}

extension Bool: ScalarComparedAsStored {
  static var storedOrder: StoredOrder { .none }
}

extension Data: ScalarComparedAsStored {
  static var storedOrder: StoredOrder { .none }
}

extension Date: ScalarComparedAsStored {
  var comparedValue: Value? {
    timeIntervalSinceReferenceDate.isNaN ? nil : .date(timeIntervalSinceReferenceDate)
  }
}

extension URL: ScalarComparedAsStored {
  static var storedOrder: StoredOrder { .none }

  /// The constant for a condition; `nil` for a relative URL, which does not equal the absolute URL
  /// that is read back.
  var comparedValue: Value? { baseURL == nil ? _storedValue.value : nil }
}

extension Decimal: ScalarComparedAsStored {
  static var storedOrder: StoredOrder { .sameButNaN }

  var comparedValue: Value? {
    let stored = DecimalValue(self)
    return isNaN || Decimal(stored) != self ? nil : .decimal(stored)
  }
}

extension RecordID: ScalarComparedAsStored {}

extension Optional: ComparedAsStored where Wrapped: ScalarComparedAsStored {
  static var storedOrder: StoredOrder { Wrapped.storedOrder }

  var comparedValue: Value? {
    switch self {
    case .none: .null
    case .some(let value): value.comparedValue
    }
  }
}

/// An optional of any type.
protocol OptionalValue {
  associatedtype Wrapped
  static var none: Self { get }
  var wrapped: Wrapped? { get }
}

extension Optional: OptionalValue {
  var wrapped: Wrapped? { self }
}

extension StoredOrder {
  /// Creates the relation for a type; `nil` if a tree compares values of `T` differently.
  init?<T>(of type: T.Type) {
    if let type = T.self as? any ComparedAsStored.Type {
      self = type.storedOrder
    } else {
      guard hasStoredRawValue(wrappedType(of: type) ?? type) else { return nil }
      self = .none
    }
  }
}

/// Converts Swift values to the constants that a condition tree compares.
enum StoredEquivalent {
  /// Returns whether the type is an optional of an optional.
  ///
  /// A store keeps only one level of nil.
  static func isNestedOptional<T>(_ type: T.Type) -> Bool {
    wrappedType(of: type) is any OptionalValue.Type
  }

  /// Returns the constant to compare with instead of `value`, or `nil` if none exists.
  ///
  /// Of types with a raw value only enumerations are converted, since a struct may define an `==`
  /// that does not compare raw values.
  static func value(for value: Any) -> Value? {
    func rawValue<R: RawRepresentable>(_ value: R) -> Value? {
      guard Mirror(reflecting: value).displayStyle == .enum else { return nil }
      return (value.rawValue as? any ScalarComparedAsStored)?.comparedValue
    }
    if let value = value as? any ComparedAsStored { return value.comparedValue }
    if let value = value as? any OptionalValue, isNil(value) { return .null }
    if let value = value as? any RawRepresentable { return rawValue(value) }
    return nil
  }

  private static func isNil(_ value: some OptionalValue) -> Bool { value.wrapped == nil }
}

/// Returns the type wrapped by an optional type, or `nil` for other types.
private func wrappedType(of type: Any.Type) -> Any.Type? {
  func wrapped<O: OptionalValue>(_: O.Type) -> Any.Type { O.Wrapped.self }
  return (type as? any OptionalValue.Type).map { wrapped($0) }
}

private func hasStoredRawValue(_ type: Any.Type) -> Bool {
  func rawType<R: RawRepresentable>(_: R.Type) -> Any.Type { R.RawValue.self }
  guard let type = type as? any RawRepresentable.Type else { return false }
  return rawType(type) is any ScalarComparedAsStored.Type
}
