@testable import EntityStore

extension Store {
  /// Adds the next part to the index under construction, as ``IndexBuilder`` does; returns whether
  /// an index is still under construction.
  func buildNextPart() throws -> Bool {
    let lists = try core.listsForNextPart()?()
    return try core.write { try $0.buildNextPart(with: lists) }
  }
}
