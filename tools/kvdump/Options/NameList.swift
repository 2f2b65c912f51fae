import ArgumentParser

extension String {
  /// Splits at commas outside brackets, parentheses and quotes: `authors["first, last"]` is one
  /// part.
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
    return parts + [self[start...]]
  }
}

/// Names with commas between them: `name,version`.
struct NameList: ExpressibleByArgument, Equatable, Sendable {
  /// The names in the given order, without repetitions.
  let names: [String]

  /// Fails if a name is empty.
  init?(argument: String) {
    var names: [String] = []
    for part in argument.partsBetweenCommas {
      var name = part
      while name.first == " " { name.removeFirst() }
      while name.last == " " { name.removeLast() }
      guard !name.isEmpty else { return nil }
      if !names.contains(String(name)) { names.append(String(name)) }
    }
    self.names = names
  }
}
