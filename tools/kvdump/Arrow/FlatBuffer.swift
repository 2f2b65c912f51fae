/// Builds a FlatBuffers message, the metadata of Arrow's streams.
///
/// A FlatBuffers message is built from its end. An object's offset is the number of bytes from the
/// object's start to the end of the message. The bytes are stored in reverse order until
/// ``finished(root:)``.
struct FlatBuffer {
  /// A field of a table.
  enum Field {
    /// A number of 1, 2, 4 or 8 bytes.
    case scalar(Int64, size: Int)
    /// The offset of a string, a vector or a table.
    case object(Int)

    static func flag(_ flag: Bool) -> Field { .scalar(flag ? 1 : 0, size: 1) }
  }

  private var reversed: [UInt8] = []

  /// Pads the message so that `count` bytes put next start at a multiple of `alignment`.
  private mutating func align(_ alignment: Int, before count: Int) {
    while (reversed.count + count) % alignment != 0 { reversed.append(0) }
  }

  private mutating func put(_ number: Int64, size: Int) {
    for byte in (0..<size).reversed() {
      reversed.append(UInt8(truncatingIfNeeded: number >> (8 * Int64(byte))))
    }
  }

  private mutating func putOffset(_ object: Int) {
    align(4, before: 4)
    put(Int64(reversed.count + 4 - object), size: 4)
  }

  mutating func string(_ text: String) -> Int {
    let bytes = Array(text.utf8) + [0]
    align(4, before: bytes.count)
    reversed += bytes.reversed()
    put(Int64(bytes.count - 1), size: 4)
    return reversed.count
  }

  /// Adds a vector of strings or tables.
  mutating func vector(_ objects: [Int]) -> Int {
    align(4, before: 4)
    for object in objects.reversed() { putOffset(object) }
    put(Int64(objects.count), size: 4)
    return reversed.count
  }

  /// Adds a vector of structures of two 64-bit integers.
  mutating func vector(_ pairs: [(Int, Int)]) -> Int {
    align(8, before: 16 * pairs.count)
    for pair in pairs.reversed() {
      put(Int64(pair.1), size: 8)
      put(Int64(pair.0), size: 8)
    }
    put(Int64(pairs.count), size: 4)
    return reversed.count
  }

  /// Adds a table; `nil` stands for an absent field.
  mutating func table(_ fields: [Field?]) -> Int {
    let end = reversed.count
    var places = [Int](repeating: 0, count: fields.count)
    for (position, field) in fields.enumerated() {
      switch field {
      case .scalar(let number, let size):
        align(size, before: size)
        put(number, size: size)
      case .object(let object): putOffset(object)
      case nil: continue
      }
      places[position] = reversed.count
    }
    align(4, before: 4)
    put(0, size: 4)
    let table = reversed.count
    for place in places.reversed() { put(place == 0 ? 0 : Int64(table - place), size: 2) }
    put(Int64(table - end), size: 2)
    put(Int64(4 + 2 * fields.count), size: 2)
    // The first number of a table is the distance to the list of its fields.
    let distance = reversed.count - table
    for byte in 0..<4 {
      reversed[table - 1 - byte] = UInt8(truncatingIfNeeded: distance >> (8 * byte))
    }
    return table
  }

  /// The complete message, whose length is a multiple of 8.
  mutating func finished(root: Int) -> [UInt8] {
    align(8, before: 4)
    put(Int64(reversed.count + 4 - root), size: 4)
    return reversed.reversed()
  }
}
