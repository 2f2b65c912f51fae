/// Where a row is among results: in which section, and where in that.
///
/// Without sections, all rows are in section 0.
public struct ResultPosition: Sendable, Hashable, Comparable {
  /// The index of the section.
  public let section: Int
  /// The index of the row in its section.
  public let row: Int
  /// The index among all rows.
  public let index: Int

  /// Whether `a` comes before `b`.
  @_documentation(visibility: internal)
  public static func < (a: ResultPosition, b: ResultPosition) -> Bool { a.index < b.index }
}

/// What has changed between two results of one query, by the rules of `NSFetchedResultsController`.
///
/// Old positions are those in the old results, new ones those in the new. Rows that are elsewhere only because
/// others came or went are not among it. To bring a list up to date: remove the rows at ``deleted`` and at the
/// old positions of ``moved``, last first; remove the sections at ``deletedSections``, last first; insert those at
/// ``insertedSections``, first first; insert the rows at ``inserted`` and at the new positions of ``moved``, first
/// first; and show those of ``updated`` and ``moved`` anew.
public struct ResultDifference: Sendable, Hashable {
  /// A row that is in both results.
  public struct Change: Sendable, Hashable {
    /// In the old results.
    public let from: ResultPosition
    /// In the new results.
    public let to: ResultPosition
  }

  /// Sections that are gone, with all of their rows, by their old indices, ascending.
  public internal(set) var deletedSections: [Int] = []
  /// Sections that are new, by their new indices, ascending.
  public internal(set) var insertedSections: [Int] = []
  /// Rows that are gone, by their old positions, ascending.
  public internal(set) var deleted: [ResultPosition] = []
  /// Rows that are new, by their new positions, ascending.
  public internal(set) var inserted: [ResultPosition] = []
  /// Rows that changed and are elsewhere among the others, by their new positions, ascending.
  public internal(set) var moved: [Change] = []
  /// Rows that changed and are where they were among the others, by their new positions, ascending.
  public internal(set) var updated: [Change] = []

  /// Whether nothing has changed.
  public var isEmpty: Bool {
    deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty
      && moved.isEmpty && updated.isEmpty
  }
}
