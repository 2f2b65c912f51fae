/// The rule for recording changes of an entity's records in the history of the file.
///
///     static let history = HistoryPolicy<Film>.kept(preserving: \.title, images: true)
///
/// The file stores the policy, so it applies to every program that writes the file. See
/// <doc:Changes>.
public struct HistoryPolicy<E: Entity>: Sendable {
  let isKept: Bool
  let keepsImages: Bool
  let preserved: [any PartialKeyPath<E> & Sendable]

  /// Changes are not recorded; changes recorded earlier stay until they are purged.
  public static var off: HistoryPolicy {
    HistoryPolicy(isKept: false, keepsImages: false, preserved: [])
  }

  /// Each change is recorded with the record's id and the attributes that changed.
  ///
  /// - Parameters:
  ///   - attributes: attributes whose values the history keeps for deleted records, so that other
  ///     systems can identify them.
  ///   - images: whether the history keeps a copy of each record from before an update or delete.
  ///     Undo and ``ReadableTransaction/value(before:as:)`` need these copies. Each copy takes as
  ///     much space in the file as the record.
  public static func kept(
    preserving attributes: any PartialKeyPath<E> & Sendable..., images: Bool = false
  ) -> HistoryPolicy {
    HistoryPolicy(isKept: true, keepsImages: images, preserved: attributes)
  }
}
