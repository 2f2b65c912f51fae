import EntityStore
import LodestoreBytes

/// Finds the first value of a file, and the byte after it, in a growing buffer.
///
/// Each byte is read once.
struct FirstValue {
  /// The offset of the first byte that is not white space.
  private(set) var start: Int?
  private var end: Int?
  private var searched = 0
  private var brackets = JSONEndSearch()
  /// The offset of the first byte after the value that is not white space.
  private var next: Int?

  /// Whether a JSON text can begin with this byte.
  static func mayBegin(_ byte: UInt8) -> Bool {
    "{[\"-0123456789tfn".utf8.contains(byte)
  }

  /// Whether a word can begin with this byte.
  static func isWord(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }

  /// Reads the bytes that were added to `bytes`.
  mutating func search(_ bytes: [UInt8]) {
    if start == nil {
      if searched == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { searched = 3 }
      start = bytes[min(searched, bytes.count)...].firstIndex { !Self.isBlank($0) }
      searched = start ?? bytes.count
    }
    guard start != nil else { return }
    if end == nil {
      let found = bytes[searched...]._withBytes { brackets.end(in: $0) }
      end = found.map { searched + $0 }
      searched = end ?? bytes.count
    }
    guard end != nil, next == nil else { return }
    next = bytes[searched...].firstIndex { !Self.isBlank($0) }
    searched = next ?? bytes.count
  }

  /// The way to cut a file that has several values; `nil` for a single text, or if the bytes do not
  /// show it yet.
  ///
  /// If the first value is alone on its line, the file is cut at line ends. Otherwise it is cut at
  /// the ends of arrays and objects.
  func cut(_ bytes: [UInt8]) -> JSONLinesReader.Cut? {
    guard let start, let end, let next else { return nil }
    let isContainer = Self.isContainer(bytes[start])
    let endsLine = bytes[end..<next].contains(0x0A)
    let isParsed = { (try? JSONDocument.parsing(bytes[start..<end])) != nil }
    if endsLine, !bytes[start..<end].contains(0x0A), isContainer || isParsed() { return .lines }
    return isContainer && Self.isContainer(bytes[next]) ? .values : nil
  }

  private static func isContainer(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
