import LodestoreBytes

/// A parsed JSON text: its bytes and the tape over them.
///
/// The document is immutable, so any thread may read it. A document takes the memory of the text
/// and 16 bytes for each value and key.
package final class JSONDocument: @unchecked Sendable {
  /// The number of zeros after the text.
  ///
  /// The parser stops at a zero, and reads eight bytes at a time, so it may read beyond the text.
  private static let padding = 16

  /// The text with the padding after it.
  let text: ByteView
  /// The bytes of the text, without the padding.
  let count: Int
  private let tape: JSONTape
  /// The position of the text within its file.
  package let origin: JSONPosition.Origin

  var entries: UnsafePointer<JSONTapeEntry> { UnsafePointer(tape.entries) }
  /// Whether a value of the text breaks a rule of JSON.
  ///
  /// Faults are noted only with ``JSONLimits/notesFaults``.
  package var hasFaults: Bool { !tape.faults.isEmpty }

  /// The first fault within the value of an entry; O(log faults).
  fileprivate func fault(in index: Int) -> JSONFault? {
    let faults = tape.faults
    let first = faults.partitioningIndex { $0.entry >= index }
    guard first < faults.count, Int(faults[first].entry) < next(after: index) else { return nil }
    return faults[first].fault
  }

  /// The first number within the value of an entry that fits no 64-bit integer and no double.
  ///
  /// Such a number is an integer outside 64 bits, or becomes infinity or zero as a double. The
  /// search takes O(log numbers).
  package func wideNumber(in index: Int) -> JSONNode? {
    let numbers = tape.wideNumbers
    guard !numbers.isEmpty else { return nil }
    let first = numbers.partitioningIndex { $0 >= index }
    guard first < numbers.count, Int(numbers[first]) < next(after: index) else { return nil }
    return JSONNode(document: self, index: Int(numbers[first]))
  }

  /// The error of the first fault outside all `values`; `nil` without such a fault.
  ///
  /// The values must be in the order of the text.
  package func faultError(outside values: some Sequence<JSONNode>) -> JSONError? {
    var faults = tape.faults[...]
    for value in values {
      guard let first = faults.first else { return nil }
      if Int(first.entry) < value.index { break }
      let end = next(after: value.index)
      faults = faults.drop { Int($0.entry) < end }
    }
    return faults.first.map { error(of: $0.fault) }
  }

  /// The error for a fault of this text, with its line and column; O(bytes before the fault).
  fileprivate func error(of fault: JSONFault) -> JSONError {
    JSONError(
      reason: fault.reason,
      position: JSONPosition(
        in: text[..<count], at: fault.offset, origin: origin),
      expected: "\(fault.expected)")
  }

  /// The lines of ascending offsets from the start of the file; O(bytes up to the last one).
  package func lines(at offsets: [Int]) -> [Int] {
    var line = origin.line
    var at = 0
    return offsets.map { offset in
      let end = min(max(offset - origin.offset, at), count)
      for index in at..<end where text[index] == 0x0A { line += 1 }
      at = end
      return line
    }
  }

  /// Parses bytes, which are copied.
  ///
  /// - Throws: `JSONError` with positions counted from `origin`.
  package init(
    parsing bytes: ByteView, limits: JSONLimits = .standard,
    origin: JSONPosition.Origin = JSONPosition.Origin()
  ) throws(JSONError) {
    // If the text exceeds the limit, only as many bytes are copied as the error needs.
    let count = min(bytes.count, limits.bytes + 1)
    let copy = MutableByteView.allocate(byteCount: count + Self.padding, alignment: 1)
    copy.copyMemory(from: bytes.prefix(count))
    copy[count...].zero()
    do {
      tape = try JSONParser.tape(of: ByteView(copy), count: count, limits: limits)
    } catch let fault {
      defer { copy.deallocate() }
      throw JSONError(
        reason: fault.reason,
        position: JSONPosition(
          in: ByteView(copy)[..<count], at: fault.offset, origin: origin),
        expected: "\(fault.expected)")
    }
    text = ByteView(copy)
    self.count = count
    self.origin = origin
  }

  /// Parses the bytes of any collection, such as `[UInt8]` or `Data`, which are copied.
  ///
  /// - Throws: `JSONError` with positions counted from `origin`.
  package static func parsing(
    _ bytes: some Collection<UInt8>, limits: JSONLimits = .standard,
    origin: JSONPosition.Origin = JSONPosition.Origin()
  ) throws(JSONError) -> JSONDocument {
    let parse = { (bytes: ByteView) -> Result<JSONDocument, JSONError> in
      Result { () throws(JSONError) -> JSONDocument in
        try JSONDocument(parsing: bytes, limits: limits, origin: origin)
      }
    }
    if let result = bytes.withContiguousStorageIfAvailable({ parse(ByteView($0)) }) {
      return try result.get()
    }
    return try Array(bytes)._withBytes(parse).get()
  }

  deinit { text.deallocate() }

  /// Calls `body` with the bytes of the text.
  package func withText<R>(_ body: (ByteView) throws -> R) rethrows -> R {
    try body(text[..<count])
  }

  /// The value of the text.
  package var root: JSONNode { JSONNode(document: self, index: 0) }

  /// The position of the value of an entry.
  func position(ofEntry index: Int) -> JSONPosition {
    JSONPosition(
      in: text[..<count], at: offset(ofEntry: index), origin: origin)
  }

  /// The offset of an entry in this text.
  ///
  /// For a string it is the offset of the opening quote.
  package func offset(ofEntry index: Int) -> Int {
    let entry = entries[index]
    return Int(entry.offset) - (entry.kind == .string ? 1 : 0)
  }

  /// The entry after a value and its content.
  @inline(__always)
  package func next(after index: Int) -> Int { reader.next(after: index) }

  func bytes(ofEntry index: Int) -> ByteView { reader.bytes(ofEntry: index) }

  /// The text and its tape without a reference to the document.
  ///
  /// The caller must retain the document.
  package var reader: JSONTapeReader { JSONTapeReader(text: text, entries: entries) }
}

