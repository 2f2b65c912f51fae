/// Writes JSON text into a growing byte buffer, value by value or a whole `JSONValue` at once.
///
/// To write a stream, call `beginObject`, then `key` and one value for each member, then
/// `endObject`; likewise for arrays. The writer adds commas, colons and indentation. A member
/// without a key, an `end` without its `begin`, and two top-level values without `startNext` are
/// programming errors and trap. The text is RFC 8259 in UTF-8; only `"`, `\` and control characters
/// are escaped.
package struct JSONWriter: Sendable {
  /// The layout of the text.
  package struct Layout: Sendable, Hashable {
    /// The number of spaces for each level; `nil` for a single line without spaces.
    var indent: Int?
    /// Whether members of a `JSONValue` are ordered by the UTF-8 bytes of their keys.
    ///
    /// If false, the order of members differs between runs of a program.
    var sortsKeys: Bool

    package init(indent: Int? = nil, sortsKeys: Bool = true) {
      self.indent = indent
      self.sortsKeys = sortsKeys
    }

    package static let compact = Layout()
    package static let pretty = Layout(indent: 2)
  }

  /// The maximum nesting.
  ///
  /// Writing is recursive, so unlimited nesting would overflow the stack; readers have such limits
  /// too.
  static let depthLimit = 512

  private struct Level {
    let isObject: Bool
    var isEmpty = true
  }

  package let layout: Layout
  /// The text so far.
  package private(set) var bytes: [UInt8] = []
  private var levels: [Level] = []
  private var awaitsValue = true

  package init(_ layout: Layout = .compact) { self.layout = layout }

  /// The text so far as a string.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether one complete top-level value has been written.
  package var isComplete: Bool { levels.isEmpty && !awaitsValue }

  /// Removes the text and keeps its memory for the next record.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    levels.removeAll(keepingCapacity: true)
    awaitsValue = true
  }

  /// Ends a line, after which another top-level value may follow (JSON Lines).
  package mutating func startNext() {
    precondition(isComplete, "a JSON value ends before the next begins")
    bytes.append(0x0A)
    awaitsValue = true
  }
}

// MARK: - Stream

extension JSONWriter {
  package mutating func beginObject() { begin(0x7B, isObject: true) }
  package mutating func endObject() { end(0x7D, isObject: true) }
  package mutating func beginArray() { begin(0x5B, isObject: false) }
  package mutating func endArray() { end(0x5D, isObject: false) }

  /// Writes the key of the next member.
  package mutating func key(_ key: String) {
    precondition(levels.last?.isObject == true && !awaitsValue, "a key belongs in an object")
    separate()
    JSONText.appendString(key, to: &bytes)
    bytes.append(0x3A)
    if layout.indent != nil { bytes.append(0x20) }
    awaitsValue = true
  }

  package mutating func null() { scalar { $0.append(contentsOf: "null".utf8) } }

  package mutating func bool(_ value: Bool) {
    scalar { $0.append(contentsOf: (value ? "true" : "false").utf8) }
  }

  package mutating func integer(_ value: Int64) {
    scalar { JSONText.appendInteger(value.magnitude, isNegative: value < 0, to: &$0) }
  }

  package mutating func unsigned(_ value: UInt64) {
    scalar { JSONText.appendInteger(value, isNegative: false, to: &$0) }
  }

  package mutating func string(_ value: String) { scalar { JSONText.appendString(value, to: &$0) } }

  /// Writes the shortest text that reads back as the same double.
  ///
  /// The text always has a fraction or an exponent, so that it stays a double. Throws for a value
  /// that is not finite, and then writes nothing.
  package mutating func double(_ value: Double) throws(JSONWriteError) {
    guard value.isFinite else { throw JSONWriteError(reason: .notFinite(value), path: "") }
    scalar { $0.append(contentsOf: value.description.utf8) }
  }

  private mutating func begin(_ byte: UInt8, isObject: Bool) {
    startValue()
    bytes.append(byte)
    levels.append(Level(isObject: isObject))
    awaitsValue = false
  }

  private mutating func end(_ byte: UInt8, isObject: Bool) {
    let level = levels.popLast()
    precondition(level?.isObject == isObject && !awaitsValue, "an unmatched end of a JSON value")
    if level?.isEmpty == false { breakLine() }
    bytes.append(byte)
  }

  private mutating func scalar(_ append: (inout [UInt8]) -> Void) {
    startValue()
    append(&bytes)
  }

  private mutating func startValue() {
    if levels.last?.isObject == false {
      separate()
    } else {
      precondition(awaitsValue, "a JSON member needs a key; a text holds one value")
      awaitsValue = false
    }
  }

  private mutating func separate() {
    let last = levels.count - 1
    if !levels[last].isEmpty { bytes.append(0x2C) }
    levels[last].isEmpty = false
    breakLine()
  }

  private mutating func breakLine() {
    guard let indent = layout.indent else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(0x20, count: indent * levels.count))
  }
}

// MARK: - Whole values

extension JSONWriter {
  /// Writes a whole value.
  ///
  /// After an error the text is incomplete and must be discarded.
  package mutating func write(_ value: JSONValue) throws(JSONWriteError) {
    try write(value, forDisplay: false)
  }

  /// Writes a whole value for display.
  ///
  /// Values that JSON cannot represent are shown and not refused.
  mutating func writeForDisplay(_ value: JSONValue) {
    // Writing for display never throws.
    try? write(value, forDisplay: true)
  }

  private mutating func write(_ value: JSONValue, forDisplay: Bool) throws(JSONWriteError) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .unsigned(let value): unsigned(value)
    case .string(let value): string(value)
    case .double(let value):
      if forDisplay && !value.isFinite {
        scalar { $0.append(contentsOf: value.description.utf8) }
      } else {
        try double(value)
      }
    case .array, .object:
      guard levels.count < Self.depthLimit else {
        guard forDisplay else {
          throw JSONWriteError(reason: .tooDeep(limit: Self.depthLimit), path: "")
        }
        return scalar { $0.append(contentsOf: "…".utf8) }
      }
      try writeContainer(value, forDisplay: forDisplay)
    }
  }

  private mutating func writeContainer(
    _ value: JSONValue, forDisplay: Bool
  ) throws(JSONWriteError) {
    switch value {
    case .array(let elements):
      beginArray()
      for (index, element) in elements.enumerated() {
        do { try write(element, forDisplay: forDisplay) } catch { throw error.below("\(index)") }
      }
      endArray()
    case .object(let members):
      beginObject()
      if layout.sortsKeys && members.count > 1 {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (key, value) in sorted { try writeMember(key, value, forDisplay: forDisplay) }
      } else {
        for (key, value) in members { try writeMember(key, value, forDisplay: forDisplay) }
      }
      endObject()
    default: preconditionFailure("only arrays and objects have content")
    }
  }

  private mutating func writeMember(
    _ name: String, _ value: JSONValue, forDisplay: Bool
  ) throws(JSONWriteError) {
    key(name)
    do { try write(value, forDisplay: forDisplay) } catch { throw error.below(name) }
  }
}
