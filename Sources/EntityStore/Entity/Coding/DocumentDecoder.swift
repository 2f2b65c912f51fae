internal import LodestoreBytes
internal import LodestoreFormat

/// One run of the decoder over one document, which all its containers share.
///
/// Containers hold offsets only. A coding path is computed from the offset when an error or a
/// caller needs it. Storing paths would cost an allocation for each level of each record.
final class DocumentDecoding {
  /// A stand-in offset for the `super` value of a class when the document does not contain one; it
  /// decodes as null.
  static let missing = -1

  /// The depth at which a value is nested.
  struct Depth {
    /// The number of enclosing arrays and objects.
    var nesting: Int32 = 0
    /// The number of nested decoding calls around the value, which bounds the use of the stack.
    var calls: Int32 = 0

    var inside: Depth { Depth(nesting: nesting + 1, calls: calls) }
  }

  /// The position of the member of one object that was found last, where the next search begins.
  private struct Cursor {
    var object = -1
    var value = 0
  }

  private var bytes: ByteView
  /// Cursors for the four outermost levels, where objects with many members occur.
  private var cursors = (Cursor(), Cursor(), Cursor(), Cursor())
  /// The first error in a method of the protocol that cannot throw; the run throws it at its end.
  private var failure: (any Error)?

  init(_ bytes: ByteView) { self.bytes = bytes }

  /// Releases the bytes; all later decoding throws.
  func end() { bytes = ByteView() }

  func root<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try value(type, at: 0, Depth())
    if let failure { throw failure }
    let end = try offset(after: 0)
    guard end == bytes.count else { throw trailingBytes(end) }
    return value
  }

  // MARK: Structure

  /// A reader whose next value is the one at `offset`.
  @inline(__always)
  func reader(at offset: Int) -> DocumentReader {
    guard offset >= 0, offset <= bytes.count else { return DocumentReader(ByteView()) }
    return DocumentReader(bytes[offset...])
  }

  func isNull(_ offset: Int) -> Bool {
    offset == Self.missing || (try? reader(at: offset).kind()) == .null
  }

  func offset(after offset: Int) throws -> Int {
    var reader = reader(at: offset)
    do { try reader.skip() } catch { throw damaged(error, offset) }
    return offset + reader.offset
  }

  /// Steps into the array or object at `offset`.
  func enter(
    _ kind: DocumentReader.Kind, at offset: Int, _ depth: Depth
  ) throws -> (first: Int, count: Int, end: Int) {
    let (type, expected): (Any.Type, String) =
      kind == .array ? ([Any].self, "an array") : ([String: Any].self, "an object")
    var reader = reader(at: offset)
    let start = reader
    let (count, end): (Int, Int)
    do {
      (count, end) = try kind == .array ? reader.enterArray() : reader.enterObject()
    } catch {
      throw decodingError(
        DocumentFault(error, type, kind, expected: expected, at: start), within: offset)
    }
    guard depth.nesting < Document.deepestNesting else {
      throw decodingError(.tooDeep(type, at: 0), within: offset)
    }
    return (offset + reader.offset, count, offset + end)
  }

  /// Returns the offset of the value of the member `name` of an object.
  ///
  /// Names are sorted. The search starts after the member found last, and ends at the first name
  /// that sorts after `name`. A caller that asks in the order of the names finds each with one
  /// comparison.
  func member(_ name: String, of object: Int, first: Int, end: Int, _ depth: Depth) throws -> Int? {
    let cursor = cursor(depth, object)
    var name = name
    do {
      let found = try name.withUTF8 { name in
        try find(ByteView(name), first: first, end: end, after: cursor)
      }
      if let found { setCursor(depth, Cursor(object: object, value: found)) }
      return found
    } catch let error as FormatError {
      throw damaged(error, object)
    }
  }

  private func find(
    _ name: ByteView, first: Int, end: Int, after known: Int?
  ) throws(FormatError) -> Int? {
    var isRestarted = known == nil
    var offset = first
    if let known {
      var reader = reader(at: known)
      try reader.skip()
      offset = known + reader.offset
    }
    while true {
      guard offset >= 0, offset < end, end <= bytes.count else {
        if isRestarted { return nil }
        (isRestarted, offset) = (true, first)
        continue
      }
      var reader = reader(at: offset)
      let found = try reader.name()
      if found.count == name.count, found.elementsEqual(name) { return offset + reader.offset }
      if DocumentMembers.precedes(name, found) {
        // The name may precede the member at which the search began, so the search restarts once at
        // the first member.
        if isRestarted { return nil }
        (isRestarted, offset) = (true, first)
        continue
      }
      isRestarted = true
      try reader.skip()
      offset += reader.offset
    }
  }

  private func cursor(_ depth: Depth, _ object: Int) -> Int? {
    let cursor =
      switch depth.nesting {
      case 0: cursors.0
      case 1: cursors.1
      case 2: cursors.2
      default: cursors.3
      }
    return cursor.object == object ? cursor.value : nil
  }

  private func setCursor(_ depth: Depth, _ cursor: Cursor) {
    switch depth.nesting {
    case 0: cursors.0 = cursor
    case 1: cursors.1 = cursor
    case 2: cursors.2 = cursor
    default: cursors.3 = cursor
    }
  }

  /// The names of an object's members.
  ///
  /// Damaged bytes end the list and fail the run.
  func names(first: Int, count: Int, end: Int) -> [String] {
    var names: [String] = []
    names.reserveCapacity(min(count, DocumentMembers.largestReservation))
    var reader = reader(at: first)
    do {
      for _ in 0..<count {
        names.append(try reader.memberName())
        try reader.skip()
      }
      try reader.expectEnd(end - first)
    } catch {
      fail(damaged(error, first))
    }
    return names
  }

  /// Makes the run throw `error` at its end, unless an earlier error is recorded.
  func fail(_ error: any Error) { if failure == nil { failure = error } }

  // MARK: Values

  @inline(__always)
  func direct<V: DocumentValue>(_ type: V.Type, at offset: Int, _ depth: Depth) throws -> V {
    var reader = reader(at: offset)
    do {
      return try V.readDocument(from: &reader, nesting: Int(depth.nesting))
    } catch {
      throw decodingError(error, within: offset)
    }
  }

  func value<T: Decodable>(_ type: T.Type, at offset: Int, _ depth: Depth) throws -> T {
    var reader = reader(at: offset)
    do {
      let known = try DocumentDirect.read(type, from: &reader, nesting: Int(depth.nesting))
      if let known { return known }
    } catch {
      throw decodingError(error, within: offset)
    }
    guard depth.calls < DocumentCoding.deepestCall else {
      throw decodingError(.tooDeep(type, at: 0), within: offset)
    }
    let inside = Depth(nesting: depth.nesting, calls: depth.calls + 1)
    return try T(from: DocumentValueDecoder(decoding: self, offset: offset, depth: inside))
  }
}

