/// Writes document values, one after another, into a byte buffer.
///
/// See Format.md, "Documents".
///
/// The caller keeps to the rules that span values: members in ascending order of their names'
/// bytes and without duplicates (``sortedNames(_:)``), true counts, nesting of 128 at most, and
/// arrays and objects under 4 GiB, beyond which `endArray` and `endObject` trap.
package struct DocumentWriter {
  /// What has been written; set it to continue in a buffer that has its capacity already.
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func writeNull() {
    bytes.append(DocumentCode.null)
  }

  package mutating func write(_ value: Bool) {
    bytes.append(value ? DocumentCode.true : DocumentCode.false)
  }

  package mutating func write(_ value: Int64) {
    bytes.append(DocumentCode.integer)
    writeLEB128(UInt64(bitPattern: value &<< 1 ^ value &>> 63))
  }

  /// Writes code `03` for a value that fits a signed integer, as the format demands.
  package mutating func write(_ value: UInt64) {
    if let signed = Int64(exactly: value) {
      write(signed)
    } else {
      bytes.append(DocumentCode.unsigned)
      writeLEB128(value)
    }
  }

  package mutating func write(_ value: Double) {
    bytes.append(DocumentCode.double)
    writeWord(value.bitPattern)
  }

  /// Writes text by its UTF-8 bytes, which are not checked here.
  package mutating func write(text: UnsafeRawBufferPointer) {
    bytes.append(DocumentCode.text)
    writeLengthAndBytes(text)
  }

  package mutating func write(_ string: String) {
    bytes.append(DocumentCode.text)
    writeLengthAndBytes(string)
  }

  package mutating func write(data: UnsafeRawBufferPointer) {
    bytes.append(DocumentCode.data)
    writeLengthAndBytes(data)
  }

  /// Writes a date in seconds since 2001-01-01T00:00:00Z.
  package mutating func write(date seconds: Double) {
    bytes.append(DocumentCode.date)
    writeWord(seconds.bitPattern)
  }

  package mutating func write(_ value: UUIDBytes) {
    bytes.append(DocumentCode.uuid)
    writeWord(value.high.byteSwapped)
    writeWord(value.low.byteSwapped)
  }

  package mutating func write(_ value: DecimalValue) {
    bytes.append(DocumentCode.decimal)
    bytes.append(contentsOf: value.bytes)
  }

  /// Starts an array; the token goes to ``endArray(_:count:)`` after its values.
  package mutating func beginArray() -> Int {
    begin(DocumentCode.array)
  }

  /// Ends the array that `token` started, with the number of values written since.
  package mutating func endArray(_ token: Int, count: Int) {
    end(token, count: count)
  }

  /// Starts an object; the token goes to ``endObject(_:count:)`` after its members.
  package mutating func beginObject() -> Int {
    begin(DocumentCode.object)
  }

  /// Ends the object that `token` started, with the number of members written since.
  package mutating func endObject(_ token: Int, count: Int) {
    end(token, count: count)
  }

  /// Writes a member's name; its value must follow.
  package mutating func writeName(_ name: String) {
    writeLengthAndBytes(name)
  }

  /// `names` in the order of an object's members: by UTF-8 bytes.
  ///
  /// Not by `<` of strings, which orders by canonical decomposition.
  package static func sortedNames(_ names: some Collection<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

extension DocumentWriter {
  private mutating func writeLEB128(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest &>>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private mutating func writeWord(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func writeLengthAndBytes(_ content: UnsafeRawBufferPointer) {
    writeLEB128(UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  private mutating func writeLengthAndBytes(_ string: String) {
    var string = string
    string.withUTF8 { writeLengthAndBytes(UnsafeRawBufferPointer($0)) }
  }

  private mutating func begin(_ code: UInt8) -> Int {
    bytes.append(code)
    writeWord(0)
    return bytes.count - 8
  }

  private mutating func end(_ token: Int, count: Int) {
    let length = UInt32(bytes.count - token - 4)
    bytes.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: length.littleEndian, toByteOffset: token, as: UInt32.self)
      buffer.storeBytes(of: UInt32(count).littleEndian, toByteOffset: token + 4, as: UInt32.self)
    }
  }
}
