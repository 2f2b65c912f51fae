import ArgumentParser

extension String {
  /// Splits at commas outside brackets, parentheses and quotes, and removes spaces at the ends of
  /// the parts.
  ///
  /// `authors["first, last"]` is one part.
  var partsBetweenCommas: [Substring] {
    var parts: [Substring] = []
    var start = startIndex
    var depth = 0
    var quote: Character?
    for position in indices {
      let character = self[position]
      switch character {
      case "\"", "'":
        if depth > 0 || quote != nil {
          quote = quote == nil ? character : quote == character ? nil : quote
        }
      case "[" where quote == nil, "(" where quote == nil, "{" where quote == nil: depth += 1
      case "]" where quote == nil, ")" where quote == nil, "}" where quote == nil: depth -= 1
      case "," where quote == nil && depth <= 0:
        parts.append(self[start..<position])
        start = index(after: position)
      default: break
      }
    }
    return (parts + [self[start...]]).map { part in
      let end = part.lastIndex { $0 != " " }.map(part.index(after:)) ?? part.startIndex
      return part[..<end].drop { $0 == " " }
    }
  }
}

/// Names with commas between them: `name,version`.
struct NameList: ExpressibleByArgument, Equatable, Sendable {
  /// The names in the given order, without repetitions.
  let names: [String]

  /// Fails if a name is empty.
  init?(argument: String) {
    let parts = argument.partsBetweenCommas.map(String.init)
    guard !parts.contains("") else { return nil }
    names = parts.enumerated().filter { !parts[..<$0].contains($1) }.map(\.element)
  }
}
