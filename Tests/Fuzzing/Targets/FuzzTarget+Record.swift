import LodestoreBytes
import LodestoreFormat

extension FuzzTarget {
  /// Reads a record through a layout.
  ///
  /// The first bytes of the input describe the layout, and the other bytes are the record.
  static let record = FuzzTarget("record", longestInput: 1_024) {
    let types: [AttributeType] = [.bool, .int16, .uint64, .double, .string, .decimal, .data, .uuid]
    let values: [Value] = [
      .bool(true), .integer(-2), .integer(unsigned: .max), .double(0.5), .string("é"),
      .decimal(DecimalValue(isNegative: true, exponent: -1, significand: 15)), .data([1, 2]),
      .uuid(UUIDBytes(high: 1, low: 2)),
    ]
    func seed(_ places: [Int], isOptional: Bool, isNull: Bool) throws -> [UInt8] {
      let attributes = places.map { (types[$0], isOptional) }
      let record = try layout(attributes).record(
        id: 1, values: places.map { isNull ? .null : values[$0] })
      let codes = attributes.map { $0.0.rawValue << 1 | ($0.1 ? 1 : 0) }
      return [UInt8(codes.count)] + codes + record
    }
    return try [
      seed([0, 1, 2, 3, 4, 5, 6, 7], isOptional: false, isNull: false),
      seed([0, 1, 2, 3, 4, 5, 6, 7], isOptional: true, isNull: true),
      seed([4, 6, 4, 6, 4], isOptional: true, isNull: false),
      seed([4], isOptional: false, isNull: false),
      seed([3], isOptional: false, isNull: false), seed([], isOptional: false, isNull: false),
    ]
  } run: { bytes in
    var input = InputReader(bytes)
    let types = AttributeType.allCases
    let attributes = (0..<input.number(below: 20)).map { _ in
      let code = input.byte()
      return (types[Int(code >> 1) % types.count], code & 1 == 1)
    }
    let layout = layout(attributes)
    try input.withRest { try read($0, through: layout) }
  }

  private static func layout(_ attributes: [(AttributeType, Bool)]) -> RecordLayout {
    RecordLayout(
      number: 1,
      attributes: attributes.enumerated().map { number, attribute in
        .init(number: UInt32(number + 1), type: attribute.0, isOptional: attribute.1)
      })
  }

  private static func read(_ bytes: ByteView, through layout: RecordLayout) throws {
    _ = try? RecordLayout.layoutNumber(of: bytes)
    let view = try RecordView(bytes, layout: layout)
    if let narrow = RecordView(narrow: bytes, layout: layout) {
      require(
        narrow.heapOffset == view.heapOffset && !view.isWide, "the two ways to a view differ")
    }
    var encoder = KeyEncoder()
    for (place, slot) in layout.slots.enumerated() {
      _ = try? view.value(at: slot)
      if slot.type.isVariable, !view.isNull(slot) { _ = view.variableBytes(slot).reduce(0, &+) }
      require(view.hasSameValue(as: view, at: slot), "attribute \(place) differs from itself")
      let index = EntityDescription.Index(
        number: 1, attributes: [UInt32(place + 1)], isUnique: place.isMultiple(of: 2))
      if slot.type.isIndexable {
        _ = try? IndexProgram(index, layout: layout)?.encode(view, id: 1, into: &encoder)
      }
    }
    guard (try? view.validate(id: 1)) != nil else { return try readSealed(view) }
    try requireSame(view)
  }

  /// Requires that the values of a sound record are encoded as they were.
  private static func requireSame(_ view: RecordView) throws {
    let values = try view.layout.slots.map { try view.value(at: $0) }
    // The payload of a float that is no number is not kept.
    if values.contains(where: { if case .double(let number) = $0 { number.isNaN } else { false } })
    {
      return
    }
    let again = try view.layout.record(id: 1, values: values)
    require(again.elementsEqual(view.bytes), "\(values) is encoded in another way")
  }

  /// Reads a record after correcting its checksum, since a wrong checksum would hide every other
  /// fault.
  private static func readSealed(_ view: RecordView) throws {
    let checksum = Checksum.record(id: 1, body: view.content)
    let sealed = Array(view.content) + littleEndianBytes(checksum)
    try sealed._withBytes { bytes in
      let again = try RecordView(bytes, layout: view.layout)
      try again.validate(id: 1)
      try requireSame(again)
    }
  }
}
