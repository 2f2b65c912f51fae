import LodestoreBytes
import LodestoreFormat
import Testing

/// The examples of Format.md that are pairs of trees, or values in one of several forms.
@Suite struct FormatPairExamplesTests {
  private func lines(_ kind: String) throws -> [FormatExamples.Line] {
    let lines = FormatExamples.lines(kind)
    try #require(!lines.isEmpty)
    return lines
  }

  /// Key and body, as `01 02 : 03`.
  private func pair(_ text: String) throws -> (key: [UInt8], body: [UInt8]) {
    let sides = text.split(separator: ":", omittingEmptySubsequences: false)
    try #require(sides.count == 2, "\(text)")
    let body = sides[1].filter { $0 != " " }
    return (
      bytes(hexadecimal: String(sides[0])),
      body == "empty" ? [] : bytes(hexadecimal: String(sides[1]))
    )
  }

  @Test func `examples of document types that JSON lacks hold`() throws {
    for line in try lines("typed-document") {
      let (type, rest) = try #require(line.left.firstSplit(" "))
      var parser = ExampleParser(rest)
      let written = EntityDescription.document(of: try parser.literal(type)).encoded()
      #expect(hexadecimal(written) == line.right, "\(line)")
      #expect(try document(bytes(hexadecimal: line.right)).encoded() == written)
    }
  }

  @Test func `examples of initial values hold`() throws {
    for line in try lines("initial") {
      let (type, rest) = try #require(line.left.firstSplit(" "))
      var parser = ExampleParser(rest)
      let value = try parser.literal(type)
      #expect(hexadecimal(EntityDescription.document(of: value).encoded()) == line.right)
      #expect(value.fits(try #require(AttributeType(name: type))), "\(line)")
    }
  }

  @Test func `examples of decimals hold`() throws {
    for line in try lines("decimal") {
      var parser = ExampleParser(line.left)
      let value = try parser.literal("decimal")
      let document = EntityDescription.document(of: value).encoded()
      #expect(hexadecimal(Array(document.dropFirst())) == line.right, "\(line)")
    }
  }

  @Test func `examples of header fields hold`() throws {
    for (line, expected) in zip(
      try lines("header"),
      [
        (HeaderField.format.key, FormatRequirement(lowestReader: 2, lowestWriter: 5).bytes),
        (HeaderField.created.key, littleEndianBytes((0.5).bitPattern)),
        (HeaderField.schema.key, littleEndianBytes(UInt64(3))),
        (
          HeaderField.uuid.key,
          try #require(UUIDBytes(text: "2f1c64a0-3a52-4d0c-9d1e-5b7a6c8e9f01")).bytes
        ),
        (HeaderField.model.key, littleEndianBytes(UInt64(3))),
        (HeaderField.changes(entity: 12), littleEndianBytes(UInt64(7))),
      ])
    {
      let (key, body) = try pair(line.right)
      #expect(key == expected.0, "\(line)")
      #expect(body == expected.1, "\(line)")
    }
    #expect(try lines("header").count == 6)
  }

