import LodestoreBytes
import Testing

@testable import LodestorePostgres

@Suite struct `Messages of PostgreSQL` {
  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  private func tuple(_ values: [[UInt8]?]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(Int16(values.count))
    for value in values {
      guard let value else {
        bytes.append(UInt8(ascii: "n"))
        continue
      }
      bytes.append(UInt8(ascii: "b"))
      bytes.appendBigEndian(Int32(value.count))
      bytes += value
    }
    return bytes
  }

  private func message(_ kind: Character, _ relation: UInt32, _ parts: [UInt8]...) -> [UInt8] {
    var bytes: [UInt8] = [kind.asciiValue ?? 0]
    bytes.appendBigEndian(relation)
    return bytes + parts.joined()
  }

  private var samples: [[UInt8]] {
    var relation = message("R", 7, text("public"), text("cities"), [UInt8(ascii: "d")])
    relation.appendBigEndian(Int16(1))
    relation += [1] + text("id")
    relation.appendBigEndian(UInt32(23))
    relation.appendBigEndian(Int32(-1))
    let row = tuple([[0, 0, 0, 1], nil])
    return [
      relation, message("I", 7, [UInt8(ascii: "N")], row),
      message("U", 7, [UInt8(ascii: "K")], row, [UInt8(ascii: "N")], row),
      message("D", 7, [UInt8(ascii: "O")], row), message("T", 1, [0], [0, 0, 0, 7]),
    ]
  }

  @Test func `a relation, rows and a truncate decode to their parts`() throws {
    let decoded = try samples.map { try $0._withBytes { try LogicalMessage($0) } }
    let column = LogicalMessage.Column(isKey: true, name: "id", type: 23, modifier: -1)
    let row = LogicalMessage.Tuple(fields: [.binary(0..<4), .null], bytes: [0, 0, 0, 1])
    #expect(
      decoded == [
        .relation(
          .init(id: 7, schema: "public", name: "cities", identity: .key, columns: [column])),
        .insert(relation: 7, row), .update(relation: 7, old: .key(row), new: row),
        .delete(relation: 7, old: .full(row)), .truncate(relations: [7]),
      ])
  }

  @Test func `changed and cut messages are refused or decoded, and never end the process`() {
    var random = Random(state: 5)
    var refused = 0
    for _ in 0..<50_000 {
      guard var bytes = samples.randomElement(using: &random) else { continue }
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: bytes.indices, using: &random)
        if Bool.random(using: &random) {
          bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        } else {
          bytes.removeSubrange(place...)
        }
      }
      do throws(PostgresError) {
        _ = try bytes._withBytes { (bytes) throws(PostgresError) in try LogicalMessage(bytes) }
      } catch {
        #expect(error.code == .malformed)
        refused += 1
      }
    }
    #expect(refused > 25_000)
  }

  @Test func `a copy in parts of any size has the rows of the whole copy`() throws {
    var encoder = BinaryCopyEncoder()
    for number in 0..<20 {
      encoder.beginRow(columnCount: 2)
      encoder.append { $0.appendBigEndian(Int64(number)) }
      if number % 3 == 0 { encoder.appendNull() } else { encoder.append { $0 += [1, 2, 3] } }
    }
    encoder.finish()
    let bytes = encoder.take()
    for size in 1...bytes.count {
      var decoder = BinaryCopyDecoder(columnCount: 2)
      var numbers: [PostgresValue] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        try bytes[start..<min(start + size, bytes.count)]._withBytes { part in
          try decoder.take(part) { bytes, fields in
            let field = try #require(fields[0])
            numbers.append(try PostgresType.int8.decode(bytes[field]))
          }
        }
      }
      try decoder.finish()
      #expect(numbers == (0..<20).map { .integer($0) })
    }
  }

  @Test func `a number keeps its digits through the binary form of numeric`() throws {
    var random = Random(state: 9)
    for _ in 0..<20_000 {
      let digits = Int.random(in: 0...38, using: &random)
      var significand: UInt128 = 0
      for _ in 0..<digits {
        significand = significand * 10 + UInt128.random(in: 0...9, using: &random)
      }
      while significand > 0, significand % 10 == 0 { significand /= 10 }
      let isZero = significand == 0
      let number = PostgresNumeric(
        isNegative: !isZero && Bool.random(using: &random),
        exponent: isZero ? 0 : Int.random(in: -200...200, using: &random), significand: significand)
      var bytes: [UInt8] = []
      try number.append(to: &bytes)
      #expect(try bytes._withBytes { try PostgresNumeric($0) } == number)
    }
  }

  @Test func `an infinite date is refused, null or an instant, as the rule says`() throws {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(Int64.max)
    #expect(throws: ValueRefusal.self) {
      try bytes._withBytes { try PostgresType.timestamptz.decode($0) }
    }
    let null = try bytes._withBytes { try PostgresType.timestamptz.decode($0, infinity: .null) }
    let last = try bytes._withBytes { try PostgresType.timestamptz.decode($0, infinity: .clamp) }
    #expect(null == .null)
    #expect(last == .date(252_423_993_600))
  }
}
