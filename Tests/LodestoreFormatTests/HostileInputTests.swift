import LodestoreBytes
import LodestoreFormat
import Testing

/// Decoders on arbitrary bytes either return a value or throw.
///
/// Bytes that they accept are bytes that the encoder would have written.
///
/// The bytes are in an allocation of their exact size, so that the address sanitizer sees a read
/// beyond it.
@Suite struct HostileInputTests {
  @Test func `the key decoder accepts only bytes that the encoder writes`() throws {
    var random = SeededGenerator(salt: 11)
    var accepted = 0
    for _ in 0..<SeededGenerator.caseCount(byDefault: 20_000) {
      let count = Int.random(in: 1...3, using: &random)
      let original = try key((0..<count).map { _ in random.value() })
      let hostile = random.damaged(original)
      guard let values = try? withExactAllocation(hostile, decodedKey) else { continue }
      accepted += 1
      guard try key(values) == hostile else {
        Issue.record("\(hexadecimal(hostile)) gave \(values); \(SeededGenerator.replay)")
        return
      }
    }
    #expect(accepted > 0, "some damage makes another valid key; \(SeededGenerator.replay)")
  }

  @Test func `a document accepts only bytes that the encoder writes`() throws {
    var random = SeededGenerator(salt: 12)
    var accepted = 0
    for _ in 0..<SeededGenerator.caseCount(byDefault: 20_000) {
      let hostile = random.damaged(random.document(depth: 3).encoded())
      guard let document = try? withExactAllocation(hostile, { try Document(decoding: $0) })
      else { continue }
      accepted += 1
      guard document.encoded() == hostile else {
        Issue.record("\(hexadecimal(hostile)) gave \(document); \(SeededGenerator.replay)")
        return
      }
    }
    #expect(accepted > 0, "some damage makes another document; \(SeededGenerator.replay)")
  }

  @Test func `a reader stays within bytes that were not validated`() throws {
    var random = SeededGenerator(salt: 13)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 20_000) {
      let hostile = random.damaged(random.document(depth: 3).encoded())
      let visited = withExactAllocation(hostile) { bytes in
        var reader = DocumentReader(bytes)
        var visited = 0
        while !reader.isAtEnd, visited <= bytes.count, step(&reader, &random) { visited += 1 }
        _ = try? DocumentReader.member(named: random.string(), in: bytes)
        return visited
      }
      #expect(visited <= hostile.count, "every step moves on; \(SeededGenerator.replay)")
    }
  }

  @Test func `a record view stays within its bytes`() throws {
    var random = SeededGenerator(salt: 14)
    let layout = RecordLayout(
      number: 5,
      attributes: AttributeType.allCases.enumerated().map { number, type in
        RecordLayout.Attribute(
          number: UInt32(number + 1), type: type, isOptional: number.isMultiple(of: 2))
      })
    for _ in 0..<SeededGenerator.caseCount(byDefault: 5_000) {
      let values = layout.attributes.map { attribute in
        attribute.isOptional && Bool.random(using: &random) ? .null : random.value(attribute.type)
      }
      let record = try layout.record(id: 9, values: values)
      let original: [Value] = try withExactAllocation(record) { bytes in
        let view = try RecordView(bytes, layout: layout)
        try view.validate(id: 9)
        return try layout.slots.map { try view.value(at: $0) }
      }
      guard try layout.record(id: 9, values: original) == record else {
        Issue.record("\(values) came back as \(original); \(SeededGenerator.replay)")
        return
      }
      withExactAllocation(random.damaged(record)) { bytes in
        guard let view = try? RecordView(bytes, layout: layout) else { return }
        for slot in layout.slots { _ = try? view.value(at: slot) }
        _ = try? view.validate(id: 9)
      }
    }
  }

  /// One read of any kind; false when it threw.
  private func step(_ reader: inout DocumentReader, _ random: inout SeededGenerator) -> Bool {
    do throws(FormatError) {
      switch try reader.kind() {
      case .null: try reader.skip()
      case .bool: _ = try reader.bool()
      case .integer: _ = try reader.int64()
      case .unsigned: _ = try reader.uint64()
      case .double: _ = try reader.double()
      case .text: _ = try reader.string()
      case .data: _ = try reader.data()
      case .date: _ = try reader.date()
      case .uuid: _ = try reader.uuid()
      case .decimal: _ = try reader.decimal()
      case .array:
        if Bool.random(using: &random) { _ = try reader.enterArray() } else { try reader.skip() }
      case .object:
        if Bool.random(using: &random) {
          if try reader.enterObject().count > 0 { _ = try reader.name() }
        } else {
          try reader.skip()
        }
      }
      return true
    } catch { return false }
  }

  private func decodedKey(_ bytes: ByteView) throws -> [Value] {
    var decoder = KeyDecoder(bytes)
    var values: [Value] = []
    while !decoder.isAtEnd { values.append(try decoder.next()) }
    return values
  }
}

extension SeededGenerator {
  /// `bytes` with one to three faults; sometimes completely random bytes.
  ///
  /// A fault is a changed bit or byte, a cut, an insertion or a repeated stretch.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    if Int.random(in: 0..<16, using: &self) == 0 { result = self.bytes(upTo: 40) }
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      guard let index = result.indices.randomElement(using: &self) else { return result }
      switch Int.random(in: 0..<6, using: &self) {
      case 0: result[index] ^= 1 << UInt8.random(in: 0...7, using: &self)
      case 1: result[index] = UInt8.random(in: 0...255, using: &self)
      case 2: result[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &self) ?? 0
      case 3: result.removeSubrange(index...)
      case 4: result.insert(UInt8.random(in: 0...255, using: &self), at: index)
      default: result.insert(contentsOf: result[index...].prefix(8), at: index)
      }
    }
    return result
  }

  /// A value that fits `type`.
  mutating func value(_ type: AttributeType) -> Value {
    switch type {
    case .bool: .bool(Bool.random(using: &self))
    case .int8: .integer(Int64(Int8(truncatingIfNeeded: next())))
    case .int16: .integer(Int64(Int16(truncatingIfNeeded: next())))
    case .int32: .integer(Int64(Int32(truncatingIfNeeded: next())))
    case .int64: .integer(Int64(truncatingIfNeeded: next()))
    case .uint8: .integer(Int64(UInt8(truncatingIfNeeded: next())))
    case .uint16: .integer(Int64(UInt16(truncatingIfNeeded: next())))
    case .uint32: .integer(Int64(UInt32(truncatingIfNeeded: next())))
    case .uint64: .integer(unsigned: next())
    case .recordID: .integer(Int64.random(in: 1...Int64.max, using: &self))
    case .float: .double(Double(Int.random(in: -9...9, using: &self)) / 4)
    case .double: .double(double())
    case .date: .date(double())
    case .uuid: .uuid(UUIDBytes(high: next(), low: next()))
    case .decimal: .decimal(decimal())
    case .string, .url: .string(string())
    case .data: .data(bytes(upTo: 12))
    case .json: .document(Document.array([.string(string()), .null]).encoded())
    case .document: .document(document(depth: 2).encoded())
    }
  }
}
