/// The UTF-8 offsets at which a `Character` starts or the text ends, in ascending order.
struct CharacterBoundaries {
  private var characters: String.Iterator
  private(set) var current = 0

  init(_ text: String) { characters = text.makeIterator() }

  /// Returns the boundary after the current one, or `nil` at the end.
  mutating func next() -> Int? {
    guard let character = characters.next() else { return nil }
    current += character.utf8.count
    return current
  }

  /// Returns whether `offset` is a boundary.
  ///
  /// Offsets must not descend from call to call.
  mutating func contains(_ offset: Int) -> Bool {
    while current < offset, next() != nil {}
    return current == offset
  }
}
