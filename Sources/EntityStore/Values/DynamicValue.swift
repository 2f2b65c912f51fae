internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A value of an expression: a scalar, a text in the memory-mapped file, or a part of a document.
///
/// The value is valid as long as the record's bytes are.
enum DynamicValue {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer above `Int64.max`.
  case unsigned(UInt64)
  case double(Double)
  case decimal(DecimalValue)
  case date(Double)
  case uuid(UUIDBytes)
  /// The UTF-8 bytes of a text.
  case text(ByteView)
  case string(String)
  case data(ByteView)
  case bytes([UInt8])
  /// An array or an object of a document.
  case collection(ByteView)
  case list([DynamicValue])

  /// The current time in seconds since 2001.
  static var currentTime: Double { Date().timeIntervalSinceReferenceDate }

  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .integer(let number): self = .integer(number)
    case .unsigned(let number): self = .unsigned(number)
    case .double(let number): self = .double(number)
    case .date(let seconds): self = .date(seconds)
    case .uuid(let uuid): self = .uuid(uuid)
    case .decimal(let decimal): self = .decimal(decimal)
    case .string(let text): self = .string(text)
    case .data(let bytes): self = .bytes(bytes)
    case .document: self = .null
    }
  }

  /// Creates the value that `document` contains.
  init(document: ByteView) throws(FormatError) {
    var reader = DocumentReader(document)
    switch try reader.kind() {
    case .null: self = .null
    case .bool: self = .bool(try reader.bool())
    case .integer: self = .integer(try reader.int64())
    case .unsigned: self = .unsigned(try reader.uint64())
    case .double: self = .double(try reader.double())
    case .text: self = .text(try reader.text())
    case .data: self = .data(try reader.data())
    case .date: self = .date(try reader.date())
    case .uuid: self = .uuid(try reader.uuid())
    case .decimal: self = .decimal(try reader.decimal())
    case .array, .object: self = .collection(document)
    }
  }

  var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// Whether the value is not-a-number, which has no order among numbers and dates.
  var isNotANumber: Bool {
    switch self {
    case .double(let number), .date(let number): number.isNaN
    case .decimal(let decimal): decimal.isNaN
    default: false
    }
  }

  /// Calls `body` with the UTF-8 bytes of a text; returns `nil` for any other value.
  func withText<R>(_ body: (ByteView) throws -> R) rethrows -> R? {
    switch self {
    case .text(let bytes): return try body(bytes)
    case .string(var text): return try text.withUTF8 { try body(ByteView($0)) }
    default: return nil
    }
  }

  var string: String? { withText { String(decoding: $0, as: UTF8.self) } }

  /// The value as a number, if it is one.
  var number: Number? {
    switch self {
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let value): .integer(Int128(value))
    case .unsigned(let value): .integer(Int128(value))
    case .double(let value): .double(value)
    case .decimal(let value): .double(value.nearestDouble)
    default: nil
    }
  }

  /// A number of an expression.
  ///
  /// Integers are exact up to 128 bits.
  enum Number {
    case integer(Int128)
    case double(Double)

    var double: Double {
      switch self {
      case .integer(let value): Double(value)
      case .double(let value): value
      }
    }
  }

  init(_ number: Number) {
    switch number {
    case .double(let value): self = .double(value)
    case .integer(let value):
      if let small = Int64(exactly: value) {
        self = .integer(small)
      } else if let large = UInt64(exactly: value) {
        self = .unsigned(large)
      } else {
        self = .null
      }
    }
  }

  /// Returns the elements of a list or an array, or the values of an object's members; `nil` for a
  /// scalar.
  func elements() throws -> [DynamicValue]? {
    switch self {
    case .list(let elements): return elements
    case .collection(let document):
      var reader = DocumentReader(document)
      var elements: [DynamicValue] = []
      if try reader.kind() == .array {
        let (count, _) = try reader.enterArray()
        for _ in 0..<count { elements.append(try DynamicValue(document: try reader.value())) }
      } else {
        let (count, _) = try reader.enterObject()
        for _ in 0..<count {
          _ = try reader.name()
          elements.append(try DynamicValue(document: try reader.value()))
        }
      }
      return elements
    default: return nil
    }
  }
}
