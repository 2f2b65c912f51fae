/// Whether and how changes of an entity's records are told in the history of the file.
///
///     static let history = HistoryPolicy<Film>.kept(preserving: \.title, images: true)
///
/// It is kept in the file, and holds for every program that writes it. See <doc:Changes>.
public struct HistoryPolicy<E: Entity>: Sendable {
  let isKept: Bool
  let keepsImages: Bool
  let preserved: [any PartialKeyPath<E> & Sendable]

  /// Changes are not told; what was told before stays until it is purged.
  public static var off: HistoryPolicy {
    HistoryPolicy(isKept: false, keepsImages: false, preserved: [])
  }

  /// Each change is told with the record's id and the attributes that changed.
  ///
  /// - Parameters:
  ///   - attributes: whose values are kept of records that are deleted: by what others know them.
  ///   - images: whether each record is kept as it was before it was updated or deleted, which undo and
  ///     ``ReadableTransaction/value(before:as:)`` need. Each costs what the record takes in the file.
  public static func kept(
    preserving attributes: any PartialKeyPath<E> & Sendable..., images: Bool = false
  ) -> HistoryPolicy {
    HistoryPolicy(isKept: true, keepsImages: images, preserved: attributes)
  }
}
