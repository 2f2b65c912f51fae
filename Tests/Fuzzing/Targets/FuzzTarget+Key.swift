import LodestoreFormat

extension FuzzTarget {
  /// Keys of indexes: each key that the decoder accepts is a key that the encoder writes.
  static let key = FuzzTarget("key", longestInput: 640) {
    let values: [[Value]] = [
      [.null], [.bool(true), .bool(false)], [.integer(0), .integer(-1), .integer(255)],
      [.integer(.min), .integer(.max), .integer(unsigned: .max)],
      [.double(-.infinity), .double(0.5), .double(.nan)], [.date(0), .date(-1.5)],
      [.string(""), .string("a\u{0}é")], [.data([0, 255, 0])],
      [.uuid(UUIDBytes(high: 1, low: 2)), .string("x")],
      [
        .decimal(DecimalValue(isNegative: true, exponent: -2, significand: 12_345)), .decimal(.nan),
      ],
    ]
    return try values.map(encodedKey)
  } run: { bytes in
    _ = KeyDecoder.recordIDSuffix(bytes)
    if KeyDecoder.leadingID(bytes) != nil {
      require(KeyDecoder.lengthOfLeadingID(bytes) <= bytes.count, "an id ends behind its key")
    }
    var decoder = KeyDecoder(bytes)
    var values: [Value] = []
    while !decoder.isAtEnd { values.append(try decoder.next()) }
    let again = try encodedKey(values)
    require(again.elementsEqual(bytes), "\(values) is encoded as \(again)")
  }

  private static func encodedKey(_ values: [Value]) throws -> [UInt8] {
    var encoder = KeyEncoder()
    for value in values { try encoder.append(value) }
    return Array(encoder.bytes)
  }
}
