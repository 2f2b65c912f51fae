import Foundation

/// Repeats the pages of a file, with other names in each repetition, until there are enough
/// records.
struct RepeatedPages {
  private static let nameMark = Data("\"name\":\"".utf8)
  private static let summaryMark = Data("\"summary\":\"".utf8)

  /// The parts of each page; a part ends where a podspec's name begins.
  private var pages: [[Data]] = []
  private let limit: Int

  init(_ data: Data, recordCount: Int) {
    for line in data.split(separator: UInt8(ascii: "\n")) {
      var parts: [Data] = []
      var rest = line[...]
      while let range = rest.firstRange(of: Self.nameMark) {
        parts.append(Data(rest[..<range.upperBound]))
        rest = rest[range.upperBound...]
      }
      parts.append(Data(rest))
      pages.append(parts)
    }
    limit = recordCount
  }

  /// Writes one page on each line.
  ///
  /// Of every 100 records, `changed` get another summary.
  func write(to path: String, changed: Int) throws {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var records = 0
    var place = 0
    while records < limit {
      let parts = pages[place % pages.count]
      let prefix = Data("r\(place / pages.count)-".utf8)
      place += 1
      var page = parts[0]
      for part in parts.dropFirst() {
        page.append(prefix)
        records += 1
        if records % 100 < changed, let range = part.firstRange(of: Self.summaryMark) {
          page.append(part[..<range.upperBound])
          page.append(Data("changed ".utf8))
          page.append(part[range.upperBound...])
        } else {
          page.append(part)
        }
      }
      page.append(UInt8(ascii: "\n"))
      try file.write(contentsOf: page)
    }
    try file.close()
  }
}
