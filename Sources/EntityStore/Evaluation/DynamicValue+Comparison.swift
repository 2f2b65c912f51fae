internal import LodestoreBytes
internal import LodestoreFormat

extension DynamicValue {
  /// Returns the order of two values, or `nil` if they have none: different kinds, null, or
  /// not-a-number.
  ///
  /// Text compared with a date or a UUID is parsed as one, since JSON stores both as text.
  static func order(_ a: DynamicValue, _ b: DynamicValue, _ options: TextOptions) throws -> Int? {
    if let text = textOrder(a, b, options) { return text }
    if let left = a.number, let right = b.number { return numberOrder(a, left, b, right) }
    switch (a, b) {
    case (.date(let left), .date(let right)): return order(left, right)
    case (.date(let left), _): return b.readDate.flatMap { order(left, $0) }
    case (_, .date(let right)): return a.readDate.flatMap { order($0, right) }
    case (.uuid(let left), _):
      guard let right = b.readUUID() else { return nil }
      return left == right ? 0 : (left.high, left.low) < (right.high, right.low) ? -1 : 1
    case (_, .uuid): return try order(b, a, options).map { -$0 }
    default: break
    }
    return a.withData { left in b.withData { right in compareKeys(left, right) } } ?? nil
  }

  private static func textOrder(
    _ a: DynamicValue, _ b: DynamicValue, _ options: TextOptions
  ) -> Int? {
    a.withText { left in
      b.withText { right in TextOrder.compare(left, right, options: options) }
    } ?? nil
  }

  private static func order(_ a: Double, _ b: Double) -> Int? {
    a < b ? -1 : a > b ? 1 : a == b ? 0 : nil
  }

  private static func numberOrder(
    _ a: DynamicValue, _ left: Number, _ b: DynamicValue, _ right: Number
  ) -> Int? {
    if case (.decimal(let x), .decimal(let y)) = (a, b) { return DecimalValue.order(x, y) }
    switch (left, right) {
    case (.integer(let x), .integer(let y)): return x < y ? -1 : x > y ? 1 : 0
    case (.double(let x), .double(let y)): return order(x, y)
    case (.double(let x), .integer(let y)): return order(y, x).map { -$0 }
    case (.integer(let x), .double(let y)): return order(x, y)
    }
  }

  /// Returns the exact order, even if a double cannot hold the integer.
  private static func order(_ integer: Int128, _ double: Double) -> Int? {
    if double.isNaN { return nil }
    if double >= 1e30 { return -1 }
    if double <= -1e30 { return 1 }
    let floor = Int128(double.rounded(.down))
    if integer != floor { return integer < floor ? -1 : 1 }
    return double == double.rounded(.down) ? 0 : -1
  }

  /// Returns the exact order for an integer of 64 bits, without wider arithmetic.
  static func order(_ integer: Int64, _ double: Double) -> Int? {
    if double.isNaN { return nil }
    if double >= 0x1p63 { return -1 }
    if double < -0x1p63 { return 1 }
    let floor = double.rounded(.down)
    let whole = Int64(floor)
    if integer != whole { return integer < whole ? -1 : 1 }
    return double == floor ? 0 : -1
  }

  /// The date, parsed if the value is a text, since JSON stores dates as text.
  var readDate: Double? {
    if case .date(let seconds) = self { return seconds }
    guard let text = string, case .date(let seconds)? = Value(text: text, as: .date) else {
      return nil
    }
    return seconds
  }

  private func readUUID() -> UUIDBytes? {
    if case .uuid(let uuid) = self { return uuid }
    return string.flatMap { UUIDBytes(text: $0) }
  }

  private func withData<R>(_ body: (ByteView) -> R) -> R? {
    switch self {
    case .data(let bytes): body(bytes)
    case .bytes(let bytes): bytes._withBytes { body($0) }
    default: nil
    }
  }

  /// Returns whether two values are equal; null equals null.
  static func areEqual(
    _ a: DynamicValue, _ b: DynamicValue, _ options: TextOptions
  ) throws -> Bool {
    switch (a, b) {
    case (.null, .null): return true
    case (.collection(let left), .collection(let right)):
      return try options.isEmpty && left.count == right.count
        ? compareKeys(left, right) == 0 || areEqualElements(a, b, options)
        : areEqualElements(a, b, options)
    case (.list, .list), (.list, .collection), (.collection, .list):
      return try areEqualElements(a, b, options)
    default: return try order(a, b, options) == 0
    }
  }

  private static func areEqualElements(
    _ a: DynamicValue, _ b: DynamicValue, _ options: TextOptions
  ) throws -> Bool {
    guard try a.memberNames() == b.memberNames(), let left = try a.elements(),
      let right = try b.elements(), left.count == right.count
    else { return false }
    for (x, y) in zip(left, right) where try !areEqual(x, y, options) { return false }
    return true
  }

  /// Returns the names of an object's members, or none for an array.
  private func memberNames() throws -> [String] {
    guard case .collection(let document) = self else { return [] }
    var reader = DocumentReader(document)
    guard try reader.kind() == .object else { return [] }
    var names: [String] = []
    let (count, _) = try reader.enterObject()
    for _ in 0..<count {
      names.append(String(decoding: try reader.name(), as: UTF8.self))
      try reader.skip()
    }
    return names
  }
}
