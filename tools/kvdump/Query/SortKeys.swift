import ArgumentParser
import EntityStore

/// The value of `--sort`, such as `-updatedAt,name[cd]`.
///
/// Paths and expressions stay text here, because only the store's schema knows the attributes.
struct SortKeys: ExpressibleByArgument, Equatable, Sendable {
  struct Key: Equatable, Sendable {
    let path: String
    let isDescending: Bool
    let options: TextOptions
  }

  let keys: [Key]

  /// Fails if a key is empty.
  init?(argument: String) {
    let parts = argument.partsBetweenCommas
    keys = parts.compactMap(Self.key)
    guard keys.count == parts.count else { return nil }
  }

  private static func key(_ part: Substring) -> Key? {
    var path = part
    let isDescending = path.first == "-"
    if isDescending { path.removeFirst() }
    var options: TextOptions = []
    if path.last == "]", let bracket = path.lastIndex(of: "["),
      let named = self.options(path[bracket...].dropFirst().dropLast())
    {
      options = named
      path = path[..<bracket]
    }
    return path.isEmpty
      ? nil : Key(path: String(path), isDescending: isDescending, options: options)
  }

  /// The options of `[cd]`; `nil` for other text in brackets, such as a position.
  private static func options(_ letters: Substring) -> TextOptions? {
    var options: TextOptions = []
    for letter in letters {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      default: return nil
      }
    }
    return options.isEmpty ? nil : options
  }

  /// The terms of an order of `entity`.
  func terms(of entity: DynamicEntity, _ snapshot: DynamicSnapshot) throws -> [SortTerm] {
    try keys.map { key in
      SortTerm(
        try DynamicExpression.checked(key.path, of: entity, snapshot),
        isDescending: key.isDescending, options: key.options)
    }
  }
}
