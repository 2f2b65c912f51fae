import LodestoreJSON

extension FuzzTarget {
  /// Expects that JSON which is read and written is read again as the same value.
  ///
  /// Lines do not depend on the pieces in which they arrive.
  static let json = FuzzTarget("json", longestInput: 1_024) {
    try seedLines("json.txt") + ["[1]\n\n{\"a\":2}\r\n\"x\"".utf8.map { $0 }]
  } run: { bytes in
    let text = Array(bytes)
    readLines(text)
    do {
      let document = try JSONDocument.parsing(text)
      visit(document.root)
      let value = document.root.jsonValue
      for layout in [JSONWriter.Layout.compact, .pretty] {
        var writer = JSONWriter(layout)
        try writer.write(value)
        let again = try JSONValue(parsing: writer.bytes)
        require(again == value, "\(value) is written as \(writer.text)")
      }
      let decoded = try JSONNodeDecoder().decode(JSONValue.self, from: document.root)
      require(decoded == value, "\(value) is decoded as \(decoded)")
      require(String(validating: text, as: UTF8.self) != nil, "it is not UTF-8")
      _ = try? JSONNodeDecoder().decode([String: [Double]].self, from: document.root)
      _ = try? JSONNodeDecoder().decode([UInt8].self, from: document.root)
    } catch let error as JSONError {
      require((0...text.count).contains(error.offset), "\(error) is at \(error.offset)")
      require(error.line >= 1 && error.column >= 1 && !error.description.isEmpty, "\(error)")
    }
  }

  private static func visit(_ node: JSONNode) {
    _ = (node.offset, node.position, node.count, node.kindName)
    _ = (node.bool, node.string, node.int64, node.uint64, node.double, node.numberText)
    node.withSourceBytes { require(!$0.isEmpty, "a value has no text") }
    switch node.kind {
    case .array: for element in node.elements { visit(element) }
    case .object: for (_, member) in node.members { visit(member) }
    default: break
    }
  }

  private static func readLines(_ text: [UInt8]) {
    var limits = JSONLimits()
    limits.bytes = 200
    limits.depth = 20
    let whole = lines(text, limits, piece: text.count)
    // A line that is too long is noticed at another place when it arrives in pieces.
    if text.split(separator: 0x0A).allSatisfy({ $0.count < 150 }) {
      let pieces = lines(text, limits, piece: 7)
      require(whole == pieces, "\(whole) and in pieces \(pieces)")
    }
  }

  private static func lines(_ text: [UInt8], _ limits: JSONLimits, piece: Int) -> [String] {
    var reader = JSONLinesReader(limits: limits)
    var found: [String] = []
    func take() {
      while true {
        do throws(JSONError) {
          guard let line = try reader.next() else { return }
          found.append("\(line.line) \(line.offset) \(line.root.jsonValue)")
        } catch {
          found.append("\(error)")
          require(found.count <= 2 * text.count + 2, "the lines have no end")
        }
      }
    }
    var rest = text[...]
    while !rest.isEmpty {
      reader.append(rest.prefix(max(piece, 1)))
      rest = rest.dropFirst(max(piece, 1))
      take()
    }
    reader.finish()
    take()
    return found
  }
}
