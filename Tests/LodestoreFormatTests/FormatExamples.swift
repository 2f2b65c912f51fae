import LodestoreFormat

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The worked examples of Format.md: fenced blocks whose info string starts with `example`.
enum FormatExamples {
  struct Line: Sendable, CustomStringConvertible {
    var number: Int
    /// The text to the left of the last `=`, which encodes to the text on its right.
    var left: String
    var right: String

    var description: String { "Format.md line \(number): \(left)" }
  }

  static let text: String = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Format.md")
    return (try? String(contentsOf: path, encoding: .utf8)) ?? ""
  }()

  /// The blocks of one kind; a line without `=` continues the one before it.
  static func blocks(_ kind: String) -> [[Line]] {
    var blocks: [[Line]] = []
    var isInside = false
    let all = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in all.enumerated() {
      if line.hasPrefix("```") {
        isInside = !isInside && line == "```example \(kind)"
        if isInside { blocks.append([]) }
      } else if isInside {
        let sides = line.ranges(of: " = ").last
        if let sides {
          blocks[blocks.count - 1].append(
            Line(
              number: index + 1, left: String(line[..<sides.lowerBound]),
              right: String(line[sides.upperBound...])))
        } else if let last = blocks[blocks.count - 1].indices.last {
          blocks[blocks.count - 1][last].right += " " + line
        } else {
          // A line without `=` is kept, so that a test finds its missing left side; otherwise the
          // mistake would pass unnoticed.
          blocks[blocks.count - 1].append(
            Line(number: index + 1, left: "", right: String(line)))
        }
      }
    }
    return blocks
  }

  static func lines(_ kind: String) -> [Line] { blocks(kind).flatMap { $0 } }

  /// The kinds of all blocks that call themselves examples.
  static let kinds: Set<String> = Set(
    text.split(separator: "\n").filter { $0.hasPrefix("```example") }
      .map { String($0.dropFirst("```example".count).drop { $0 == " " }) })
}

/// The reason why an example line cannot be read.
struct ExampleError: Error {
  var reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Reads the notation of the left sides: JSON for documents, typed literals for keys.
struct ExampleParser {
  private var rest: Substring

  init(_ text: String) { rest = text[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ prefix: String) -> Bool {
    guard rest.hasPrefix(prefix) else { return false }
    rest = rest.dropFirst(prefix.count)
    return true
  }

  private mutating func word() -> String {
    let word = rest.prefix { !", ]}:".contains($0) }
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  /// A string in quotes with the escapes `\0`, `\"`, `\\` and `\u{…}`.
  private mutating func quoted() throws -> String {
    guard take("\"") else { throw ExampleError("no quote at '\(rest)'") }
    var result = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return result
      case "\\":
        if take("u{") {
          result.unicodeScalars.append(try scalar())
          continue
        }
        let meanings: [Character: String] = ["0": "\0", "\"": "\"", "\\": "\\"]
        guard let escaped = rest.popFirst(), let meant = meanings[escaped] else {
          throw ExampleError("an escape that the examples do not have")
        }
        result += meant
      default: result.append(character)
      }
    }
    throw ExampleError("a string without its end")
  }

  /// Reads the rest of `\u{`: hexadecimal digits and a brace.
  private mutating func scalar() throws -> Unicode.Scalar {
    let digits = rest.prefix { $0 != "}" }
    rest = rest.dropFirst(digits.count + 1)
    guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
      throw ExampleError("'\\u{\(digits)}' is no scalar")
    }
    return scalar
  }

  mutating func json() throws -> Document {
    if rest.hasPrefix("\"") { return .string(try quoted()) }
    if take("[") {
      var values: [Document] = []
      while !take("]") {
        values.append(try json())
        _ = take(",")
      }
      return .array(values)
    }
    if take("{") {
      var members: [String: Document] = [:]
      while !take("}") {
        let name = try quoted()
        guard take(":") else { throw ExampleError("no colon after '\(name)'") }
        members[name] = try json()
        _ = take(",")
      }
      return .object(members)
    }
    let word = word()
    switch word {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "date":
      guard take(" "), let seconds = Double(self.word()) else {
        throw ExampleError("'date' has no number")
      }
      return .date(seconds)
    default:
      if let number = Int64(word) { return .integer(number) }
      if let number = UInt64(word) { return .unsigned(number) }
      if let number = Double(word) { return .double(number) }
      throw ExampleError("'\(word)' is not JSON")
    }
  }

  /// Elements with their types, `text "AF", integer 2`.
  mutating func tuple() throws -> [Value] {
    var values = [try element()]
    while take(", ") { values.append(try element()) }
    guard isAtEnd else { throw ExampleError("'\(rest)' behind an element") }
    return values
  }

  private mutating func element() throws -> Value {
    let type = word()
    if let constant = ["null": Value.null, "false": .bool(false), "true": .bool(true)][type] {
      return constant
    }
    guard take(" ") else { throw ExampleError("'\(type)' has no value") }
    return try literal(type)
  }

  /// A literal of a key element's or an attribute's type.
  mutating func literal(_ type: String) throws -> Value {
    switch type {
    case "text", "string", "url": return .string(try quoted())
    case "data": return .data(bytes(hexadecimal: word()))
    case "json", "document": return .document(try json().encoded())
    default: break
    }
    let word = word()
    let value: Value? =
      switch type {
      case "bool": ["false": .bool(false), "true": .bool(true)][word]
      case "integer", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "id":
        Int64(word).map(Value.integer) ?? UInt64(word).map(Value.unsigned)
      case "double", "float": Double(word).map(Value.double)
      case "date": Double(word).map(Value.date)
      case "uuid": UUIDBytes(text: word).map(Value.uuid)
      case "decimal": decimal(word).map(Value.decimal)
      default: nil
      }
    guard let value else { throw ExampleError("'\(word)' is not of type '\(type)'") }
    return value
  }

  private func decimal(_ word: String) -> DecimalValue? {
    if word == "nan" { return .nan }
    let parts = word.drop { $0 == "-" }.split(separator: ".")
    guard parts.count <= 2, let significand = UInt128(parts.joined()) else { return nil }
    return DecimalValue(
      isNegative: word.hasPrefix("-"), exponent: -Int16(parts.count == 2 ? parts[1].count : 0),
      significand: significand)
  }
}