// MARK: - Errors

extension DocumentDecoding {
  /// The keys and positions from the root to the value at `target`.
  ///
  /// Damaged bytes end the path early.
  func path(to target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var container = 0
    while container < target {
      var reader = reader(at: container)
      guard let kind = try? reader.kind(), kind == .array || kind == .object,
        let (count, _) = try? kind == .array ? reader.enterArray() : reader.enterObject()
      else { break }
      var next: Int?
      for position in 0..<count {
        let name = kind == .object ? try? reader.memberName() : nil
        let start = container + reader.offset
        guard (try? reader.skip()) != nil else { break }
        if target < container + reader.offset {
          path.append(
            name.map(PathKey.init(stringValue:)) ?? PathKey(intValue: position))
          next = start
          break
        }
      }
      guard let next else { break }
      container = next
    }
    return path
  }

  func context(
    _ offset: Int, found: String, expected: String, _ error: (any Error)? = nil
  ) -> DecodingError.Context {
    DecodingError.Context(
      path(to: offset), atByte: max(offset, 0), found: found, expected: expected, error)
  }

  /// The decoding error for a fault of a reader that began at `start`.
  ///
  /// As in Foundation, null is a missing value and another kind is a type mismatch.
  func decodingError(_ fault: DocumentFault, within start: Int) -> DecodingError {
    if start == Self.missing {
      return .valueNotFound(fault.type, context(0, found: "nothing", expected: fault.expected))
    }
    let offset = start + fault.offset
    switch fault.reason {
    case .mismatch(.null):
      return .valueNotFound(
        fault.type, context(offset, found: "null", expected: fault.expected))
    case .mismatch(let kind):
      return .typeMismatch(
        fault.type, context(offset, found: kind.words, expected: fault.expected))
    case .unsuitable:
      let found = (try? reader(at: offset).kind())?.words ?? "nothing"
      return .dataCorrupted(
        context(offset, found: "\(found) that is none", expected: fault.expected))
    case .damaged(let error):
      return .dataCorrupted(
        context(offset, found: "'\(error.reason)'", expected: fault.expected, error))
    }
  }

  func damaged(_ error: FormatError, _ offset: Int) -> DecodingError {
    .dataCorrupted(
      context(offset, found: "'\(error.reason)'", expected: "a value of the format", error))
  }

  func trailingBytes(_ end: Int) -> DecodingError {
    .dataCorrupted(
      context(
        0, found: "\(bytes.count - end) bytes after a value of \(end)", expected: "nothing more"))
  }
}

extension DocumentReader.Kind {
  /// The kind, as error messages name it.
  var words: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
    case .integer, .unsigned: "an integer"
    case .double: "a double"
    case .text: "a string"
    case .data: "data"
    case .date: "a date"
    case .uuid: "a UUID"
    case .decimal: "a decimal"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
