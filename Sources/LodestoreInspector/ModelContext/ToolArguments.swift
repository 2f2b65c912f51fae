internal import EntityStore
internal import LodestoreJSON

/// A reason why a tool gives no answer, in words for the model that called it.
struct ToolError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// The arguments of a call, read with their types.
struct ToolArguments {
  private let tool: Tool
  private let values: [String: JSONValue]

  /// Takes the arguments of a call.
  ///
  /// - Throws: ``ToolError`` for an argument that the tool does not have.
  init(_ values: [String: JSONValue], of tool: Tool) throws(ToolError) {
    self.tool = tool
    self.values = values.filter { $0.value != .null }
    let known = tool.arguments.map(\.name)
    if let name = values.keys.sorted().first(where: { !known.contains($0) }) {
      let words = PageReading.missing("\(tool.rawValue) has no argument", name, among: known)
      throw ToolError(
        words + (words.hasSuffix("?") ? "" : ".")
          + " Its arguments are \(known.joined(separator: ", ")).")
    }
  }

  private func mistyped(_ name: String, _ type: String) -> ToolError {
    ToolError("The argument '\(name)' of \(tool.rawValue) must be \(type).")
  }

  func text(_ name: String) throws(ToolError) -> String? {
    guard let value = values[name] else { return nil }
    guard let text = value.stringValue else { throw mistyped(name, "a string") }
    return text.isEmpty ? nil : text
  }

  func required(_ name: String) throws(ToolError) -> String {
    guard let text = try text(name) else {
      throw ToolError("\(tool.rawValue) needs the argument '\(name)'.")
    }
    return text
  }

  /// A list of strings; one string is a list too.
  func texts(_ name: String) throws(ToolError) -> [String] {
    guard let value = values[name] else { return [] }
    if let text = value.stringValue { return text.isEmpty ? [] : [text] }
    guard let elements = value.arrayValue else { throw mistyped(name, "a list of strings") }
    var texts: [String] = []
    for element in elements {
      guard let text = element.stringValue, !text.isEmpty else {
        throw mistyped(name, "a list of strings")
      }
      texts.append(text)
    }
    guard texts.count <= 200 else { throw mistyped(name, "a list of at most 200 strings") }
    return texts
  }

  func number(_ name: String, in range: ClosedRange<Int>) throws(ToolError) -> Int? {
    guard let value = values[name] else { return nil }
    guard let number = value.int64Value, range.contains(Int(clamping: number)) else {
      throw mistyped(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(number)
  }

  func decimal(_ name: String, in range: ClosedRange<Double>) throws(ToolError) -> Double? {
    guard let value = values[name] else { return nil }
    guard let number = value.doubleValue, range.contains(number) else {
      throw mistyped(
        name,
        range.upperBound == .greatestFiniteMagnitude
          ? "a number from \(range.lowerBound)"
          : "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flag(_ name: String) throws(ToolError) -> Bool {
    guard let value = values[name] else { return false }
    guard let flag = value.boolValue else { throw mistyped(name, "true or false") }
    return flag
  }
}
