// Deprecated names of version 0.1.0 of the library.

/// The former type of the policies of inserts.
@available(*, deprecated, renamed: "MergePolicy")
public typealias InsertConflict<E: Entity> = MergePolicy<E>

extension MergePolicy {
  /// The former name of ``replace``.
  @available(*, deprecated, renamed: "replace")
  public static var incomingWins: MergePolicy { replace }

  /// The former name of ``patch(_:)`` without attributes.
  @available(*, deprecated, renamed: "patch()")
  public static var patches: MergePolicy { patch() }

  /// The former name of ``fillNulls``.
  @available(*, deprecated, renamed: "fillNulls")
  public static var storedWins: MergePolicy { fillNulls }

  /// The former name of ``ignore``.
  @available(*, deprecated, renamed: "ignore")
  public static var keepsStored: MergePolicy { ignore }

  /// The former name of ``failIfDifferent``.
  @available(*, deprecated, renamed: "failIfDifferent")
  public static var fails: MergePolicy { failIfDifferent }

  /// The former name of ``merge(_:)``.
  @available(*, deprecated, renamed: "merge(_:)")
  public static func merging(
    _ body: @escaping @Sendable (_ stored: E, _ incoming: E) throws -> E
  ) -> MergePolicy { merge(body) }
}

extension AttributeMergePolicy {
  /// The former name of ``replace``.
  @available(*, deprecated, renamed: "replace")
  public static var incomingWins: AttributeMergePolicy { replace }

  /// The former name of ``fillNulls``.
  @available(*, deprecated, renamed: "fillNulls")
  public static var storedWins: AttributeMergePolicy { fillNulls }

  /// The former name of ``failIfDifferent``.
  @available(*, deprecated, renamed: "failIfDifferent")
  public static var fails: AttributeMergePolicy { failIfDifferent }

  /// The former name of ``merge(_:)``.
  @available(*, deprecated, renamed: "merge(_:)")
  public static func combining(
    _ body: @escaping @Sendable (_ stored: V, _ incoming: V) throws -> V
  ) -> AttributeMergePolicy { merge(body) }
}
