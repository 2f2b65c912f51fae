/// The position of a row in results: its section, and its index in the section.
///
/// Without sections, all rows are in section 0.
public struct ResultPosition: Sendable, Hashable, Comparable {
  /// The index of the section.
  public let section: Int
  /// The index of the row in its section.
  public let row: Int
  /// The index among all rows.
  public let index: Int

  /// Returns whether `a` comes before `b`.
  @_documentation(visibility: internal)
  public static func < (a: ResultPosition, b: ResultPosition) -> Bool { a.index < b.index }
}

/// The changes between two results of one query, by the rules of `NSFetchedResultsController`.
///
/// Old positions refer to the old results, new positions to the new results. A row that only shifts
/// because others were inserted or deleted is not included. To update a list, apply these steps in
/// order:
/// 1. Remove the rows at ``deleted`` and at the old positions of ``moved``, in descending order.
/// 2. Remove the sections at ``deletedSections``, in descending order.
/// 3. Insert the sections at ``insertedSections``, in ascending order.
/// 4. Insert the rows at ``inserted`` and at the new positions of ``moved``, in ascending order.
/// 5. Redraw the rows of ``updated`` and ``moved``.
public struct ResultDifference: Sendable, Hashable {
  /// A row that is in both results.
  public struct Change: Sendable, Hashable {
    /// The position in the old results.
    public let from: ResultPosition
    /// The position in the new results.
    public let to: ResultPosition
  }

  /// The old indices of sections that were removed with all their rows, in ascending order.
  public internal(set) var deletedSections: [Int] = []
  /// The new indices of added sections, in ascending order.
  public internal(set) var insertedSections: [Int] = []
  /// The old positions of removed rows, in ascending order.
  public internal(set) var deleted: [ResultPosition] = []
  /// The new positions of added rows, in ascending order.
  public internal(set) var inserted: [ResultPosition] = []
  /// The changed rows whose order among the other rows changed, in ascending order of new
  /// positions.
  public internal(set) var moved: [Change] = []
  /// The changed rows whose order among the other rows stayed, in ascending order of new positions.
  public internal(set) var updated: [Change] = []

  /// Whether the results have not changed.
  public var isEmpty: Bool {
    deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty
      && moved.isEmpty && updated.isEmpty
  }
}
