/// An element of an XML document: its local name, its text, and the elements in it.
struct MarkupElement: Sendable, Hashable {
  var name: String
  /// The text directly in the element, with references resolved.
  var text = ""
  var children: [MarkupElement] = []

  /// The text of the first child with a name.
  func text(of name: String) -> String? { children.first { $0.name == name }?.text }
}

/// The reason why bytes are no XML document that this module reads.
struct MarkupError: Error, Sendable, Hashable {
  /// The position of the byte at which reading stopped.
  var position: Int
  var reason: String
}

/// Reads the XML of S3-compatible services.
///
/// The reader is small and strict. Elements, text, the five named references, numeric references
/// and CDATA sections are read. Comments, processing instructions, attributes and prefixes of
/// namespaces are skipped. Document types are refused, so no entity can grow. Depth, number of
/// elements and bytes are limited, and nothing recurses.
struct MarkupReader {
  static let byteLimit = 8 << 20
  static let depthLimit = 16
  static let elementLimit = 50_000
  private static let nameByteLimit = 256

  private let bytes: [UInt8]
  private var position = 0
  private var elements = 0
  private var open: [MarkupElement] = []
  private var text: [[UInt8]] = []

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the root element of a document.
  static func root(of bytes: [UInt8]) throws(MarkupError) -> MarkupElement {
    guard bytes.count <= byteLimit else {
      throw MarkupError(position: byteLimit, reason: "more than \(byteLimit) bytes")
    }
    var reader = MarkupReader(bytes)
    return try reader.document()
  }

  private func failure(_ reason: String) -> MarkupError {
    MarkupError(position: position, reason: reason)
  }

  // MARK: The document

  private mutating func document() throws(MarkupError) -> MarkupElement {
    skip("\u{FEFF}")
    var root: MarkupElement?
    while position < bytes.count {
      if bytes[position] != UInt8(ascii: "<") {
        try takeText()
      } else if skip("<!--") {
        try skip(through: "-->", "a comment without its end")
      } else if skip("<?") {
        try skip(through: "?>", "an instruction without its end")
      } else if skip("<![CDATA[") {
        guard !open.isEmpty else { throw failure("text outside the root element") }
        let start = position
        try skip(through: "]]>", "a section without its end")
        text[text.count - 1] += bytes[start..<position - 3]
      } else if skip("<!") {
        throw failure("a document type, which is refused")
      } else if skip("</") {
        if let closed = try closeElement() { root = closed }
      } else {
        guard root == nil else { throw failure("a second root element") }
        if let closed = try openElement() { root = closed }
      }
    }
    guard open.isEmpty else {
      throw failure("no end of the element '\(open[open.count - 1].name)'")
    }
    guard let root else { throw failure("no element") }
    return root
  }

  /// Reads a start tag after its `<`; returns the root element if the tag is empty and has no
  /// parent.
  private mutating func openElement() throws(MarkupError) -> MarkupElement? {
    position += 1
    let name = try name()
    elements += 1
    guard elements <= Self.elementLimit else { throw failure("too many elements") }
    guard open.count < Self.depthLimit else { throw failure("elements nested too deeply") }
    while true {
      let isSpaced = skipSpace()
      if skip("/>") { return add(MarkupElement(name: name)) }
      if skip(">") {
        open.append(MarkupElement(name: name))
        text.append([])
        return nil
      }
      guard isSpaced, position < bytes.count else { throw failure("a tag without its end") }
      _ = try self.name()
      skipSpace()
      guard skip("=") else { throw failure("an attribute without a value") }
      skipSpace()
      if skip("\"") {
        try skip(through: "\"", "a value without its end")
      } else if skip("'") {
        try skip(through: "'", "a value without its end")
      } else {
        throw failure("a value without quotes")
      }
    }
  }

  private mutating func closeElement() throws(MarkupError) -> MarkupElement? {
    let name = try name()
    skipSpace()
    guard skip(">") else { throw failure("a tag without its end") }
    guard var element = open.popLast(), let content = text.popLast(), element.name == name else {
      throw failure("an end of '\(name)' that is not open")
    }
    guard let valid = String(validating: content, as: UTF8.self) else {
      throw failure("text that is not UTF-8")
    }
    element.text = valid
    return add(element)
  }

  private mutating func add(_ element: MarkupElement) -> MarkupElement? {
    guard !open.isEmpty else { return element }
    open[open.count - 1].children.append(element)
    return nil
  }

  // MARK: Text

  private mutating func takeText() throws(MarkupError) {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "<"),
      bytes[position] != UInt8(ascii: "&")
    {
      position += 1
    }
    guard !open.isEmpty else {
      let isSpace = bytes[start..<position].allSatisfy(Self.isSpace)
      guard isSpace, position == bytes.count || bytes[position] != UInt8(ascii: "&") else {
        throw failure("text outside the root element")
      }
      return
    }
    text[text.count - 1] += bytes[start..<position]
    if skip("&") { text[text.count - 1] += try reference() }
  }

  /// The bytes of a reference after its `&`.
  private mutating func reference() throws(MarkupError) -> [UInt8] {
    // The longest one is `&#x10FFFF;`, and services may write zeros before the digits.
    let limit = min(position + 16, bytes.count)
    guard let end = bytes[position..<limit].firstIndex(of: UInt8(ascii: ";")) else {
      throw failure("a reference without its end")
    }
    let name = String(decoding: bytes[position..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "lt": return [UInt8(ascii: "<")]
    case "gt": return [UInt8(ascii: ">")]
    case "amp": return [UInt8(ascii: "&")]
    case "quot": return [UInt8(ascii: "\"")]
    case "apos": return [UInt8(ascii: "'")]
    default: break
    }
    let isHex = name.hasPrefix("#x")
    let digits = name.dropFirst(isHex ? 2 : 1)
    guard name.hasPrefix("#"), digits.first?.isHexDigit == true,
      let number = UInt32(digits, radix: isHex ? 16 : 10), number > 0,
      let scalar = Unicode.Scalar(number)
    else { throw failure("an unknown reference '&\(name);'") }
    return Array(String(Character(scalar)).utf8)
  }

  // MARK: Bytes

  /// Reads a name, and returns it without the prefix of its namespace.
  private mutating func name() throws(MarkupError) -> String {
    let start = position
    while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
    guard (1...Self.nameByteLimit).contains(position - start),
      let name = String(validating: bytes[start..<position], as: UTF8.self)
    else { throw failure("a name was expected") }
    return name.split(separator: ":").last.map(String.init) ?? name
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...0xFF: true
    default: false
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  @discardableResult
  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  @discardableResult
  private mutating func skip(_ word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func skip(through word: String, _ reason: String) throws(MarkupError) {
    let word = Array(word.utf8)
    while position + word.count <= bytes.count {
      if bytes[position..<position + word.count].elementsEqual(word) {
        position += word.count
        return
      }
      position += 1
    }
    throw failure(reason)
  }
}
