internal import LodestoreFormat

/// A type that can be derived from a member of a document: a scalar.
@_documentation(visibility: internal)
public protocol MemberValue: AttributeValue {}

extension Bool: MemberValue {}
extension Int: MemberValue {}
extension Int8: MemberValue {}
extension Int16: MemberValue {}
extension Int32: MemberValue {}
extension Int64: MemberValue {}
extension UInt: MemberValue {}
extension UInt8: MemberValue {}
extension UInt16: MemberValue {}
extension UInt32: MemberValue {}
extension UInt64: MemberValue {}
extension Float: MemberValue {}
extension Double: MemberValue {}
extension String: MemberValue {}

extension Derivation {
  /// The value at a path in JSON or in a nested struct; null when it is absent or of another type.
  ///
  ///     var license: JSONValue
  ///     @Derived(.member(\Pod.license, "type", as: String.self)) private(set) var licenseType: String?
  ///
  /// With an index on the attribute, conditions on the path itself, as `$0.license["type"] ==
  /// "MIT"`, use the index too. The path consists of member names, in a nested struct of its coding
  /// keys, and leads through objects only. Integers become doubles, rounded; doubles become
  /// integers when they are whole.
  public static func member<Source: Codable, V: MemberValue>(
    _ source: any KeyPath<E, Source> & Sendable, _ path: String..., as _: V.Type = V.self
  ) -> Derivation where Value == V? {
    Derivation(derivingMember: source, path)
  }
}
