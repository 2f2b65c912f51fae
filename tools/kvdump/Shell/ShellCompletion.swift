import ArgumentParser
import EntityStore

/// Completions of a line of the prompt.
struct ShellCompletion: Sendable {
  /// The characters between words, at which a completed word begins.
  static let wordBreaks = " \t\n\"'=<>!&|,({"

  enum Result: Equatable {
    /// The words to choose from, and whether a space may follow the only one.
    case words([String], addsSpace: Bool)
    case files
  }

  let store: String

  /// Completions of the last word of `line`.
  func complete(_ line: String) -> Result {
    let start = line.lastIndex { Self.wordBreaks.contains($0) }.map(line.index(after:))
    let word = String(line[(start ?? line.startIndex)...])
    let before = line.dropLast(word.count)
    let words = before.split(whereSeparator: \.isWhitespace).map(String.init)
    let commands = ShellCommand.commands
    guard let name = words.first else {
      return choice(word, commands.keys + ShellCommand.ownCommands)
    }
    if name == "help" { return choice(word, Array(commands.keys)) }
    guard let command = commands[name] else { return .words([], addsSpace: false) }
    if word.hasPrefix("-") { return choice(word, Self.options(of: command)) }
    if let found = value(of: words.last ?? "", word, words) { return found }
    let isPlot = command is PlotCommand.Type
    if isPlot, words.count == 1 { return choice(word, PlotKind.allCases.map(\.rawValue)) }
    guard Self.hasEntity(command) else { return .files }
    guard let entity = words.dropFirst(isPlot ? 2 : 1).first else { return choice(word, entities) }
    if ShellLine.commandsOfConditions.contains(name) {
      return condition(Self.text(of: line, after: 2), word, of: entity)
    }
    if let place = line.firstRange(of: "--where ") {
      return condition(line[place.upperBound...].drop { "'\"".contains($0) }, word, of: entity)
    }
    switch command {
    case is ExportCommand.Type, is ImportCommand.Type: return .files
    case is IndexCommand.Type: return choice(word, indexes(of: entity))
    default: return choice(word, completions(of: entity)?.paths ?? [])
    }
  }

  // MARK: Words

  private func choice(_ word: String, _ words: some Sequence<String>) -> Result {
    let found = Set(words.filter { $0.hasPrefix(word) }).sorted()
    return .words(found, addsSpace: true)
  }

  /// The values of an option; `nil` after any other word.
  private func value(of option: String, _ word: String, _ words: [String]) -> Result? {
    switch option {
    case "--format": choice(word, FormatChoice.allCases.map(\.rawValue))
    case "--color": choice(word, ColorChoice.allCases.map(\.rawValue))
    case "--entity": choice(word, entities)
    case _
    where option.hasPrefix("--fields") || option.hasPrefix("--sort")
      || option.hasPrefix("--by"):
      words.dropFirst().lazy.compactMap { self.completions(of: $0) }.first.map {
        choice(word, $0.paths)
      }
    default: nil
    }
  }

  /// The options that the help of a command lists.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    KVDump.helpMessage(for: command, columns: 200).split(separator: "\n").flatMap { line in
      let option = line.drop { $0 == " " }
      guard line.hasPrefix("  "), option.hasPrefix("-") else { return [String]() }
      return option.split(separator: " ").prefix { $0.hasPrefix("-") }.map {
        $0.last == "," ? String($0.dropLast()) : String($0)
      }
    }.filter { $0.hasPrefix("--") }
  }

  private static func hasEntity(_ command: any ParsableCommand.Type) -> Bool {
    switch command {
    case is any EntityCommand.Type, is WatchCommand.Type, is DeleteCommand.Type,
      is UpdateCommand.Type, is ExportCommand.Type, is SchemaCommand.Type, is PlotCommand.Type:
      true
    default: false
    }
  }

  /// The text of a line after its first `count` words.
  private static func text(of line: String, after count: Int) -> Substring {
    var rest = line[...]
    for _ in 0..<count {
      rest = rest.drop(while: \.isWhitespace).drop { !$0.isWhitespace }
    }
    return rest
  }

  // MARK: Conditions

  private static let comparisons = [
    "==", "!=", "<", "<=", ">", ">=", "BEGINSWITH[cd]", "BETWEEN", "CONTAINS[cd]",
    "ENDSWITH[cd]", "IN", "LIKE[cd]", "MATCHES",
  ]

  private func condition(_ text: Substring, _ word: String, of entity: String) -> Result {
    guard let known = completions(of: entity) else { return .words([], addsSpace: false) }
    let clause = Self.lastClause(of: text)
    guard let operand = clause.split(whereSeparator: \.isWhitespace).first.map(String.init),
      clause.contains(where: \.isWhitespace)
    else { return choice(word, known.paths + ["ANY", "NOT"]) }
    // The word is the end of the clause.
    let head = clause.count - word.count
    var found = known.texts.filter { $0.hasPrefix(clause) && $0 != clause }.map {
      String($0.dropFirst(head))
    }
    let tail = clause.dropFirst(operand.count).drop(while: \.isWhitespace)
    let parts = tail.split(whereSeparator: \.isWhitespace)
    // The suggestions for a path into JSON have values, but no operators.
    let lacksOperators = found.isEmpty || operand.contains(".")
    if lacksOperators, !tail.contains(where: \.isWhitespace) {
      found += Self.comparisons.filter { $0.hasPrefix(tail) }.map {
        String($0.dropFirst(tail.count - word.count))
      }
    } else if found.isEmpty, parts.count >= (word.isEmpty ? 2 : 3), Self.isClosed(clause) {
      found = ["AND", "OR"].filter { $0.hasPrefix(word) }
    }
    let isOpen = found.count == 1 && !Self.isClosed(clause.dropLast(word.count) + found[0])
    return .words(Array(Set(found)).sorted(), addsSpace: !isOpen)
  }

  private static let connectives: Set = ["AND", "OR", "NOT", "ANY", "ALL", "NONE", "SOME"]

  private static func isClosed(_ clause: some StringProtocol) -> Bool {
    var scan = ShellLine.ConditionScan()
    for character in clause { scan.add(character) }
    return !scan.isInQuotes
  }

  /// The text after the last AND, OR or NOT, or after the last open bracket.
  private static func lastClause(of text: Substring) -> String {
    var scan = ShellLine.ConditionScan()
    var start = text.startIndex
    var word = ""
    for position in text.indices {
      let character = text[position]
      scan.add(character)
      let isEnd = !scan.isInQuotes && (character.isWhitespace || "(!&|".contains(character))
      if isEnd {
        let next = text.index(after: position)
        let isConnective =
          "(&|".contains(character) || character == "!" && text[next...].first != "="
        if isConnective || Self.connectives.contains(word.uppercased()) { start = next }
        word = ""
      } else {
        word.append(character)
      }
    }
    return String(text[start...].drop(while: \.isWhitespace))
  }

  // MARK: The store

  /// Reads the newest commit; `nil` if the store cannot be read.
  private func read<R>(_ body: (DynamicSnapshot) throws -> R?) -> R? {
    let console = Console(output: MemorySink(), errors: MemorySink())
    return (try? ReadStore.read(store, on: console, body)) ?? nil
  }

  private var entities: [String] { read { $0.entities.map(\.name) } ?? [] }

  private func completions(of entity: String) -> Completions? {
    read { snapshot in
      snapshot.entity(named: entity).map { Completions($0, snapshot, NestedPaths($0, snapshot)) }
    }
  }

  private func indexes(of entity: String) -> [String] {
    read { $0.entity(named: entity)?.indexes.map(\.shortName) } ?? []
  }
}
