/// Which rows of a walk are shown: those after `offset`, up to `limit`.
struct RowWindow {
  enum Step { case skip, show, stop }

  private let offset: Int
  private let limit: Int?
  private var skipped = 0
  /// Rows that have been shown.
  private(set) var shown = 0
  /// Whether the limit left a row out.
  private(set) var hasMore = false

  /// A `limit` of nil is none.
  init(offset: Int, limit: Int?) {
    self.offset = offset
    self.limit = limit
  }

  /// What becomes of the next row.
  mutating func next() -> Step {
    if skipped < offset {
      skipped += 1
      return .skip
    }
    if let limit, shown >= limit {
      hasMore = true
      return .stop
    }
    shown += 1
    return .show
  }
}
