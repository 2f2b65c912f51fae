/// The places in UTF-8 where a `Character` starts or the text ends, in ascending order.
struct CharacterBoundaries {
  private var characters: String.Iterator
  private(set) var current = 0

  init(_ text: String) { characters = text.makeIterator() }

  /// The boundary after the current one; nil at the end.
  mutating func next() -> Int? {
    guard let character = characters.next() else { return nil }
    current += character.utf8.count
    return current
  }

  /// Whether `offset`, not below the one asked for before, is a boundary.
  mutating func contains(_ offset: Int) -> Bool {
    while current < offset, next() != nil {}
    return current == offset
  }
}
