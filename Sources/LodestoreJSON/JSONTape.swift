import LodestoreSystem

/// One value or key of a parsed text: its offset and kind, not its content.
///
/// Public, with ``JSONTapeKind`` and ``JSONTapeReader``, only so that the loops over the values of
/// records are compiled with the module that has them.
@_documentation(visibility: internal)
public struct JSONTapeEntry {
  /// First byte of the value; for a string, the byte after the opening quote.
  public internal(set) var offset: UInt32
  /// Bytes of the value; for a string, without the quotes.
  public internal(set) var length: UInt32
  /// Of a container, the index of the first entry after its content; of other kinds, unused.
  ///
  /// While a container is open, the index of the one around it, so that the parser needs no stack.
  public internal(set) var link: UInt32
  /// Kind in the low three bits, flags of a string above, number of children from bit 6.
  @usableFromInline var tag: UInt32

  // Computed: a stored constant is a call for another module.
  @inlinable static var kindMask: UInt32 { 0x07 }
  /// The string has escapes: its bytes are not its content.
  @inlinable static var escapedFlag: UInt32 { 0x10 }
  /// The string has bytes from 0x80.
  static let wideFlag: UInt32 = 0x20
  static let oneChild: UInt32 = 0x40

  /// What the value is.
  @inlinable public var kind: JSONTapeKind {
    JSONTapeKind(rawValue: UInt8(tag & Self.kindMask)) ?? .null
  }
  /// Whether the bytes of a string are not its content, as they have escapes.
  @inlinable public var isEscaped: Bool { tag & Self.escapedFlag != 0 }
  /// Whether comparing bytes may differ from comparing strings.
  var isIrregular: Bool { tag & (Self.escapedFlag | Self.wideFlag) != 0 }
  /// Elements of an array, members of an object.
  @inlinable public var childCount: Int { Int(tag >> 6) }
  /// Whether it is an array or an object.
  @inlinable public var isContainer: Bool {
    tag & Self.kindMask >= UInt32(JSONTapeKind.array.rawValue)
  }
}

extension JSONTapeEntry {
  /// The offset and the length are those of a value in the text.
  @inline(__always)
  init(
    _ kind: JSONTapeKind, at offset: Int, length: Int = 0, link: UInt32 = 0, flags: UInt32 = 0
  ) {
    self.init(
      offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length),
      link: link, tag: UInt32(kind.rawValue) | flags)
  }
}

/// The kind of an entry; containers come last.
@_documentation(visibility: internal)
public enum JSONTapeKind: UInt8 {
  case null, `false`, `true`, integer, real, string, array, object
}

/// The entries of one text in document order; an object's are key, value, key, value.
///
/// In memory of malloc, not an array: `realloc` grows it in place by remapping pages, so that old and
/// new content are never both in memory.
struct JSONTape: ~Copyable {
  private(set) var entries: UnsafeMutablePointer<JSONTapeEntry>
  private(set) var capacity: Int
  private(set) var count = 0
  let limit: Int
  /// Faults that were noted because of ``JSONLimits/notesFaults``, in the order of their entries.
  var faults: [JSONNotedFault] = []
  /// Numbers that no integer of 64 bits and no double holds, ascending; only noted with the faults.
  var wideNumbers: [UInt32] = []

  init(capacity: Int, limit: Int) {
    self.capacity = max(min(capacity, limit), 1)
    self.limit = limit
    entries = Self.resize(nil, to: self.capacity)
  }

  deinit { free(entries) }

  @inline(__always)
  mutating func append(_ entry: JSONTapeEntry, at offset: Int) throws(JSONFault) {
    if count == capacity || count >= limit { try grow(at: offset) }
    entries[count] = entry
    count &+= 1
  }

  @inline(never)
  private mutating func grow(at offset: Int) throws(JSONFault) {
    guard count < limit else {
      throw JSONFault(
        .tooManyValues(limit: limit), at: offset,
        expected: "a smaller text; split it, for instance into JSON Lines")
    }
    capacity = min(capacity * 2, limit)
    entries = Self.resize(entries, to: capacity)
  }

  private static func resize(
    _ old: UnsafeMutablePointer<JSONTapeEntry>?, to capacity: Int
  ) -> UnsafeMutablePointer<JSONTapeEntry> {
    let size = capacity * MemoryLayout<JSONTapeEntry>.stride
    guard let memory = realloc(old, size) else {
      preconditionFailure("out of memory: \(size) bytes for a JSON text")
    }
    return memory.bindMemory(to: JSONTapeEntry.self, capacity: capacity)
  }
}
