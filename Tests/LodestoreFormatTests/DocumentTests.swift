import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct DocumentTests {
  static let everyKind: Document = .object([
    "null": .null, "yes": .bool(true), "no": .bool(false), "zero": .integer(0),
    "low": .integer(.min), "high": .integer(.max), "top": .unsigned(.max), "half": .double(-0.5),
    "empty": .string(""), "text": .string("Ångström\0"), "none": .data([]),
    "data": .data([0, 255]),
    "date": .date(7.25), "uuid": .uuid(UUIDBytes(high: 1, low: .max)),
    "decimal": .decimal(DecimalValue(isNegative: true, exponent: -2, significand: .max)),
    "list": .array([.integer(1), .array([]), .object([:])]),
    "": .object(["a": .null, "b": .object(["a": .bool(true)])]),
  ])

  @Test func `every kind of document comes back from its bytes`() throws {
    let bytes = Self.everyKind.encoded()
    #expect(try document(bytes) == Self.everyKind)
    #expect(try document(bytes).encoded() == bytes)
  }

  @Test func `random documents come back from their bytes`() throws {
    var random = SeededGenerator(salt: 9)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 300) {
      let original = random.document(depth: 4)
      let bytes = original.encoded()
      guard try document(bytes) == original else {
        Issue.record("\(original) came back changed; \(SeededGenerator.replay)")
        return
      }
    }
  }

  @Test func `doubles in documents keep every bit`() throws {
    for bits: UInt64 in [0x7ff0_0000_0000_0001, 0xffff_ffff_ffff_ffff, 0x8000_0000_0000_0000] {
      guard case .double(let value) = try document([5] + littleEndianBytes(bits)) else {
        Issue.record("not a double")
        return
      }
      #expect(value.bitPattern == bits)
    }
  }

  @Test func `an unsigned number that fits is written as a signed one`() {
    #expect(Document.unsigned(300).encoded() == Document.integer(300).encoded())
  }

  @Test func `the subscript finds members of objects only`() {
    #expect(Self.everyKind["zero"] == .integer(0))
    #expect(Self.everyKind["absent"] == nil)
    #expect(Document.array([.null])["zero"] == nil)
  }

  @Test func `members are written in the order of their bytes`() throws {
    // Swift orders strings by canonical decomposition, which would put the accented names first.
    let names = ["z", "é", "e\u{301}", "\u{ff5e}", "\u{10000}", "", "a", "aa", "Z", "A\u{30a}"]
    let sorted = DocumentWriter.sortedNames(names)
    #expect(
      sorted.map { Array($0.utf8) }
        == names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    #expect(sorted.map { Array($0.utf8) } != names.sorted().map { Array($0.utf8) })
    // A Swift dictionary takes "é" in one scalar and in two for the same key, so one is left out.
    let members = names.filter { !$0.utf8.elementsEqual("e\u{301}".utf8) }
    let object = Document.object(
      Dictionary(uniqueKeysWithValues: members.map { ($0, Document.null) }))
    #expect(try document(object.encoded()) == object)
  }

  @Test func `nesting of 128 levels is read, and of 129 refused`() throws {
    #expect(try document(nested(arrays: 128)).encoded() == nested(arrays: 128))
    #expect(throws: FormatError.self) { try document(nested(arrays: 129)) }
    #expect(throws: FormatError.self) { try document(nested(arrays: 100_000)) }
    var objects = Document.object([:])
    for _ in 1..<128 { objects = .object(["o": objects]) }
    #expect(try document(objects.encoded()) == objects)
    #expect(throws: FormatError.self) { try document(Document.object(["o": objects]).encoded()) }
    #expect(throws: FormatError.self) { try document(Document.array([objects]).encoded()) }
  }

  @Test func `names that Swift considers equal are refused rather than lost`() throws {
    let bytes = object([("e\u{301}", [0]), ("é", [0])])
    try bytes._withBytes { try DocumentReader($0).validate() }
    #expect(throws: FormatError.self) { try document(bytes) }
  }

  @Test(arguments: [
    ("", "nothing"),
    ("0b", "a reserved code"),
    ("0e", "a reserved code"),
    ("ff", "a reserved code"),
    ("00 00", "bytes behind the value"),
    ("03", "an integer without bytes"),
    ("03 80", "an integer without its end"),
    ("03 80 00", "zero in two bytes"),
    ("03 ff 80 00", "a padded integer"),
    ("03 ff ff ff ff ff ff ff ff ff 02", "an integer above 64 bits"),
    ("03 ff ff ff ff ff ff ff ff ff 81 00", "an integer of eleven bytes"),
    ("04 01", "a small integer with the code of large ones"),
    ("04 ff ff ff ff ff ff ff ff 7f", "2^63 - 1 with the code of large ones"),
    ("05 00 00 00 00 00 00 00", "seven bytes of a double"),
    ("08 00", "one byte of a date"),
    ("06 02 61", "text shorter than its length"),
    ("06 81 00 61", "a padded length"),
    ("06 ff ff ff ff ff ff ff ff ff 01", "text with a length near 2^64"),
    ("06 01 ff", "text that is not UTF-8"),
    ("06 02 c3 28", "text that is not UTF-8"),
    ("07 05 00", "data shorter than its length"),
    ("09 00 11", "two bytes of a UUID"),
    ("0a 00 00 00", "four bytes of a decimal"),
    ("0a 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "a decimal of a fourth kind"),
    ("0c", "an array without a length"),
    ("0c 03 00 00 00 00 00 00", "an array without room for its count"),
    ("0c 04 00 00 00 01 00 00 00", "an array with a value too many"),
    ("0c 05 00 00 00 00 00 00 00 00", "an array with a value too few"),
    ("0c 06 00 00 00 01 00 00 00 00 00", "an array longer than its values"),
    ("0c 05 00 00 00 01 00 00 00 02 00", "bytes behind an array"),
    ("0c 05 00 00 00 01 00 00 00 03 02", "a value that leaves its array"),
    ("0c ff ff ff ff ff ff ff ff 00", "an array of four thousand million"),
    ("0c 05 00 00 00 ff ff ff ff 00", "a count of four thousand million"),
    ("0d 05 00 00 00 01 00 00 00 00", "a member without a value"),
    ("0d 08 00 00 00 01 00 00 00 01 61 00 00", "an object longer than its members"),
    ("0d 0a 00 00 00 02 00 00 00 01 62 00 01 61 00", "members out of order"),
    ("0d 0a 00 00 00 02 00 00 00 01 61 00 01 61 00", "a member twice"),
    ("0d 07 00 00 00 01 00 00 00 01 ff 00", "a name that is not UTF-8"),
    ("0d 07 00 00 00 01 00 00 00 7f 61 00", "a name longer than its object"),
    ("0d ff ff ff ff 00 00 00 80", "an object of four thousand million"),
  ])
  func refuses(hexadecimal text: String, what: Comment) {
    let bytes = bytes(hexadecimal: text)
    #expect(throws: FormatError.self, what) { try document(bytes) }
    #expect(throws: FormatError.self, what) {
      try bytes._withBytes { try DocumentReader($0).validate() }
    }
  }

  @Test func `every truncation is refused`() {
    let bytes = Self.everyKind.encoded()
    for length in bytes.indices {
      #expect(throws: FormatError.self) { try document(Array(bytes[..<length])) }
    }
  }
}

