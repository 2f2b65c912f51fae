internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A Swift type whose `==` is that of its stored values in a condition tree.
///
/// These are scalars and their optionals. Enumerations are checked one by one; ``JSONValue`` and other
/// documents are compared as Swift values only.
protocol ComparedAsStored {
  static var storedOrder: StoredOrder { get }
  /// The value in a condition; nil when it is compared otherwise there.
  var comparedValue: Value? { get }
}

/// Whether Swift's `<` is that of the stored values.
enum StoredOrder {
  case none, same
  /// As the same, but not-a-number is equal to itself and below all others in Swift, and neither
  /// in a tree.
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

  /// A relative URL is not equal to the absolute one that is read back for it.
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

/// An optional, whatever is in it.
protocol OptionalValue {
  associatedtype Wrapped
  static var none: Self { get }
  var wrapped: Wrapped? { get }
}

extension Optional: OptionalValue {
  var wrapped: Wrapped? { self }
}

extension StoredOrder {
  /// Nil when values of `T` are compared otherwise than in a tree.
  init?<T>(of type: T.Type) {
    if let type = T.self as? any ComparedAsStored.Type {
      self = type.storedOrder
    } else {
      guard hasStoredRawValue(wrappedType(of: type) ?? type) else { return nil }
      self = .none
    }
  }
}

/// The values that a tree compares in place of Swift values.
enum StoredEquivalent {
  /// Whether nil can be in two depths, of which a store keeps one.
  static func isNestedOptional<T>(_ type: T.Type) -> Bool {
    wrappedType(of: type) is any OptionalValue.Type
  }

  /// The constant to compare with instead of `value`.
  ///
  /// Of what has a raw value only cases of enumerations: whoever writes a struct may well write
  /// an `==` that is not that of the raw values.
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

/// The type within an optional one; nil for other types.
private func wrappedType(of type: Any.Type) -> Any.Type? {
  func wrapped<O: OptionalValue>(_: O.Type) -> Any.Type { O.Wrapped.self }
  return (type as? any OptionalValue.Type).map { wrapped($0) }
}

private func hasStoredRawValue(_ type: Any.Type) -> Bool {
  func rawType<R: RawRepresentable>(_: R.Type) -> Any.Type { R.RawValue.self }
  guard let type = type as? any RawRepresentable.Type else { return false }
  return rawType(type) is any ScalarComparedAsStored.Type
}
