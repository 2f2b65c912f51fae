public import LodestoreEssentials
internal import LodestoreFormat

/// How a stored record and an incoming one with the same key become one.
///
///     MergePolicy<Pod>.incomingWins
///       .attribute(\.rating, .storedWins)
///       .attribute(\.summary, .newest(by: \.updatedAt))
///       .attribute(\.tags, .combining { stored, incoming in Array(Set(stored + incoming)) })
public struct MergePolicy<E: Entity>: Sendable {
  private enum Kind: Sendable {
    case ignore
    case patch
    case attributes
    case closure(@Sendable (_ stored: E, _ incoming: E) throws -> E)
  }

  private var kind: Kind
  private var standard: AnyAttributePolicy<E>
  private var exceptions: [AnyAttributePolicy<E>] = []

  private init(_ kind: Kind, _ standard: AnyAttributePolicy<E> = .init(.incoming)) {
    self.kind = kind
    self.standard = standard
  }

  /// The stored record takes the incoming values.
  public static var incomingWins: MergePolicy { MergePolicy(.attributes) }

  /// The stored record takes the values of the members that the incoming one has.
  ///
  /// An attribute whose member is absent stays as it is. An attribute whose member is null becomes
  /// null.
  ///
  /// Policies of attributes apply to the members that are there. A new record has null or its initial
  /// value for the others, and is rejected without a required one. Several records of a page with one
  /// key are merged one after the other.
  ///
  /// For imports by members alone, `Importer.run(_:records:renaming:onEvent:)`. A record that a
  /// closure makes does not say which attributes were given, so such an import throws
  /// ``StoreError/Code/importStopped`` before a page is asked for.
  public static var patches: MergePolicy { MergePolicy(.patch) }

  /// The stored values stay; where one is null it takes the incoming one.
  public static var storedWins: MergePolicy { MergePolicy(.attributes, .init(.stored)) }

  /// The stored record stays as it is, and the incoming one is counted as ignored.
  public static var keepsStored: MergePolicy { MergePolicy(.ignore) }

  /// An incoming record that has other values than the stored one is rejected.
  public static var fails: MergePolicy { MergePolicy(.attributes, .init(.fail)) }

  /// The values of the record with the later date win; the incoming ones when the dates are equal.
  ///
  /// Null is before every date.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> MergePolicy {
    MergePolicy(.attributes, .init(newestBy: date))
  }

  /// The form of `newest(by:)` for an optional date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> MergePolicy {
    MergePolicy(.attributes, .init(newestBy: date))
  }

  /// The record becomes what the closure makes of both; an error rejects the incoming one.
  ///
  /// The closure is called within the transaction, and once more when that has to begin again.
  /// Policies of attributes do not apply.
  ///
  /// A link whose member is absent is the stored one in `incoming`. A link to a record that is not
  /// there yet is an id that no record has: where the closure keeps it, the link follows once the
  /// record is there.
  public static func merging(
    _ body: @escaping @Sendable (_ stored: E, _ incoming: E) throws -> E
  ) -> MergePolicy { MergePolicy(.closure(body)) }

  /// Returns the policy with another one for the attribute at `path`.
  public func attribute<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, _ policy: AttributeMergePolicy<E, V>
  ) -> MergePolicy {
    var changed = self
    var exception = policy.erased
    exception.path = path
    changed.exceptions.append(exception)
    return changed
  }

  func rule(in entity: StoredEntity) throws(StoreError) -> MergeRule {
    switch kind {
    case .ignore: return .ignore
    case .closure(let body): return .closure { try $0.merged(E.self, body) }
    case .patch:
      if exceptions.isEmpty { return .patchGiven }
      var policies = try policies(in: entity)
      policies.takesParts = true
      return .policy(policies)
    case .attributes:
      if exceptions.isEmpty, case .incoming = standard.policy { return .replace }
      return .policy(try policies(in: entity))
    }
  }

  private func policies(in entity: StoredEntity) throws(StoreError) -> AttributePolicies {
    var policies = AttributePolicies(standard: try standard.resolved(in: entity))
    for exception in exceptions {
      guard let path = exception.path else { continue }
      policies.byNumber[try entity.attribute(at: path, of: E.self).number] =
        try exception.resolved(in: entity)
    }
    return policies
  }
}

/// How one attribute of a stored record and of an incoming one become one.
public struct AttributeMergePolicy<E: Entity, V: AttributeValue>: Sendable {
  let erased: AnyAttributePolicy<E>

  /// The incoming value wins.
  public static var incomingWins: AttributeMergePolicy { Self(erased: .init(.incoming)) }

  /// The stored value wins, unless it is null.
  public static var storedWins: AttributeMergePolicy { Self(erased: .init(.stored)) }

  /// A record with another value than the stored one is rejected.
  public static var fails: AttributeMergePolicy { Self(erased: .init(.fail)) }

  /// The value of the record with the later date wins; the incoming one when the dates are equal.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// The form of `newest(by:)` for an optional date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// The attribute becomes what the closure makes of two different values; an error rejects the record.
  public static func combining(
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

/// An attribute's policy without the attribute's type.
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
