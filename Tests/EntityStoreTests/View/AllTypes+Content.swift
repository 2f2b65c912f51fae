@testable import EntityStore

extension AllTypes {
  /// The content of the value's record.
  ///
  /// In it, not-a-number is equal to itself, and zero differs from minus zero.
  func content(in store: Store) throws -> [UInt8] {
    try store.core.read { core in
      var writer = RecordWriter()
      return Array(try writer.encode(self, of: try core.entity(named: "AllTypes")).content)
    }
  }

  /// The value without ids, because ids of a damaged record may be invalid in a write.
  var withoutFilms: AllTypes {
    var value = self
    value.film = RecordID(rawValue: 1)
    if optionalFilm != nil { value.optionalFilm = value.film }
    return value
  }
}
