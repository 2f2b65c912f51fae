public import LodestoreEssentials
internal import LodestoreFormat

/// The policy for combining one attribute of a stored record and of an incoming record; see
/// ``MergePolicy/attribute(_:_:)``.
///
/// The policy has a type of its own, because it combines values of the attribute's type. The
/// closure of ``merge(_:)`` takes two values. The closure of a ``MergePolicy`` takes two records.
public struct AttributeMergePolicy<E: Entity, V: AttributeValue>: Sendable {
  let erased: AnyAttributePolicy<E>

  /// Takes the incoming value.
  public static var replace: AttributeMergePolicy { Self(erased: .init(.incoming)) }

  /// Takes the incoming value if the stored one is null.
  public static var fillNulls: AttributeMergePolicy { Self(erased: .init(.stored)) }

  /// Refuses a record whose value differs from the stored one.
  public static var failIfDifferent: AttributeMergePolicy { Self(erased: .init(.fail)) }

  /// Takes the value of the record with the later date; with equal dates, the incoming value.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// Takes the value of the record with the later optional date; with equal dates, the incoming
  /// value.
  ///
  /// Null is before every date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// Takes the closure's result for two different values; an error of the closure refuses the
  /// record.
  public static func merge(
    _ body: @escaping @Sendable (_ stored: V, _ incoming: V) throws -> V
  ) -> AttributeMergePolicy {
    Self(
      erased: .init(
        .combine { stored, incoming in
          guard let stored = V._value(from: StoredValue(stored)),
            let incoming = V._value(from: StoredValue(incoming))
          else { throw StoreError(.undecodableValue, "a value is no \(V.self)") }
          return try body(stored, incoming)._storedValue.value
        }))
  }
}

/// A policy for one attribute, type-erased over the attribute's type.
struct AnyAttributePolicy<E: Entity>: Sendable {
  let policy: AttributePolicies.Policy
  private let date: (any PartialKeyPath<E> & Sendable)?
  var path: (any PartialKeyPath<E> & Sendable)?

  init(_ policy: AttributePolicies.Policy) {
    self.policy = policy
    date = nil
  }

  init(newestBy date: any PartialKeyPath<E> & Sendable) {
    policy = .newest(date: 0)
    self.date = date
  }

  func resolved(in entity: StoredEntity) throws(StoreError) -> AttributePolicies.Policy {
    guard let date else { return policy }
    return .newest(date: try entity.attribute(at: date, of: E.self).number)
  }
}
