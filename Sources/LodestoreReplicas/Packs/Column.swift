internal import LodestoreBytes
internal import LodestoreFormat

/// The numbers of one field of all steps of a block, as LEB128.
struct Column {
  var bytes: [UInt8] = []

  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest &>>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func append(count: Int) { append(UInt64(count)) }

  /// Appends the difference of two numbers modulo 2^64, with zigzag.
  mutating func append(_ number: UInt64, after last: UInt64) {
    let difference = Int64(bitPattern: number &- last)
    append(UInt64(bitPattern: difference &<< 1 ^ difference &>> 63))
  }

  mutating func append(text: String) {
    append(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }
}

/// Reads the numbers of a column.
struct ColumnReader {
  private let bytes: ByteView
  private var offset = 0
  private let name: StaticString

  init(_ bytes: ByteView, _ name: StaticString) {
    self.bytes = bytes
    self.name = name
  }

  var isAtEnd: Bool { offset >= bytes.count }

  func fault(_ reason: String) -> FormatError {
    FormatError("the column '\(name)' \(reason)", at: offset)
  }

  func requireEnd() throws(FormatError) {
    if !isAtEnd { throw fault("has more than the steps need") }
  }

  mutating func next() throws(FormatError) -> UInt64 {
    guard offset < bytes.count else { throw fault("ends early") }
    let first = bytes[offset]
    offset &+= 1
    if first < 0x80 { return UInt64(first) }
    var number = UInt64(first & 0x7f)
    var shift: UInt64 = 7
    while offset < bytes.count {
      let byte = bytes[offset]
      offset &+= 1
      // The tenth byte may hold only the highest bit.
      guard shift < 63 || byte <= 1 else { throw fault("has a number above 64 bits") }
      number |= UInt64(byte & 0x7f) &<< shift
      if byte < 0x80 {
        guard byte != 0 else { throw fault("has a number that is not in its shortest form") }
        return number
      }
      shift &+= 7
    }
    throw fault("ends early")
  }

  mutating func next(after last: UInt64) throws(FormatError) -> UInt64 {
    let zigzag = try next()
    return last &+ (zigzag &>> 1 ^ (0 &- (zigzag & 1)))
  }

  /// Reads a number that counts items of another column.
  mutating func count() throws(FormatError) -> Int {
    let count = try next()
    guard count <= UInt64(PackLimits.unpacked) else { throw fault("has a count of \(count)") }
    return Int(count)
  }

  mutating func number32() throws(FormatError) -> UInt32 {
    guard let number = UInt32(exactly: try next()), number > 0 else {
      throw fault("has a number of no entity and no relationship")
    }
    return number
  }

  mutating func take(_ count: Int) throws(FormatError) -> ByteView {
    guard count <= bytes.count - offset else { throw fault("ends early") }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  mutating func text() throws(FormatError) -> String {
    guard let text = String(validating: try take(try count()), as: UTF8.self) else {
      throw fault("has a text that is not UTF-8")
    }
    return text
  }
}

/// The last id of each entity or relationship in a block, to which the next id is a difference.
struct LastIDs {
  private var number: UInt32 = 0
  private var id: UInt64 = 0
  private var others: [UInt32: UInt64] = [:]

  /// The last id of `number`; 0 at first.
  subscript(number: UInt32) -> UInt64 {
    mutating get {
      select(number)
      return id
    }
    set {
      select(number)
      id = newValue
    }
  }

  private mutating func select(_ next: UInt32) {
    if next == number { return }
    others[number] = id
    number = next
    id = others[next] ?? 0
  }
}
