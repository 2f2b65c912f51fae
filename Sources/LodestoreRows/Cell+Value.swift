internal import EntityStore
package import LodestoreBytes
package import LodestoreFormat

extension Cell {
  /// Makes the cell of a stored value, as it is shown and exported.
  package init(_ value: Value) throws(FormatError) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .integer(let number): self = .integer(number)
    case .unsigned(let number): self = .unsigned(number)
    case .double(let number): self = .double(number)
    case .date: self = .date(KeyText.text(of: value))
    case .uuid(let uuid): self = .text(uuid.text)
    case .decimal(let decimal): self = decimal.isNaN ? .text("NaN") : .number(decimal.text)
    case .string(let text): self = .text(text)
    case .data(let bytes): self = .bytes(bytes)
    case .document(let bytes):
      self = try bytes._withBytes { bytes in
        Result { () throws(FormatError) in try Cell(document: bytes) }
      }.get()
    }
  }

  /// Makes the cell of a stored value without any loss: `import` reads an equal value from the
  /// cell's JSON.
  package init(exactly value: Value) throws(FormatError) {
    if let object = try ExactJSON.text(of: value) {
      self = .json(object)
    } else if case .decimal(let decimal) = value, !decimal.isNaN {
      // JSON readers refuse or round integers of more than 64 bits, and numbers that are too large
      // or too small for a double.
      let text = decimal.text
      let isLong = text.utf8.count > 18 && text.utf8.allSatisfy { $0 != 0x2E && $0 != 0x65 }
      self = isLong || Self.isBeyondDoubles(decimal) ? .text(text) : .number(text)
    } else {
      self = try Cell(value)
    }
  }

  private static func isBeyondDoubles(_ decimal: DecimalValue) -> Bool {
    guard let number = Double(decimal.text) else { return true }
    return number.isInfinite || number == 0 && decimal.significand != 0
  }

  /// Makes the cell of a value within a document.
  ///
  /// Scalars become plain cells, so that tables align numbers and CSV has no nested quotes.
  package init(document bytes: ByteView) throws(FormatError) {
    var reader = DocumentReader(bytes)
    switch try reader.kind() {
    case .null: self = .null
    case .bool: self = .bool(try reader.bool())
    case .integer: self = .integer(try reader.int64())
    case .unsigned: self = .unsigned(try reader.uint64())
    case .double: self = .double(try reader.double())
    case .text: self = .text(try reader.string())
    case .data, .date, .uuid, .decimal, .array, .object:
      var text: [UInt8] = []
      try DocumentText.append(bytes, to: &text)
      self = .json(String(decoding: text, as: UTF8.self))
    }
  }
}
