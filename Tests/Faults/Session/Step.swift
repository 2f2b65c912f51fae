/// One call of a session.
///
/// The effect of a step depends only on the state of the store before it.
enum Step: Sendable {
  /// Opens the store as the older or the newer program, and creates it if it does not exist.
  case open(isNewer: Bool)
  case close
  /// Inserts new records in one batch.
  case insert([Row])
  /// Inserts or replaces records one after the other, on the store's own thread or on the calling
  /// thread.
  case put([Row], isAsynchronous: Bool)
  case update(group: Int, note: String)
  case delete([Int])
  /// A page of an import.
  case take([Row])
  /// Makes a compacted copy with this name.
  case copy(String)
  /// Removes the history of all earlier writes.
  case purge

  /// Whether the step needs an open store.
  var needsStore: Bool {
    switch self {
    case .open, .close: false
    default: true
    }
  }

  /// Whether the step makes a commit in an open store.
  var writes: Bool {
    if case .copy = self { false } else { needsStore }
  }

  func applied(_ contents: Contents) -> Contents {
    var contents = contents
    switch self {
    case .open, .close, .copy, .purge: break
    case .insert(let rows), .put(let rows, _), .take(let rows):
      for row in rows {
        let rank = row.rank ?? contents[row.key]?.rank ?? Row.initialRank
        contents[row.key] = row
        contents[row.key]?.rank = rank
      }
    case .update(let group, let note):
      for row in contents.values where row.group == group { contents[row.key]?.note = note }
    case .delete(let keys):
      for key in keys { contents[key] = nil }
    }
    return contents
  }
}