  @Test func `examples of digests hold`() throws {
    for line in try lines("digest") {
      var digest = ContentDigest()
      for part in line.left.split(separator: ",") {
        let words = part.split(separator: " ")
        switch words[0] {
        case "record":
          digest.add(
            record: try #require(UInt64(words[1])),
            checksum: try #require(UInt32(words[4], radix: 16)))
        case "link":
          digest += ContentDigest(
            linkFrom: try #require(UInt64(words[2])), to: try #require(UInt64(words[4])))
        default:
          let (key, body) = try pair(String(part.trimmingPrefix("bucket pair ")))
          let number = key._withBytes { key in
            body._withBytes { ContentDigest(of: .buckets, key: key, body: $0) }
          }
          digest += try #require(number)
        }
      }
      #expect(hexadecimal(digest.bytes) == line.right, "\(line)")
    }
  }

  @Test func `the example of a pair of the catalogue holds`() throws {
    for line in try lines("catalogue-pair") {
      var parser = ExampleParser(line.left)
      let isOfEntity2 = parser.take("entity 2 ")
      try #require(isOfEntity2)
      let entity = try EntityDescription(number: 2, document: try parser.json())
      let (key, body) = try pair(line.right)
      #expect(key == CatalogueKey.entity(2))
      #expect(body == Checksum.sealed(key: key, content: entity.document.encoded()))
    }
  }

  /// Bytes with runs, as `02 then 462 × 61 then 00`.
  private func run(_ text: String) throws -> [UInt8] {
    try text.split(separator: " then ").flatMap { part -> [UInt8] in
      guard let (count, byte) = String(part).firstSplit(" × ") else {
        return bytes(hexadecimal: String(part))
      }
      return Array(
        repeating: try #require(UInt8(byte, radix: 16)), count: try #require(Int(count)))
    }
  }

  @Test func `the example of a record with wide offsets holds`() throws {
    let line = try #require(try lines("wide-record").first)
    #expect(line.left == "id 1, layout 1, 65536 × \"a\"")
    let layout = RecordLayout(
      number: 1, attributes: [.init(number: 1, type: .string, isOptional: false)])
    let record = try layout.record(id: 1, values: [.string(String(repeating: "a", count: 65_536))])
    #expect(try run(line.right) == record)
  }

  @Test func `examples of cut keys hold`() throws {
    let texts = [
      "text 500 × \"a\", integer 7": [
        Value.string(String(repeating: "a", count: 500)), .integer(7),
      ],
      "text 477 × \"a\"": [.string(String(repeating: "a", count: 477))],
      "not unique, record 300: text 500 × \"a\"": [.string(String(repeating: "a", count: 500))],
      "not unique, record 300: text 470 × \"a\"": [.string(String(repeating: "a", count: 470))],
    ]
    for line in try lines("cut-key") {
      var encoder = KeyEncoder()
      for value in try #require(texts[line.left], "\(line)") { try encoder.append(value) }
      encoder.finishTuple()
      if line.left.hasPrefix("not unique, record 300") { encoder.append(recordID: 300) }
      #expect(Array(encoder.bytes) == (try run(line.right)), "\(line)")
    }
    #expect(try lines("cut-key").count == texts.count)
  }

  @Test func `examples of entries of indexes hold`() throws {
    for line in try lines("index-entry") {
      let (kind, tuple) = try #require(line.left.firstSplit(", record 300: "))
      var parser = ExampleParser(tuple)
      let values = try parser.tuple()
      var encoder = KeyEncoder()
      for value in values { try encoder.append(value) }
      encoder.finishTuple()
      let isUnique = kind == "unique"
      if IndexTuple.keyHasRecordID(isUnique: isUnique, hasNull: values.contains(.null)) {
        encoder.append(recordID: 300)
      }
      let (key, body) = try pair(line.right)
      #expect(Array(encoder.bytes) == key, "\(line)")
      #expect(body == (isUnique ? littleEndianBytes(UInt64(300)) : []), "\(line)")
    }
  }

  @Test func `examples of entries of indexes over elements hold`() throws {
    for line in try lines("element-entry") {
      var parser = ExampleParser(line.left)
      let isOfRecord300 = parser.take("record 300: ")
      try #require(isOfRecord300)
      var encoder = KeyEncoder()
      for value in try parser.tuple() { try encoder.append(value) }
      encoder.finishTuple()
      encoder.append(recordID: 300)
      let (key, body) = try pair(line.right)
      #expect(Array(encoder.bytes) == key && body.isEmpty, "\(line)")
    }
  }

  @Test func `examples of blocks of postings hold`() throws {
    for line in try lines("search-block") {
      var (head, postings) = try halves(line.left, ": ")
      let isPacked = head.hasPrefix("form 2, ")
      head.trimPrefix("form 2, ")
      let words = head.split(separator: " ")
      let sourceCount = words.compactMap { Int($0) }.first ?? 0
      let weights =
        head.contains("weight") ? words.suffix(sourceCount).compactMap { UInt32($0) } : [1]
      try #require(weights.count == sourceCount, "\(line)")
      let body = try bytes(hexadecimal: line.right)
      let text = try body._withBytes { bytes -> String in
        let form = PostingForm(isPacked: isPacked, weights: weights)
        let block = try PostingBlock(bytes, form)
        let ids = OwnedBytes(byteCount: 1024, alignment: 8)
        let ends = OwnedBytes(byteCount: 512, alignment: 8)
        try block.readIDs(into: ids.view)
        let all = try block.readPositionEnds(into: ends.view)
        var parts: [String] = []
        for index in 0..<block.count {
          let numbers = try PostingBlock.positions(at: index, ends.view, all)
          var places: [String] = []
          var frequency: UInt32 = 0
          try PositionList.forEach(numbers, sourceCount: sourceCount) { source, position in
            places.append(sourceCount > 1 ? "\(source):\(position)" : "\(position)")
            frequency += weights[Int(source)]
          }
          #expect(block.frequency(at: index) == frequency, "\(line)")
          let id = ByteView(ids.view).uint64(at: index * 8)
          parts.append("\(id) at \(places.joined(separator: " "))")
        }
        return parts.joined(separator: ", ")
      }
      #expect(text == postings, "\(line)")
    }
  }

  @Test func `examples of entries of places hold`() throws {
    for line in try lines("place-entry") {
      let numbers = line.left.trimmingPrefix("record 300: ").split(separator: ", ").compactMap {
        Double($0)
      }
      try #require(numbers.count == 2, "\(line)")
      let field = PlaceCell(latitude: numbers[0], longitude: numbers[1])
      let position = field.positions.lowerBound
      let (key, body) = try pair(line.right)
      #expect(
        key == bigEndianBytes(position) + bigEndianBytes(UInt64(300)) && body.isEmpty, "\(line)")
      #expect(PlaceCell(position: position) == field, "\(line)")
    }
  }

  @Test func `examples of blocks of vectors hold`() throws {
    for line in try lines("vector-block") {
      let words = line.left.trimmingPrefix("record 300: ").split(separator: ", ")
      let part = words.last == "part 0" ? VectorForm.Part.signs : .levels
      let vector = try words.dropLast().flatMap { word in
        word.hasSuffix(" zeros")
          ? [Float](repeating: 0, count: try #require(Int(word.dropLast(6))))
          : [try #require(Float(word))]
      }
      let form = VectorForm(dimensions: vector.count)
      let code = VectorEncoder(dimensions: vector.count).code(of: vector)
      let (number, offset) = (300 as UInt64).quotientAndRemainder(dividingBy: form.span(part))
      var block = VectorBlockBuilder()
      block.append(code, at: UInt16(offset), part, of: form)
      let (key, body) = try pair(line.right)
      #expect(key == VectorForm.key(part, number) && body == block.bytes, "\(line)")
    }
  }

  @Test func `the example of lists of vectors holds`() throws {
    let line = try #require(try lines("vector-lists").first)
    let parts = line.left.split(separator: "; ").map { part in
      part.split(separator: "|").map { one in
        one.split { " ,".contains($0) }.compactMap { Float($0) }
      }
    }
    let form = VectorForm(dimensions: 3)
    let encoder = VectorEncoder(dimensions: 3)
    var lists = VectorLists(form)
    for (part, vectors) in zip([VectorForm.Part.groups, .lists], parts) {
      var block = VectorBlockBuilder()
      for (number, vector) in vectors.enumerated() {
        var code = encoder.code(of: vector)
        code.scale = 1
        block.append(code, at: UInt16(number), part, of: form)
      }
      try block.bytes._withBytes { bytes in
        try lists.append(VectorBlock(bytes, part, of: form), part, number: 0, of: form)
      }
    }
    try lists.check()
    let code = encoder.code(of: try #require(parts.last?.first))
    let (section, offset) = (70_000 as UInt64).quotientAndRemainder(dividingBy: VectorForm.section)
    var block = VectorBlockBuilder()
    block.append(code, at: UInt16(offset), .listedSigns, of: form)
    let (key, body) = try pair(line.right)
    let list = lists.list(of: code)
    #expect(key == VectorForm.key(list: list, section: section, run: 0) && body == block.bytes)
  }

  private func halves(_ text: String, _ separator: String) throws -> (String, String) {
    let range = try #require(text.firstRange(of: separator))
    return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
  }

  @Test func `the example of a pair of a relationship holds`() throws {
    for line in try lines("relationship-pair") {
      var parser = ExampleParser(line.left)
      let isOfRelationship1 = parser.take("relationship 1 ")
      try #require(isOfRelationship1)
      let relationship = try RelationshipDescription(number: 1, document: try parser.json())
      let (key, body) = try pair(line.right)
      #expect(key == CatalogueKey.relationship(1))
      #expect(body == Checksum.sealed(key: key, content: relationship.document.encoded()))
    }
  }

  @Test func `examples of pairs of imports hold`() throws {
    let keys: [String: ImportKey] = [
      "basis": .basis, "page 1": .seen(page: 1), "memory": .memory(SHA256.hash(Array("p1".utf8))),
      "state": .state, "report": .report(run: 258),
    ]
    var shown: Set<String> = []
    for line in try lines("import-pair") {
      let place = try #require(keys.first { line.left.hasPrefix($0.key + " ") })
      shown.insert(place.key)
      var parser = ExampleParser(String(line.left.dropFirst(place.key.count + 1)))
      let (key, body) = try pair(line.right)
      #expect(key == place.value.bytes(name: "Film"), "\(line)")
      #expect(body == Checksum.sealed(key: key, content: try parser.json().encoded()), "\(line)")
    }
    #expect(shown == Set(keys.keys))
  }

  @Test func `examples of links and their positions hold`() throws {
    let links = try lines("link").map { try pair($0.right) }
    let expected = [(300, 7), (7, 300)].map { ids in
      var key = KeyEncoder()
      key.append(UInt64(ids.0))
      key.append(recordID: UInt64(ids.1))
      return Array(key.bytes)
    }
    #expect(links.map(\.key) == expected && links.allSatisfy { $0.body.isEmpty })
    let orders = try lines("order").map { try pair($0.right) }
    #expect(orders.map(\.key) == [LinkOrderKey.link(300, 7), LinkOrderKey.position(300, 1 << 62)])
    #expect(
      orders.map(\.body) == [littleEndianBytes(UInt64(1) << 62), littleEndianBytes(UInt64(7))])
  }

  @Test func `examples of keys of digests hold`() throws {
    let contents: [DigestedContent] = [.records(entity: 2), .links(relationship: 1), .buckets]
    #expect(
      try lines("digest-key").map { bytes(hexadecimal: $0.right) } == contents.map(\.key))
  }

  @Test func `the example of a field in the second copy holds`() throws {
    let line = try #require(try lines("copy-pair").first)
    let (key, body) = try pair(line.right)
    let uuid = try #require(UUIDBytes(text: "2f1c64a0-3a52-4d0c-9d1e-5b7a6c8e9f01"))
    #expect(key == CatalogueCopyKey.key(of: .uuid))
    #expect(body == Checksum.sealed(key: key, content: uuid.bytes))
  }

  @Test func `examples of counters hold`() throws {
    let expected: [([UInt8], UInt64)] = [
      (CounterKey.nextRecord(entity: 2), 301), (CounterKey.nextEntity, 3),
      (CounterKey.nextRelationship, 2), (CounterKey.building(entity: 2, index: 4), 1_000),
      (CounterKey.buildingComputed(entity: 2, index: 3), 1_000),
      (CounterKey.size(entity: 2), 4_660),
    ]
    let lines = try lines("counters")
    #expect(lines.count == expected.count)
    for (line, expected) in zip(lines, expected) {
      let (key, body) = try pair(line.right)
      #expect(key == expected.0 && body == littleEndianBytes(expected.1), "\(line)")
    }
  }

  @Test func `the example of the size of an entity holds`() throws {
    let line = try #require(try lines("size").first)
    let lengths = line.left.split { !$0.isNumber }.compactMap { UInt64($0) }
    let (key, body) = try pair(line.right)
    #expect(lengths.count == 2 && key == CounterKey.size(entity: 1))
    #expect(body == littleEndianBytes(lengths.reduce(0, +)))
  }

  @Test func `examples of a bucket and of keys of imports hold`() throws {
    let bucket = try pair(try #require(try lines("bucket").first).right)
    #expect(bucket.key == BucketKey.prefix(bucket: "settings") + [1, 2])
    #expect(bucket.body == Checksum.sealed(key: bucket.key, content: [5, 6, 7]))
    let keys: [ImportKey] = [.state, .report(run: 258), .memory(SHA256.hash(Array("p1".utf8)))]
    let lines = try lines("import-key")
    #expect(lines.count == keys.count)
    for (line, key) in zip(lines, keys) {
      #expect(bytes(hexadecimal: line.right) == key.bytes(name: "Film"), "\(line)")
    }
  }
}

extension String {
  /// The text before and after the first `separator`.
  fileprivate func firstSplit(_ separator: String) -> (String, String)? {
    guard let range = range(ofFirst: separator) else { return nil }
    return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
  }

  private func range(ofFirst separator: String) -> Range<Index>? { ranges(of: separator).first }
}
