import ArgumentParser

/// Names with commas between them: `name,version`.
struct NameList: ExpressibleByArgument, Equatable, Sendable {
  /// In the order given; a name that is given twice is kept once.
  let names: [String]

  /// Nil when a name is empty.
  init?(argument: String) {
    var names: [String] = []
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      var name = part[...]
      while name.first == " " { name.removeFirst() }
      while name.last == " " { name.removeLast() }
      guard !name.isEmpty else { return nil }
      if !names.contains(String(name)) { names.append(String(name)) }
    }
    self.names = names
  }
}
