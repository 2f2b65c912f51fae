public import LodestoreEssentials
internal import LodestoreFormat

/// The rule for an incoming record whose unique key already leads to a stored one.
///
///     try tx.insert(films, onConflict: .replace)
///
/// Inserts, batches and imports take the same policies. An import rejects a record that the policy
/// refuses, and goes on. An insert throws.
///
/// With any policy but ``fail`` the incoming record is merged with the stored one that its unique
/// keys lead to. `matching` names the one index that decides. An insert without `matching` needs
/// all keys of the value to agree on one record. It throws ``StoreError/Code/uniqueViolation`` when
/// keys lead to different records. The call also throws when one key leads to a record, another key
/// leads to none, and that record has another value there: the value may be meant for either. A key
/// with null in it does not count on either side.
///
/// Attributes may have policies of their own:
///
///     MergePolicy<Pod>.replace
///       .attribute(\.rating, .fillNulls)
///       .attribute(\.summary, .newest(by: \.updatedAt))
///       .attribute(\.tags, .merge { stored, incoming in Array(Set(stored + incoming)) })
public struct MergePolicy<E: Entity>: Sendable {
  private enum Kind: Sendable {
    case fail
    case ignore
    case patch([any PartialKeyPath<E> & Sendable]?)
    case attributes(AnyAttributePolicy<E>)
    case closure(@Sendable (_ stored: E, _ incoming: E) throws -> E)
  }

  private var kind: Kind
  private var exceptions: [AnyAttributePolicy<E>] = []

  private init(_ kind: Kind) { self.kind = kind }

  /// Refuses the incoming record with ``StoreError/Code/uniqueViolation``.
  public static var fail: MergePolicy { MergePolicy(.fail) }

  /// Leaves the stored record as it is, and counts the incoming one as ignored.
  public static var ignore: MergePolicy { MergePolicy(.ignore) }

  /// Gives the stored record all values of the incoming one; it keeps its id.
  public static var replace: MergePolicy { MergePolicy(.attributes(.init(.incoming))) }

  /// Gives the stored record the values of these attributes, or of the attributes that were given;
  /// the others stay.
  ///
  /// Without attributes, the incoming record says which attributes were given: a dictionary or a
  /// ``RecordDraft`` of an insert, or the members of an imported record. An attribute that is
  /// absent stays as it is. An attribute that is null becomes null. A new record has null or its
  /// initial value for the absent attributes, and is rejected without a required one.
  ///
  /// Policies of attributes apply to the attributes that were given. Several records of a page with
  /// one key are merged one after the other.
  ///
  /// A record that a closure of an import makes does not say which attributes were given. Such an
  /// import without attributes throws ``StoreError/Code/importStopped`` before a page is asked for.
  /// Import by members, with `Importer.run(_:records:renaming:onEvent:)`.
  public static func patch(
    _ attributes: [any PartialKeyPath<E> & Sendable]? = nil
  ) -> MergePolicy { MergePolicy(.patch(attributes)) }

  /// Gives the stored record the incoming values of the attributes that are null in it.
  public static var fillNulls: MergePolicy { MergePolicy(.attributes(.init(.stored))) }

  /// Refuses an incoming record that has other values than the stored one, with
  /// ``StoreError/Code/mergeConflict``.
  public static var failIfDifferent: MergePolicy { MergePolicy(.attributes(.init(.fail))) }

  /// Gives the stored record the values of the record with the later date; the incoming ones when
  /// the dates are equal.
  ///
  /// Null is before every date.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> MergePolicy {
    MergePolicy(.attributes(.init(newestBy: date)))
  }

  /// The form of `newest(by:)` for an optional date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> MergePolicy {
    MergePolicy(.attributes(.init(newestBy: date)))
  }

  /// Gives the stored record the value that the closure makes of the stored and the incoming one.
  ///
  /// An error of the closure rejects the record of an import. The error ends an insert: a
  /// ``StoreError`` as it is, another error as the cause of a ``StoreError/Code/unstorableValue``.
  /// An import calls the closure within the transaction, and once more when the transaction has to
  /// begin again. Policies of attributes do not apply.
  ///
  /// A link whose member is absent is the stored one in `incoming`. A link to a record that is not
  /// there yet is an id that no record has: where the closure keeps it, the link follows once the
  /// record is there.
  public static func merge(
    _ body: @escaping @Sendable (_ stored: E, _ incoming: E) throws -> E
  ) -> MergePolicy { MergePolicy(.closure(body)) }

  /// Returns the policy with another one for the attribute at `path`.
  ///
  /// The policies ``fail``, ``ignore``, ``merge(_:)`` and ``patch(_:)`` with attributes decide
  /// about the whole record. Policies of attributes do not change them.
  public func attribute<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, _ policy: AttributeMergePolicy<E, V>
  ) -> MergePolicy {
    var changed = self
    var exception = policy.erased
    exception.path = path
    changed.exceptions.append(exception)
    return changed
  }

  /// The policy with the attribute numbers of `entity`.
  func rule(in entity: StoredEntity) throws(StoreError) -> MergeRule {
    switch kind {
    case .fail: return .fail
    case .ignore: return .ignore
    case .closure(let body): return .closure { try $0.merged(E.self, body) }
    case .patch(nil):
      if exceptions.isEmpty { return .patchGiven }
      var policies = try policies(.init(.incoming), in: entity)
      policies.takesParts = true
      return .policy(policies)
    case .patch(let paths?):
      var numbers: Set<UInt32> = []
      for path in paths { numbers.insert(try entity.attribute(at: path, of: E.self).number) }
      return .patch(numbers)
    case .attributes(let standard):
      if exceptions.isEmpty, case .incoming = standard.policy { return .replace }
      return .policy(try policies(standard, in: entity))
    }
  }

  private func policies(
    _ standard: AnyAttributePolicy<E>, in entity: StoredEntity
  ) throws(StoreError) -> AttributePolicies {
    var policies = AttributePolicies(standard: try standard.resolved(in: entity))
    for exception in exceptions {
      guard let path = exception.path else { continue }
      policies.byNumber[try entity.attribute(at: path, of: E.self).number] =
        try exception.resolved(in: entity)
    }
    return policies
  }
}
