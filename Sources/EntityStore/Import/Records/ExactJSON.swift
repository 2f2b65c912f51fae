internal import LodestoreBytes
internal import LodestoreEssentials
package import LodestoreFormat

/// Values without an exact JSON text, as the object `{"$document":"…"}`.
///
/// The member contains the Base64 of the value as a document (Format.md, "Documents"). The exact
/// form is needed for:
/// - a NaN with a payload, and a date that ISO 8601 text does not represent to the bit;
/// - documents that hold dates, UUIDs, data, decimals or numbers that are not finite;
/// - documents that are null as a whole, are deeply nested, or look like such an object themselves.
package enum ExactJSON {
  /// The name of the object's only member.
  static let member = "$document"

  /// The maximum nesting in plain JSON; deeper documents, inside a record and a list, might exceed
  /// the depth that a reader accepts.
  private static let deepestNesting = 100

  /// Returns `value` in the exact form, compact; `nil` when its plain JSON reads back as the same
  /// value.
  ///
  /// Throws when `value` is a document that breaks the format.
  package static func text(of value: Value) throws(FormatError) -> String? {
    let document: [UInt8]? =
      switch value {
      case .double(let number):
        number.isNaN && number.bitPattern != Double.nan.bitPattern ? encoded(value) : nil
      case .date(let seconds): isExact(seconds) ? nil : encoded(value)
      case .decimal(let decimal): DecimalValue(text: decimal.text) == decimal ? nil : encoded(value)
      case .document(let bytes): try isPlain(bytes) ? nil : bytes
      default: nil
      }
    return document.map { "{\"\(member)\":\"\(Data($0).base64EncodedString())\"}" }
  }

  /// Returns the value of `type` in the exact form; `nil` when `node` does not have this form.
  static func value(_ node: JSONNode, as type: AttributeType) -> Value? {
    guard node.kind == .object, node.count == 1, let text = node[member]?.string,
      let data = Data(base64Encoded: text)
    else { return nil }
    let bytes = Array(data)
    return bytes._withBytes { value($0, type) }
  }

  private static func value(_ bytes: ByteView, _ type: AttributeType) -> Value? {
    var reader = DocumentReader(bytes)
    do {
      try reader.validate(onlyJSON: type == .json)
      switch (try reader.kind(), type) {
      case (_, .json), (_, .document): return .document(Array(bytes))
      case (.double, .double), (.double, .float):
        let value = Value.double(try reader.double())
        return value.fits(type) ? value : nil
      case (.date, .date): return .date(try reader.date())
      case (.decimal, .decimal): return .decimal(try reader.decimal())
      default: return nil
      }
    } catch {
      return nil
    }
  }

  private static func encoded(_ value: Value) -> [UInt8] {
    EntityDescription.document(of: value).encoded()
  }

  private static func isExact(_ seconds: Double) -> Bool {
    let text = ISO8601Text.text(Date(timeIntervalSinceReferenceDate: seconds))
    let read = text.flatMap { ISO8601Text.date($0) }?.timeIntervalSinceReferenceDate
    return read?.bitPattern == seconds.bitPattern
  }

  // MARK: Documents

  private static func isPlain(_ document: [UInt8]) throws(FormatError) -> Bool {
    try document._withBytes { (bytes) throws(FormatError) in
      var reader = DocumentReader(bytes)
      if try reader.kind() == .null { return false }
      return try isPlain(&reader, nesting: 0)
    }
  }

  /// Returns whether the JSON of the next value reads back as an equal value.
  ///
  /// If not, the value is not read to its end.
  private static func isPlain(
    _ reader: inout DocumentReader, nesting: Int
  ) throws(FormatError) -> Bool {
    guard nesting <= deepestNesting else { return false }
    switch try reader.kind() {
    case .null, .bool, .integer, .unsigned, .text: try reader.skip()
    case .double:
      let number = try reader.double()
      // The JSON text of −0 is read back as the integer 0, which has no sign.
      return number.isFinite && !(number == 0 && number.sign == .minus)
    case .date, .uuid, .data, .decimal: return false
    case .array:
      let (count, _) = try reader.enterArray()
      for _ in 0..<count where try !isPlain(&reader, nesting: nesting + 1) { return false }
    case .object:
      let (count, _) = try reader.enterObject()
      // JSON readers treat names that are equal as Swift strings as one key. Names with different
      // bytes can be equal only beyond ASCII.
      var wideNames: Set<String> = []
      for _ in 0..<count {
        let name = try reader.name()
        if count == 1, name.elementsEqual(member.utf8) { return false }
        if name.contains(where: { $0 >= 0x80 }),
          !wideNames.insert(String(decoding: name, as: UTF8.self)).inserted
        {
          return false
        }
        guard try isPlain(&reader, nesting: nesting + 1) else { return false }
      }
    }
    return true
  }
}

extension JSONTapeReader {
  /// Returns whether the value at the tape entry `index` may be in the exact form; ``ExactJSON``
  /// makes the final decision.
  @inline(__always)
  func mayBeExactForm(_ index: Int) -> Bool {
    let entry = entries[index]
    guard entry.kind == .object, entry.childCount == 1 else { return false }
    let key = entries[index + 1]
    return key.isEscaped || Int(key.length) == ExactJSON.member.utf8.count
  }
}