func document(_ bytes: [UInt8]) throws -> Document {
  try bytes._withBytes { try Document(decoding: $0) }
}

/// An object with the given members in the given order, so that invalid objects can be made.
func object(_ members: [(name: String, value: [UInt8])]) -> [UInt8] {
  var writer = DocumentWriter()
  let token = writer.beginObject()
  for member in members {
    writer.writeName(member.name)
    member.value._withBytes { writer.append(encoded: $0) }
  }
  writer.endObject(token, count: members.count)
  return writer.bytes
}

/// Arrays within each other, the innermost empty.
private func nested(arrays depth: Int) -> [UInt8] {
  var writer = DocumentWriter()
  let tokens = (0..<depth).map { _ in writer.beginArray() }
  for (level, token) in tokens.enumerated().reversed() {
    writer.endArray(token, count: level == depth - 1 ? 0 : 1)
  }
  return writer.bytes
}

extension SeededGenerator {
  mutating func document(depth: Int) -> Document {
    switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(Int64(truncatingIfNeeded: next()))
    case 3: return .unsigned(next() | 1 << 63)
    case 4: return .double(Double(Int.random(in: -9...9, using: &self)) / 4)
    case 5: return .string(string())
    case 6: return .data(bytes(upTo: 9))
    case 7: return .uuid(UUIDBytes(high: next(), low: next()))
    case 8: return .decimal(decimal())
    case 9, 10:
      let count = Int.random(in: 0...4, using: &self)
      return .array((0..<count).map { _ in document(depth: depth - 1) })
    default:
      let names = Set((0..<Int.random(in: 0...4, using: &self)).map { _ in string() })
      return .object(
        Dictionary(uniqueKeysWithValues: names.map { ($0, document(depth: depth - 1)) }))
    }
  }
}
