internal import LodestoreSystem

/// Reads the lines of an open file, in memory for one line of the longest length.
struct LineReader {
  enum Line: Equatable {
    case bytes([UInt8])
    /// A line of more than ``longest`` bytes, which was skipped.
    case tooLong
  }

  /// The maximum number of bytes of a line.
  static let longest = 1 << 20

  private let file: Int32
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)
  /// The unread bytes of the chunk.
  private var unread = 0..<0
  private var isAtEnd = false

  init(file: Int32) { self.file = file }

  /// Reads the next line without its line feed; `nil` after the last one.
  ///
  /// The bytes after the last line feed are a line too.
  mutating func next() throws(InspectorError) -> Line? {
    var line: [UInt8] = []
    var isTooLong = false
    while true {
      if unread.isEmpty {
        try fill()
        if isAtEnd { return isTooLong ? .tooLong : line.isEmpty ? nil : .bytes(line) }
      }
      let end = chunk[unread].firstIndex(of: UInt8(ascii: "\n"))
      let part = chunk[unread.lowerBound..<(end ?? unread.upperBound)]
      isTooLong = isTooLong || line.count + part.count > Self.longest
      if isTooLong { line = [] } else { line += part }
      unread = (end.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
      if end != nil { return isTooLong ? .tooLong : .bytes(line) }
    }
  }

  /// Waits for bytes and reads them into the chunk.
  private mutating func fill() throws(InspectorError) {
    guard !isAtEnd else { return }
    while true {
      let count = read(file, &chunk, chunk.count)
      let code = errno
      switch count {
      case 1...:
        unread = 0..<count
        return
      case 0:
        isAtEnd = true
        return
      default: break
      }
      switch code {
      case EINTR: continue
      case EAGAIN:
        var request = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, -1)
      default:
        let reason = String(cString: strerror(code))
        throw InspectorError(message: "the input cannot be read: \(reason)")
      }
    }
  }
}
