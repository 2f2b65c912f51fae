internal import LodestoreFormat

/// What can be derived from a member of a document: a scalar.
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
  /// What is at a path in JSON or in a nested struct; null where there is nothing, or something of another
  /// type.
  ///
  ///     var license: JSONValue
  ///     @Derived(.member(\Pod.license, "type", as: String.self)) private(set) var licenseType: String?
  ///
  /// With an index over it, conditions on the path itself, as `$0.license["type"] == "MIT"`, use the index
  /// too. The names are those of the members, of a nested struct its coding keys; they lead through objects
  /// alone. Integers become doubles, rounded; doubles become integers where they are one.
  public static func member<Source: Codable, V: MemberValue>(
    _ source: any KeyPath<E, Source> & Sendable, _ path: String..., as _: V.Type = V.self
  ) -> Derivation where Value == V? {
    Derivation(derivingMember: source, path)
  }
}
