internal import LodestoreBytes
import LodestoreSystem

/// The changes of a named time zone's clocks, from a file of the machine's database in the format
/// of RFC 9636.
///
/// A damaged file is treated as missing; reading it never traps.
struct ZoneTable: Sendable {
  /// The moments at which clocks change, in seconds since 2001, ascending.
  private var changes: [Int64] = []
  /// The offset before all changes, followed by the offset after each change.
  private var offsets: [Int64] = []
  /// The rule for yearly changes of clocks after the last moment in ``changes``; `nil` when the
  /// file has none.
  private var later: ZoneCycle?

  private static let folders = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"]
  private static let largestFile = 1 << 20
  /// The seconds from 1970, from which files count, to 2001.
  private static let origin: Int64 = 978_307_200

  /// Reads the zone `name`, such as `Europe/Berlin`; `nil` if the machine has no such zone.
  init?(named name: String) {
    // Only these characters are allowed, so that a name cannot lead to a file outside of the
    // folder.
    let allowed = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        || "+-_/".utf8.contains(byte)
    }
    guard allowed, !name.isEmpty, name.utf8.count <= 128, !name.hasPrefix("/") else { return nil }
    for folder in Self.folders {
      if let bytes = Self.content(of: "\(folder)/\(name)"), let table = ZoneTable(bytes) {
        self = table
        return
      }
    }
    return nil
  }

  /// Returns the number of seconds that clocks are ahead of UTC, at a moment in seconds since 2001.
  func offset(at seconds: Int64) -> Int64 {
    if let last = changes.last, seconds >= last, let later { return later.offset(at: seconds) }
    if changes.isEmpty, let later { return later.offset(at: seconds) }
    // A binary search for the number of changes up to the moment.
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
    }
    return offsets[low]
  }

  private static func content(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    var count = 0
    while true {
      let read = bytes._withMutableBytes { buffer in
        fread(buffer.baseAddress.map { $0 + count }, 1, buffer.count - count, file)
      }
      count += read
      if read == 0 { break }
      if count == bytes.count {
        guard count < largestFile else { return nil }
        bytes += [UInt8](repeating: 0, count: count)
      }
    }
    return Array(bytes[..<count])
  }
}

// MARK: - The format of files

extension ZoneTable {
  /// Reads the content of a file; `nil` if it breaks the format.
  init?(_ bytes: [UInt8]) {
    var reader = ZoneReader(bytes)
    guard let first = reader.header() else { return nil }
    var header = first
    var isWide = false
    if first.version >= UInt8(ascii: "2") {
      // The first part of a zone file repeats the data in 32-bit numbers, and is skipped.
      guard reader.skip(first.byteCount(isWide: false)), let second = reader.header() else {
        return nil
      }
      header = second
      isWide = true
    }
    // A file with leap seconds is not read, because its moments count leap seconds and `Date` does
    // not count them.
    guard header.leapCount == 0, header.typeCount > 0 else { return nil }
    var moments: [Int64] = []
    for _ in 0..<header.changeCount {
      guard let moment = reader.integer(byteCount: isWide ? 8 : 4) else { return nil }
      moments.append(moment)
    }
    var types: [Int] = []
    for _ in 0..<header.changeCount {
      guard let type = reader.byte() else { return nil }
      types.append(Int(type))
    }
    var typeOffsets: [Int64] = []
    for _ in 0..<header.typeCount {
      guard let offset = reader.integer(byteCount: 4), reader.skip(2) else { return nil }
      guard offset.magnitude < 26 * 3_600 else { return nil }
      typeOffsets.append(offset)
    }
    guard zip(moments, moments.dropFirst()).allSatisfy({ $0 < $1 }),
      types.allSatisfy(typeOffsets.indices.contains)
    else { return nil }
    // Files may begin with a moment far before all others, which is limited so that the subtraction
    // cannot overflow.
    changes = moments.map { max($0, -1 << 60) - Self.origin }
    offsets = [typeOffsets[0]] + types.map { typeOffsets[$0] }
    guard isWide else { return }
    guard reader.skip(header.nameByteCount + header.indicatorCount) else { return nil }
    guard let text = reader.footer() else { return nil }
    if !text.isEmpty {
      guard let cycle = ZoneCycle(text) else { return nil }
      later = cycle
    }
  }
}

/// Reads numbers of a file, with the most significant byte first.
private struct ZoneReader {
  struct Header {
    let version: UInt8
    let indicatorCount: Int
    let leapCount: Int
    let changeCount: Int
    let typeCount: Int
    let nameByteCount: Int

    /// Returns the number of bytes of the data that follow this header in the file.
    func byteCount(isWide: Bool) -> Int {
      let width = isWide ? 8 : 4
      return changeCount * (width + 1) + typeCount * 6 + nameByteCount + leapCount * (width + 4)
        + indicatorCount
    }
  }

  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func header() -> Header? {
    guard bytes.count - at >= 44, bytes[at..<at + 4].elementsEqual("TZif".utf8) else { return nil }
    let version = bytes[at + 4]
    at += 20
    var counts: [Int] = []
    for _ in 0..<6 {
      // A count greater than the file's size is invalid, and could overflow later sums.
      guard let count = integer(byteCount: 4), (0...Int64(bytes.count)).contains(count) else {
        return nil
      }
      counts.append(Int(count))
    }
    return Header(
      version: version, indicatorCount: counts[0] + counts[1], leapCount: counts[2],
      changeCount: counts[3], typeCount: counts[4], nameByteCount: counts[5])
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count <= bytes.count - at else { return false }
    at += count
    return true
  }

  mutating func byte() -> UInt8? {
    guard at < bytes.count else { return nil }
    at += 1
    return bytes[at - 1]
  }

  /// Reads a signed number.
  mutating func integer(byteCount: Int) -> Int64? {
    guard byteCount <= bytes.count - at else { return nil }
    var word: UInt64 = bytes[at] & 0x80 == 0 ? 0 : .max
    for byte in bytes[at..<at + byteCount] { word = word << 8 | UInt64(byte) }
    at += byteCount
    return Int64(bitPattern: word)
  }

  /// Reads the last line of the file.
  mutating func footer() -> [UInt8]? {
    guard byte() == 0x0A, let end = bytes[at...].firstIndex(of: 0x0A) else { return nil }
    return Array(bytes[at..<end])
  }
}
