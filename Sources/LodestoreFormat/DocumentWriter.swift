import LodestoreBytes

/// Writes document values one after another into a byte buffer.
///
/// See Format.md, "Documents".
///
/// The type is public because the compiler inlines only public code into other modules. Inlining
/// makes documents 1.3 times faster to write.
///
/// The caller must follow the rules that span values:
///
/// - members are in ascending order of their names' bytes, without duplicates (``sortedNames(_:)``)
/// - the counts passed to `endArray` and `endObject` are the numbers of values and members written
/// - nesting is at most 128
/// - arrays and objects are smaller than 4 GiB; otherwise `endArray` and `endObject` trap
@_documentation(visibility: internal)
public struct DocumentWriter: ~Copyable {
  @usableFromInline private(set) var base: UnsafeMutableRawPointer?
  @usableFromInline private(set) var capacity = 0
  @usableFromInline var used = 0

  /// Creates a writer.
  ///
  /// Memory is allocated at the first write.
  @inlinable @_documentation(visibility: internal)
  public init() {}

  deinit { base?.deallocate() }

  /// The number of bytes written.
  @_documentation(visibility: internal)
  @inlinable public var count: Int { used }

  /// The bytes written so far.
  package var bytes: [UInt8] { withBytes { Array($0) } }

  /// Calls `body` with the bytes written so far.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func withBytes<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
    try body(ByteView(start: base, count: count))
  }

  /// Removes everything after the first `count` bytes, and keeps the memory.
  @inlinable @_documentation(visibility: internal)
  public mutating func truncate(to count: Int) { used = min(used, count) }

  /// Appends bytes that are already encoded documents or parts of them.
  package mutating func append(encoded bytes: ByteView) { put(bytes) }

  // MARK: Values

  /// Writes null.
  @inlinable @_documentation(visibility: internal)
  public mutating func writeNull() { put(DocumentCode.null) }

  /// Writes a Boolean.
  @inlinable @_documentation(visibility: internal)
  public mutating func write(_ value: Bool) { put(value ? DocumentCode.true : DocumentCode.false) }

  /// Writes an integer.
  @inlinable @_documentation(visibility: internal)
  public mutating func write(_ value: Int64) {
    put(DocumentCode.integer)
    writeLEB128(UInt64(bitPattern: value &<< 1 ^ value &>> 63))
  }

  /// Writes an unsigned integer.
  ///
  /// A value that fits a signed integer gets code `03`, as the format demands.
  package mutating func write(_ value: UInt64) {
    if let signed = Int64(exactly: value) {
      write(signed)
    } else {
      put(DocumentCode.unsigned)
      writeLEB128(value)
    }
  }

  package mutating func write(_ value: Double) {
    put(DocumentCode.double)
    writeWord(value.bitPattern)
  }

  /// Writes the UTF-8 bytes of a text without validating them.
  @inlinable @_documentation(visibility: internal)
  public mutating func write(text: ByteView) {
    put(DocumentCode.text)
    writeLengthAndBytes(text)
  }

  package mutating func write(_ string: String) {
    put(DocumentCode.text)
    writeLengthAndBytes(string)
  }

  package mutating func write(data: ByteView) {
    put(DocumentCode.data)
    writeLengthAndBytes(data)
  }

  /// Writes a date in seconds since 2001-01-01T00:00:00Z.
  package mutating func write(date seconds: Double) {
    put(DocumentCode.date)
    writeWord(seconds.bitPattern)
  }

  package mutating func write(_ value: UUIDBytes) {
    put(DocumentCode.uuid)
    writeWord(value.high.byteSwapped)
    writeWord(value.low.byteSwapped)
  }

  package mutating func write(_ value: DecimalValue) {
    put(DocumentCode.decimal)
    value.bytes._withBytes { put($0) }
  }

  /// Starts an array.
  ///
  /// Pass the token to ``endArray(_:count:)`` after its values.
  @inlinable @_documentation(visibility: internal)
  public mutating func beginArray() -> Int { begin(DocumentCode.array) }

  /// Ends the array that `token` started.
  ///
  /// `count` is the number of values written since.
  @inlinable @_documentation(visibility: internal)
  public mutating func endArray(_ token: Int, count: Int) { end(token, count: count) }

  /// Starts an object.
  ///
  /// Pass the token to ``endObject(_:count:)`` after its members.
  @inlinable @_documentation(visibility: internal)
  public mutating func beginObject() -> Int { begin(DocumentCode.object) }

  /// Ends the object that `token` started.
  ///
  /// `count` is the number of members written since.
  @inlinable @_documentation(visibility: internal)
  public mutating func endObject(_ token: Int, count: Int) { end(token, count: count) }

  /// Writes a member's name; its value must follow.
  package mutating func writeName(_ name: String) { writeLengthAndBytes(name) }

  /// Writes a member's name from its bytes; its value must follow.
  @inlinable @_documentation(visibility: internal)
  public mutating func writeName(utf8 name: ByteView) { writeLengthAndBytes(name) }

  /// `names` in the order of an object's members, by UTF-8 bytes.
  ///
  /// The `<` of strings gives another order, by canonical decomposition.
  package static func sortedNames(_ names: some Collection<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

extension DocumentWriter {
  @inlinable
  mutating func writeLEB128(_ value: UInt64) {
    VariableNumber.forEachByte(of: value) { put($0) }
  }

  @inlinable
  mutating func writeWord(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { put(ByteView($0)) }
  }

  @inlinable
  mutating func writeLengthAndBytes(_ content: ByteView) {
    writeLEB128(UInt64(content.count))
    put(content)
  }

  private mutating func writeLengthAndBytes(_ string: String) {
    var string = string
    string.withUTF8 { writeLengthAndBytes(ByteView($0)) }
  }

  @inlinable
  mutating func begin(_ code: UInt8) -> Int {
    put(code)
    writeWord(0)
    return count - 8
  }

  @inlinable
  mutating func end(_ token: Int, count: Int) {
    let length = UInt32(self.count - token - 4)
    base?.storeBytes(of: length.littleEndian, toByteOffset: token, as: UInt32.self)
    base?.storeBytes(of: UInt32(count).littleEndian, toByteOffset: token + 4, as: UInt32.self)
  }

  @inlinable @inline(__always)
  mutating func put(_ byte: UInt8) {
    room(for: 1).storeBytes(of: byte, as: UInt8.self)
    used &+= 1
  }

  @inlinable @inline(__always)
  mutating func put(_ content: ByteView) {
    guard let source = content.baseAddress else { return }
    room(for: content.count).copyMemory(from: source, byteCount: content.count)
    used &+= content.count
  }

  /// The address of the next byte to write, with at least `needed` bytes of capacity.
  @inlinable @inline(__always)
  mutating func room(for needed: Int) -> UnsafeMutableRawPointer {
    if let base, needed <= capacity &- count { return base + count }
    return grow(by: needed)
  }

  @usableFromInline @inline(never)
  mutating func grow(by needed: Int) -> UnsafeMutableRawPointer {
    let larger = max(count + needed, capacity * 2, 256)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    if let base {
      moved.copyMemory(from: base, byteCount: count)
      base.deallocate()
    }
    base = moved
    capacity = larger
    return moved + count
  }
}
