import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct DocumentReaderTests {
  @Test func `a document reader reads every kind in turn`() throws {
    var writer = DocumentWriter()
    writer.writeNull()
    writer.write(true)
    writer.write(Int64(-300))
    writer.write(UInt64.max)
    writer.write(1.5)
    writer.write("é")
    [UInt8(1), 2]._withBytes { writer.write(data: $0) }
    writer.write(date: -2)
    writer.write(UUIDBytes(high: 5, low: 6))
    writer.write(DecimalValue(isNegative: true, exponent: 3, significand: 7))
    try writer.bytes._withBytes { bytes in
      var reader = DocumentReader(bytes)
      try #expect(reader.kind() == .null)
      try reader.skip()
      try #expect(reader.bool())
      try #expect(reader.int64() == -300)
      try #expect(reader.kind() == .unsigned)
      try #expect(reader.uint64() == .max)
      try #expect(reader.double() == 1.5)
      try #expect(reader.string() == "é")
      try #expect(Array(reader.data()) == [1, 2])
      try #expect(reader.date() == -2)
      try #expect(reader.uuid() == UUIDBytes(high: 5, low: 6))
      try #expect(
        reader.decimal() == DecimalValue(isNegative: true, exponent: 3, significand: 7))
      #expect(reader.isAtEnd && reader.offset == bytes.count)
      #expect(throws: FormatError.self) { try reader.kind() }
    }
  }

  @Test func `skipping a value ends at the same offset as reading`() throws {
    var random = SeededGenerator(salt: 10)
    for _ in 0..<300 {
      let (first, second) = (random.document(depth: 3), random.document(depth: 1))
      let firstBytes = first.encoded()
      try (firstBytes + second.encoded())._withBytes { bytes in
        var reader = DocumentReader(bytes)
        try reader.skip()
        #expect(reader.offset == firstBytes.count, "\(SeededGenerator.replay)")
        try #expect(Array(reader.value()) == second.encoded(), "\(SeededGenerator.replay)")
      }
    }
  }

  @Test func `integers of either code are read if they fit`() throws {
    try Document.integer(300).encoded()._withBytes { bytes in
      var reader = DocumentReader(bytes)
      try #expect(reader.uint64() == 300)
    }
    for (document, readsUnsigned) in [
      (Document.integer(-1), true), (.unsigned(1 << 63), false),
    ] {
      document.encoded()._withBytes { bytes in
        var reader = DocumentReader(bytes)
        #expect(throws: FormatError.self) {
          if readsUnsigned { _ = try reader.uint64() } else { _ = try reader.int64() }
        }
      }
    }
  }

  @Test func `a wrong kind is named in the error`() {
    Document.string("1").encoded()._withBytes { bytes in
      var reader = DocumentReader(bytes)
      let error = #expect(throws: FormatError.self) { try reader.int64() }
      #expect(error?.description.contains("kind text, expected integer") == true)
    }
  }

  @Test func `an array is walked by its count and end`() throws {
    let array = Document.array([.integer(1), .string("two"), .array([.null])])
    try array.encoded()._withBytes { bytes in
      var reader = DocumentReader(bytes)
      let (count, end) = try reader.enterArray()
      #expect(count == 3 && end == bytes.count)
      for _ in 0..<2 { try reader.skip() }
      #expect(throws: FormatError.self) { try reader.expectEnd(end) }
      try reader.skip()
      try reader.expectEnd(end)
    }
  }

  @Test(arguments: [
    "0c 05 00 00 00 02 00 00 00 00", "0c 04 00 00 00 ff ff ff ff",
    "0d 07 00 00 00 02 00 00 00 01 61 00", "0d 05 00 00 00 01 00 00 00 00",
  ])
  func `entering a container refuses a count beyond its bytes`(hexadecimal text: String) {
    bytes(hexadecimal: text)._withBytes { bytes in
      var reader = DocumentReader(bytes)
      #expect(throws: FormatError.self) {
        if bytes[0] == 0x0c { _ = try reader.enterArray() } else { _ = try reader.enterObject() }
      }
    }
  }

  @Test func `a member is found by its exact bytes`() throws {
    let bytes = object([
      ("", [1]), ("a", [3, 2]), ("ab", [0x0c, 4, 0, 0, 0, 0, 0, 0, 0]), ("e\u{301}", [0]),
      ("é", [2]),
    ])
    try bytes._withBytes { bytes in
      try #expect(DocumentReader.member(named: "", in: bytes).map(Array.init) == [1])
      try #expect(DocumentReader.member(named: "a", in: bytes).map(Array.init) == [3, 2])
      try #expect(DocumentReader.member(named: "ab", in: bytes)?.count == 9)
      try #expect(DocumentReader.member(named: "e\u{301}", in: bytes).map(Array.init) == [0])
      try #expect(DocumentReader.member(named: "é", in: bytes).map(Array.init) == [2])
      for absent in ["A", "aa", "abc", "b", "zz"] {
        try #expect(DocumentReader.member(named: absent, in: bytes) == nil)
      }
    }
  }

  @Test func `a member of a value that is no object is nil`() throws {
    try Document.array([.null]).encoded()._withBytes { bytes in
      try #expect(DocumentReader.member(named: "a", in: bytes) == nil)
    }
    #expect(throws: FormatError.self) {
      try DocumentReader.member(named: "a", in: ByteView())
    }
  }

  @Test func `a reader of JSON refuses the kinds that JSON lacks`() throws {
    let plain = Document.object(["a": .array([.null, .double(1), .unsigned(.max), .string("")])])
    try plain.encoded()._withBytes { try DocumentReader($0).validate(onlyJSON: true) }
    for other in [
      Document.data([]), .date(0), .uuid(UUIDBytes(high: 0, low: 0)), .decimal(.nan),
    ] {
      let bytes = Document.array([.object(["a": other])]).encoded()
      try bytes._withBytes { try DocumentReader($0).validate() }
      #expect(throws: FormatError.self) {
        try bytes._withBytes { try DocumentReader($0).validate(onlyJSON: true) }
      }
    }
  }
}
