public import LodestoreEssentials
internal import LodestoreFormat

/// The policy for combining a stored record with an incoming record that has the same key.
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

  /// The stored record takes the values of the members that the incoming record has.
  ///
  /// An attribute whose member is absent keeps its value. An attribute whose member is null becomes
  /// null.
  ///
  /// Policies of attributes apply to members that are present. In a new record, the other
  /// attributes are null or have their initial values; the record is rejected when a required one
  /// is missing. Several records of a page with one key are merged one after the other.
  ///
  /// This policy is only for imports by members, `Importer.run(_:records:renaming:onEvent:)`. A
  /// record that a closure creates does not tell which attributes were given. Such an import throws
  /// ``StoreError/Code/importStopped`` before a page is requested.
  public static var patches: MergePolicy { MergePolicy(.patch) }

  /// The stored values stay; a stored null takes the incoming value.
  public static var storedWins: MergePolicy { MergePolicy(.attributes, .init(.stored)) }

  /// The stored record stays unchanged, and the incoming one is counted as ignored.
  public static var keepsStored: MergePolicy { MergePolicy(.ignore) }

  /// An incoming record whose values differ from the stored ones is rejected.
  public static var fails: MergePolicy { MergePolicy(.attributes, .init(.fail)) }

  /// The values of the record with the later date win; with equal dates, the incoming values win.
  ///
  /// Null is before every date.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> MergePolicy {
    MergePolicy(.attributes, .init(newestBy: date))
  }

  /// The values of the record with the later optional date win; null is before every date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> MergePolicy {
    MergePolicy(.attributes, .init(newestBy: date))
  }

  /// The record becomes the closure's result; an error of the closure rejects the incoming record.
  ///
  /// The closure runs within the transaction, and runs again when the transaction restarts.
  /// Policies of attributes do not apply.
  ///
  /// When the member of a link is absent, `incoming` has the stored link. A link whose target does
  /// not exist yet is an id that no record has. If the closure keeps this id, the link is set when
  /// the target is imported.
  public static func merging(
    _ body: @escaping @Sendable (_ stored: E, _ incoming: E) throws -> E
  ) -> MergePolicy { MergePolicy(.closure(body)) }

  /// Returns the policy with an exception for the attribute at `path`.
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

/// The policy for combining one attribute of a stored record and of an incoming record.
public struct AttributeMergePolicy<E: Entity, V: AttributeValue>: Sendable {
  let erased: AnyAttributePolicy<E>

  /// The incoming value wins.
  public static var incomingWins: AttributeMergePolicy { Self(erased: .init(.incoming)) }

  /// The stored value wins, unless it is null.
  public static var storedWins: AttributeMergePolicy { Self(erased: .init(.stored)) }

  /// A record whose value differs from the stored one is rejected.
  public static var fails: AttributeMergePolicy { Self(erased: .init(.fail)) }

  /// The value of the record with the later date wins; with equal dates, the incoming value wins.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// The value of the record with the later optional date wins; null is before every date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> AttributeMergePolicy {
    Self(erased: .init(newestBy: date))
  }

  /// The attribute becomes the closure's result for two different values; an error rejects the
  /// record.
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
