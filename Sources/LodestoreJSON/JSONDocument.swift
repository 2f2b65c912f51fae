/// One parsed JSON text: its bytes and the tape over them.
///
/// Never changes, so any thread may read it.
/// Memory: the text once, and 16 bytes for each value and key.
package final class JSONDocument: @unchecked Sendable {
  /// After the text: the parser stops at a zero, and reads words of eight bytes.
  private static let padding = 16

  let text: UnsafePointer<UInt8>
  let count: Int
  private let tape: JSONTape
  /// Where the text starts inside its file.
  package let origin: JSONPosition.Origin

  var entries: UnsafePointer<JSONTapeEntry> { UnsafePointer(tape.entries) }
  var entryCount: Int { tape.count }
  package var hasEquivalentKeys: Bool { !tape.equivalentKeys.isEmpty }

  /// The first key inside of the value of an entry that has the same characters as another one of its
  /// object, in another spelling.
  fileprivate func equivalentKey(in index: Int) -> Int? {
    let content = index..<next(after: index)
    return tape.equivalentKeys.lazy.map { Int($0) }.first { content.contains($0) }
  }

  /// The error of a text that has such a key outside of all of `values`; `nil` where it has none.
  package func equivalentKeyError(outside values: [JSONNode]) -> JSONError? {
    let ranges = values.map { $0.index..<next(after: $0.index) }
    let found = tape.equivalentKeys.lazy.map { Int($0) }.first { key in
      !ranges.contains { $0.contains(key) }
    }
    return found.map { key in
      JSONError(
        reason: .duplicateKey(reader.string(key)), position: position(ofEntry: key),
        expected: "each key once in an object")
    }
  }

  /// Parses bytes, which are copied.
  ///
  /// - Throws: `JSONError` with positions counted from `origin`.
  package init(
    parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits = .standard,
    origin: JSONPosition.Origin = JSONPosition.Origin()
  ) throws(JSONError) {
    // Beyond the limit only the words for the error are needed, not the copy.
    let count = min(bytes.count, limits.bytes + 1)
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: count + Self.padding)
    UnsafeMutableRawBufferPointer(start: copy, count: count)
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
    (copy + count).initialize(repeating: 0, count: Self.padding)
    do {
      tape = try JSONParser.tape(of: copy, count: count, limits: limits)
    } catch let fault {
      defer { copy.deallocate() }
      throw JSONError(
        reason: fault.reason,
        position: JSONPosition(
          in: UnsafeBufferPointer(start: copy, count: count), at: fault.offset, origin: origin),
        expected: "\(fault.expected)")
    }
    text = UnsafePointer(copy)
    self.count = count
    self.origin = origin
  }

  /// Parses bytes of any collection, such as `[UInt8]` or `Data`, which are copied.
  ///
  /// - Throws: `JSONError` with positions counted from `origin`.
  package static func parsing(
    _ bytes: some Collection<UInt8>, limits: JSONLimits = .standard,
    origin: JSONPosition.Origin = JSONPosition.Origin()
  ) throws(JSONError) -> JSONDocument {
    let parse = { (bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONDocument, JSONError> in
      Result { () throws(JSONError) -> JSONDocument in
        try JSONDocument(parsing: UnsafeRawBufferPointer(bytes), limits: limits, origin: origin)
      }
    }
    if let result = bytes.withContiguousStorageIfAvailable(parse) { return try result.get() }
    return try Array(bytes).withUnsafeBufferPointer(parse).get()
  }

  deinit { text.deallocate() }

  /// Calls `body` with the bytes of the text.
  package func withText<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: text, count: count))
  }

  /// The value of the text.
  package var root: JSONNode { JSONNode(document: self, index: 0) }

  /// Where the value of an entry starts.
  func position(ofEntry index: Int) -> JSONPosition {
    JSONPosition(
      in: UnsafeBufferPointer(start: text, count: count), at: offset(ofEntry: index),
      origin: origin)
  }

  /// The offset of an entry in this text; of a string, that of its opening quote.
  package func offset(ofEntry index: Int) -> Int {
    let entry = entries[index]
    return Int(entry.offset) - (entry.kind == .string ? 1 : 0)
  }

  /// The entry after a value and its content.
  @inline(__always)
  package func next(after index: Int) -> Int { reader.next(after: index) }

  func bytes(ofEntry index: Int) -> UnsafeBufferPointer<UInt8> { reader.bytes(ofEntry: index) }

  /// The text and its tape, not retained: the caller keeps the document.
  package var reader: JSONTapeReader { JSONTapeReader(text: text, entries: entries) }
}

/// The text and the tape of a document, not retained: valid while the document is.
///
/// For loops over many values, in which reference counting would cost.
@_documentation(visibility: internal)
public struct JSONTapeReader: BitwiseCopyable {
  @usableFromInline let text: UnsafePointer<UInt8>
  /// The tape.
  public let entries: UnsafePointer<JSONTapeEntry>

  /// The entry after a value and its content.
  @inlinable @inline(__always)
  public func next(after index: Int) -> Int {
    let entry = entries[index]
    return entry.isContainer ? Int(entry.link) : index &+ 1
  }

  /// The bytes of a value as they stand in the text; of a string, without the quotes.
  @inlinable @inline(__always)
  public func bytes(ofEntry index: Int) -> UnsafeBufferPointer<UInt8> {
    let entry = entries[index]
    return UnsafeBufferPointer(start: text + Int(entry.offset), count: Int(entry.length))
  }

  /// The content of a string or key, escapes undone.
  package func string(_ index: Int) -> String { JSONStringContent.string(entries[index], text) }

  /// Calls `body` with the bytes of a string or key, escapes undone.
  @inlinable @inline(__always)
  public func withContent<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let bytes = bytes(ofEntry: index)
    guard entries[index].isEscaped else { return body(UnsafeRawBufferPointer(bytes)) }
    return JSONStringContent.withUnescaped(bytes, body)
  }
}

extension JSONNode {
  /// The first key inside of this value that has the same characters as another one of its object in another
  /// spelling, and where it is; only with ``JSONLimits/notesEquivalentKeys``.
  package var equivalentKey: (name: String, offset: Int)? {
    document.equivalentKey(in: index).map { key in
      (document.reader.string(key), JSONNode(document: document, index: key).offset)
    }
  }
}
