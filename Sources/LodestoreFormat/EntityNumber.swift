/// The permanent number of an entity in a file.
///
/// The number is assigned at creation and never reused.
///
/// See Format.md, "Catalogue".
package struct EntityNumber: Hashable, Comparable, Sendable {
  package let rawValue: UInt32

  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// A number that no entity has.
  package static let none = EntityNumber(0)

  package static func < (lhs: EntityNumber, rhs: EntityNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

extension EntityNumber: ExpressibleByIntegerLiteral, CustomStringConvertible {
  package init(integerLiteral value: UInt32) { self.init(value) }

  package var description: String { String(rawValue) }
}
