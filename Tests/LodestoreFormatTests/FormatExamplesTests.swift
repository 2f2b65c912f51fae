import LodestoreBytes
import LodestoreFormat
import Testing

/// The document and the code say the same: every example of Format.md is executed.
@Suite struct FormatExamplesTests {
  @Test func `every kind of example of the document is executed here`() {
    #expect(
      FormatExamples.kinds == [
        "document", "attribute", "elements", "relationship", "mapped-text", "index-key", "runs",
        "pairs", "checksum", "record",
        // FormatPairExamplesTests
        "typed-document", "initial", "decimal", "header", "catalogue-pair", "wide-record",
        "cut-key", "index-entry", "counters", "size", "bucket", "digest", "import-key",
        "import-pair",
        "element-entry", "search-block", "place-entry", "vector-block", "vector-lists",
        "relationship-pair", "link", "order", "digest-key", "copy-pair",
        // HistoryExamplesTests
        "history-part", "history-image", "preserved", "history-mark",
        // SealDescriptionTests
        "seal",
        // PublishedExamplesTests, of LodestoreDatasetsTests
        "published", "key-set", "manifest",
        // ReplicaExamplesTests, of LodestoreReplicasTests
        "log-entry", "step-block", "bucket-block", "unit-end", "base-head",
        // AnalysisExamplesTests
        "terms", "term-ranges", "query",
        // The verifier's tests
        "store", "page", "page version 3", "page-part",
      ])
  }

  @Test func `the examples of documents hold`() throws {
    let lines = FormatExamples.lines("document")
    try #require(!lines.isEmpty)
    for line in lines {
      var parser = ExampleParser(line.left)
      let value = try parser.json()
      #expect(parser.isAtEnd, "\(line)")
      #expect(hexadecimal(value.encoded()) == line.right, "\(line)")
      #expect(try document(bytes(hexadecimal: line.right)) == value, "\(line)")
    }
  }

  @Test func `the examples of attributes hold`() throws {
    let lines = FormatExamples.lines("attribute")
    try #require(!lines.isEmpty)
    for line in lines {
      var parser = ExampleParser(line.left)
      let attribute = try parser.json()
      #expect(parser.isAtEnd, "\(line)")
      let entity = try EntityDescription(number: 1, document: entityDocument(attribute))
      let first = try #require(entity.attributes.first)
      let hasMore =
        !first.constraints.isEmpty || first.derivation != nil || first.source != nil
      #expect(hasMore, "\(line)")
      guard case .array(let written) = entity.document["attributes"] else {
        throw ExampleError("\(line): no array of attributes")
      }
      #expect(written.map { hexadecimal($0.encoded()) } == [line.right], "\(line)")
    }
  }

  @Test func `the examples of elements hold`() throws {
    let lines = FormatExamples.lines("elements")
    try #require(!lines.isEmpty)
    for line in lines {
      var parser = ExampleParser(line.left)
      guard case .array(let names) = try parser.json(), parser.take(" of ") else {
        throw ExampleError("\(line): no path")
      }
      let path = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
      let document = try parser.json().encoded()
      let keys = try document._withBytes { try DocumentElements.keys(at: path, of: $0) }
      #expect(keys.map(hexadecimal).joined(separator: ", ") == line.right, "\(line)")
    }
  }

  @Test func `examples of runs of ids hold`() throws {
    let lines = FormatExamples.lines("runs")
    try #require(!lines.isEmpty)
    for line in lines {
      var runs = IDRuns()
      for id in line.left.split(separator: " ") { runs.append(try #require(UInt64(id))) }
      #expect(hexadecimal(runs.encoded) == line.right, "\(line)")
      let decoded = try bytes(hexadecimal: line.right)._withBytes { try IDRuns(decoding: $0) }
      #expect(decoded.ranges == runs.ranges, "\(line)")
    }
  }

  @Test func `examples of pairs of ids hold`() throws {
    let lines = FormatExamples.lines("pairs")
    try #require(!lines.isEmpty)
    for line in lines {
      let pairs = try line.left.split(separator: " ").map { text in
        let ids = text.split(separator: "-").compactMap { UInt64($0) }
        return LinkPair(from: try #require(ids.first), to: try #require(ids.last))
      }
      let links = HistoryPart.Links(relationship: 1, kind: .added, pairs: pairs)
      #expect(hexadecimal(links.encodedPairs) == line.right, "\(line)")
      let decoded = try bytes(hexadecimal: line.right)._withBytes {
        try HistoryPart.Links.pairs($0)
      }
      #expect(decoded == pairs, "\(line)")
    }
  }

  @Test func `the examples of relationships hold`() throws {
    let lines = FormatExamples.lines("relationship")
    try #require(!lines.isEmpty)
    for line in lines {
      var parser = ExampleParser(line.left)
      let relationship = try RelationshipDescription(number: 1, document: try parser.json())
      #expect(parser.isAtEnd, "\(line)")
      #expect(hexadecimal(relationship.document.encoded()) == line.right, "\(line)")
    }
    var key = KeyEncoder()
    key.append(300 as UInt64)
    key.append(recordID: 7)
    #expect(FormatExamples.text.contains("`\(hexadecimal(Array(key.bytes)))`"))
    #expect(key.bytes.count == KeyDecoder.lengthOfLeadingID(key.bytes) + 8)
    #expect(KeyDecoder.leadingID(key.bytes) == 300)
  }

  @Test func `the examples of mapped texts hold`() throws {
    let lines = FormatExamples.lines("mapped-text")
    try #require(!lines.isEmpty)
    for line in lines {
      let parts = line.left.split(separator: " ", maxSplits: 1)
      let kind = try #require(DerivationDescription.Kind(rawValue: String(parts[0])))
      let mapping = try #require(kind.mapping)
      var parser = ExampleParser(String(parts[1]))
      guard case .string(let text) = try parser.json() else {
        throw ExampleError("\(line): no text")
      }
      #expect(hexadecimal(Array(mapping.mapped(text).utf8)) == line.right, "\(line)")
    }
  }

  @Test func `the examples of index keys hold`() throws {
    let lines = FormatExamples.lines("index-key")
    try #require(!lines.isEmpty)
    for line in lines {
      var parser = ExampleParser(line.left)
      let tuple = try parser.tuple()
      #expect(hexadecimal(try key(tuple)) == line.right, "\(line)")
      let values = try decoded(bytes(hexadecimal: line.right))
      #expect(ValueOrder(values, tuple) == .same, "\(line)")
    }
  }

  @Test func `the examples of checksums hold`() throws {
    let lines = FormatExamples.lines("checksum")
    try #require(!lines.isEmpty)
    for line in lines {
      let isASCII = line.left.hasPrefix("ascii ")
      try #require(isASCII || line.left == "empty", "\(line)")
      var checksum = Checksum()
      Array(line.left.dropFirst(6).utf8)._withBytes { if isASCII { checksum.combine($0) } }
      #expect(hex(checksum.value) == line.right, "\(line)")
    }
  }

  @Test func `the examples of records hold`() throws {
    let blocks = FormatExamples.blocks("record")
    try #require(!blocks.isEmpty)
    for block in blocks {
      let example = try RecordExample(block)
      let record = try example.layout.record(id: example.id, values: example.values)
      #expect(hexadecimal(record) == example.bytes)
      try bytes(hexadecimal: example.bytes)._withBytes { bytes in
        let view = try RecordView(bytes, layout: example.layout)
        try view.validate(id: example.id)
        try #expect(example.layout.slots.map { try view.value(at: $0) } == example.values)
        #expect(throws: FormatError.self) { try view.validate(id: example.id + 1) }
      }
    }
  }

  @Test func `every attribute type is named in the document`() {
    for type in AttributeType.allCases {
      #expect(FormatExamples.text.contains("`\(type.name)`"), "\(type)")
      #expect(AttributeType(name: type.name) == type)
    }
  }
}

/// A block of kind `record`: the id, the layout's number, its attributes in order, the bytes.
private struct RecordExample {
  var id: UInt64
  var layout: RecordLayout
  var values: [Value] = []
  var bytes: String

  init(_ lines: [FormatExamples.Line]) throws {
    var attributes: [RecordLayout.Attribute] = []
    var fields: [String: String] = [:]
    for line in lines {
      let words = line.left.split(separator: " ")
      guard words.count == 2 else {
        fields[line.left] = line.right
        continue
      }
      let isOptional = words[1].hasSuffix("?")
      let typeName = String(isOptional ? words[1].dropLast() : words[1])
      guard let type = AttributeType(name: typeName) else {
        throw ExampleError("\(line): no attribute type '\(typeName)'")
      }
      attributes.append(
        RecordLayout.Attribute(
          number: UInt32(attributes.count + 1), type: type, isOptional: isOptional))
      var parser = ExampleParser(line.right)
      values.append(line.right == "null" ? .null : try parser.literal(typeName))
    }
    guard let id = fields["id"].flatMap({ UInt64($0) }),
      let number = fields["layout"].flatMap({ UInt16($0) }), let bytes = fields["bytes"]
    else { throw ExampleError("a record needs id, layout and bytes") }
    self.id = id
    self.bytes = bytes
    layout = RecordLayout(number: number, attributes: attributes)
  }
}