/// The text and the tape of a document, without a reference to it.
///
/// The reader is valid while the document exists. The reader serves loops over many values, in
/// which reference counting would be too slow.
@_documentation(visibility: internal)
public struct JSONTapeReader: BitwiseCopyable {
  @usableFromInline let text: ByteView
  /// The entries of the text.
  public let entries: UnsafePointer<JSONTapeEntry>

  /// The entry after a value and its content.
  @inlinable @inline(__always)
  public func next(after index: Int) -> Int {
    let entry = entries[index]
    return entry.isContainer ? Int(entry.link) : index &+ 1
  }

  /// The bytes of a value as written in the text, for a string without the quotes.
  @inlinable @inline(__always)
  public func bytes(ofEntry index: Int) -> ByteView { text.part(of: entries[index]) }

  /// The content of a string or key, with escapes decoded.
  package func string(_ index: Int) -> String { JSONStringContent.string(entries[index], text) }

  /// Calls `body` with the bytes of a string or key, with escapes decoded.
  @inlinable @inline(__always)
  public func withContent<R>(_ index: Int, _ body: (ByteView) -> R) -> R {
    let bytes = bytes(ofEntry: index)
    guard entries[index].isEscaped else { return body(bytes) }
    return JSONStringContent.withUnescaped(bytes, body)
  }
}

extension ByteView {
  /// The bytes of a value as they stand in this text; of a string, without the quotes.
  @inlinable @inline(__always)
  func part(of entry: JSONTapeEntry) -> ByteView {
    part(from: Int(entry.offset), count: Int(entry.length))
  }
}

extension JSONNode {
  /// The first fault within this value, in words, and its offset in the file.
  ///
  /// Faults are noted only with ``JSONLimits/notesFaults``.
  package var fault: (words: String, offset: Int)? {
    document.fault(in: index).map { fault in
      (
        "found \(fault.reason.found), expected \(fault.expected)",
        document.origin.offset + fault.offset
      )
    }
  }

  /// The fault as an error with line and column; O(bytes before it).
  package var faultError: JSONError? { document.fault(in: index).map(document.error(of:)) }

  /// The first number within this value that neither 64-bit integers nor doubles can represent.
  ///
  /// Such numbers are noted only with ``JSONLimits/notesFaults``.
  package var wideNumber: JSONNode? { document.wideNumber(in: index) }
}

extension RandomAccessCollection where Index == Int {
  /// The first position at which `isBehind` is true.
  ///
  /// The closure must also be true at all later positions.
  fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
