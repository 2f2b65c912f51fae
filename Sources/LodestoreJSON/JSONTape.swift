import LodestoreSystem

/// One value or key of a parsed text: its offset and kind, not its content.
///
/// ``JSONTapeEntry``, ``JSONTapeKind`` and ``JSONTapeReader`` are public only so that another
/// module can compile its loops over record values with them.
@_documentation(visibility: internal)
public struct JSONTapeEntry {
  /// The offset of the value's first byte; for a string, of the byte after the opening quote.
  public internal(set) var offset: UInt32
  /// The number of bytes of the value; for a string, without the quotes.
  public internal(set) var length: UInt32
  /// For a container, the index of the first entry after its content.
  ///
  /// Other kinds do not use it.
  ///
  /// While a container is open, it is the index of the enclosing container, so the parser needs no
  /// stack.
  public internal(set) var link: UInt32
  /// The kind in the low three bits, flags of a string above, and the number of children from bit
  /// 6.
  @usableFromInline var tag: UInt32

  // The property is computed, so that it is inlined into other modules. Access to a stored constant
  // would be a function call there.
  @inlinable static var kindMask: UInt32 { 0x07 }
  /// The flag of a string with escapes, whose bytes differ from its content.
  @inlinable static var escapedFlag: UInt32 { 0x10 }
  /// The flag of a string with bytes of at least 0x80.
  static let wideFlag: UInt32 = 0x20
  static let oneChild: UInt32 = 0x40

  /// The kind of the value.
  @inlinable public var kind: JSONTapeKind {
    JSONTapeKind(rawValue: UInt8(tag & Self.kindMask)) ?? .null
  }
  /// Whether a string has escapes, so that its bytes differ from its content.
  @inlinable public var isEscaped: Bool { tag & Self.escapedFlag != 0 }
  /// Whether the bytes of a string may differ from those of an equal string, because of escapes or
  /// non-ASCII characters.
  var isIrregular: Bool { tag & (Self.escapedFlag | Self.wideFlag) != 0 }
  /// The number of elements of an array, or of members of an object.
  @inlinable public var childCount: Int { Int(tag >> 6) }
  /// Whether the value is an array or an object.
  @inlinable public var isContainer: Bool {
    tag & Self.kindMask >= UInt32(JSONTapeKind.array.rawValue)
  }
}

extension JSONTapeEntry {
  /// Makes an entry for the value at an offset, with a length.
  @inline(__always)
  init(_ kind: JSONTapeKind, at offset: Int, length: Int = 0, link: UInt32 = 0, flags: UInt32 = 0) {
    self.init(
      offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length),
      link: link, tag: UInt32(kind.rawValue) | flags)
  }
}

/// The kind of an entry.
///
/// Containers come last.
@_documentation(visibility: internal)
public enum JSONTapeKind: UInt8 {
  case null, `false`, `true`, integer, real, string, array, object
}

/// The entries of one text in document order.
///
/// An object's entries are key, value, key, value.
///
/// The memory comes from malloc and not from an array: `realloc` grows it in place by remapping
/// pages, so old and new content are never both in memory.
struct JSONTape: ~Copyable {
  private(set) var entries: UnsafeMutablePointer<JSONTapeEntry>
  private(set) var capacity: Int
  private(set) var count = 0
  let limit: Int
  /// Faults noted because of ``JSONLimits/notesFaults``, in the order of their entries.
  var faults: [JSONNotedFault] = []
  /// The entries of numbers that neither 64-bit integers nor doubles can represent, ascending.
  ///
  /// Such numbers are noted only if faults are.
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
