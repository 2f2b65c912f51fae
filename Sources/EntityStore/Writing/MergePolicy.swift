public import LodestoreEssentials
internal import LodestoreFormat

/// The policy for an incoming record whose unique key already belongs to a stored record.
///
///     try tx.insert(films, onConflict: .replace)
///
/// Inserts, batches and imports take the same policies. When the policy refuses a record, an import
/// rejects this record and continues. An insert throws.
///
/// With any policy but ``fail``, the incoming record is merged with the stored record that has its
/// unique keys. `matching` names the one index that finds the stored record. Without `matching`,
/// all unique keys of an inserted value must agree on one record. The insert throws
/// ``StoreError/Code/uniqueViolation`` in two cases:
///
/// - Two keys of the inserted value belong to different records.
/// - One key belongs to a record, and a second key belongs to none, but differs from the second key
///   of that record. Then it is unclear which key identifies the record.
///
/// Keys that contain null are not compared.
///
/// Single attributes may have other policies:
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

  /// Keeps the stored record unchanged, and counts the incoming one as ignored.
  public static var ignore: MergePolicy { MergePolicy(.ignore) }

  /// Gives the stored record all values of the incoming one; the stored id stays.
  public static var replace: MergePolicy { MergePolicy(.attributes(.init(.incoming))) }

  /// Gives the stored record the incoming values of these attributes, or of all given attributes.
  ///
  /// All other attributes keep their stored values.
  ///
  /// Without `attributes`, the incoming record determines the given attributes. Such a record is a
  /// dictionary or a ``RecordDraft`` of an insert, or an imported record with its members. An
  /// absent attribute keeps its value. An attribute that is null becomes null. In a new record,
  /// absent attributes are null or have their initial values. The record is rejected when a
  /// required attribute is missing.
  ///
  /// Policies of attributes apply to the given attributes. Several records of a page with one key
  /// are merged one after the other.
  ///
  /// A record that the closure of an import creates does not tell which attributes were given. Such
  /// an import without `attributes` throws ``StoreError/Code/importStopped`` before a page is
  /// requested. Import by members instead, with `Importer.run(_:records:renaming:onEvent:)`.
  ///
  /// - Parameter attributes: the attributes to take; `nil` for the given attributes.
  public static func patch(
    _ attributes: [any PartialKeyPath<E> & Sendable]? = nil
  ) -> MergePolicy { MergePolicy(.patch(attributes)) }

  /// Fills only the null attributes of the stored record with the incoming values; its other values
  /// stay.
  public static var fillNulls: MergePolicy { MergePolicy(.attributes(.init(.stored))) }

  /// Refuses an incoming record whose values differ from the stored ones, with
  /// ``StoreError/Code/mergeConflict``.
  public static var failIfDifferent: MergePolicy { MergePolicy(.attributes(.init(.fail))) }

  /// Gives the stored record the values of the record with the later date; with equal dates, the
  /// incoming values.
  public static func newest(by date: any KeyPath<E, Date> & Sendable) -> MergePolicy {
    MergePolicy(.attributes(.init(newestBy: date)))
  }

  /// Gives the stored record the values of the record with the later optional date; with equal
  /// dates, the incoming values.
  ///
  /// Null is before every date.
  public static func newest(by date: any KeyPath<E, Date?> & Sendable) -> MergePolicy {
    MergePolicy(.attributes(.init(newestBy: date)))
  }

  /// Gives the stored record the values that the closure returns.
  ///
  /// In an import, an error of the closure rejects the record. An insert throws the error: a
  /// ``StoreError`` unchanged, another error as the cause of a
  /// ``StoreError/Code/unstorableValue``. The closure runs within the transaction, and an import
  /// runs it again when the transaction restarts. Policies of attributes do not apply.
  ///
  /// When the member of a link is absent, `incoming` has the stored link. A link whose target does
  /// not exist yet is an id that no record has. If the closure keeps this id, the link is set when
  /// the target is imported.
  public static func merge(
    _ body: @escaping @Sendable (_ stored: E, _ incoming: E) throws -> E
  ) -> MergePolicy { MergePolicy(.closure(body)) }

  /// Returns the policy with an exception for the attribute at `path`.
  ///
  /// The policies ``fail``, ``ignore``, ``merge(_:)`` and ``patch(_:)`` with attributes apply to
  /// whole records. Policies of attributes do not change them.
  public func attribute<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, _ policy: AttributeMergePolicy<E, V>
  ) -> MergePolicy {
    var changed = self
    var exception = policy.erased
    exception.path = path
    changed.exceptions.append(exception)
    return changed
  }

  /// Returns the policy with the attribute numbers of `entity`.
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
