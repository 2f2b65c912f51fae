import Foundation

/// The records of a sample file, which is a JSON array.
///
/// The records are divided into pages, as a service sends them.
struct SampleRecords {
  private static let pageSize = 10
  private let records: [Any]

  init(_ file: URL) throws {
    let value = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
    guard let records = value as? [Any] else { throw CocoaError(.fileReadCorruptFile) }
    self.records = records
  }

  private var pages: [[Any]] {
    stride(from: 0, to: records.count, by: Self.pageSize).map { start in
      Array(records[start..<min(start + Self.pageSize, records.count)])
    }
  }

  /// Makes pages of the Star Wars API whose links begin with an address.
  func starWarsPages(_ address: String) throws -> [Data] {
    let pages = pages
    return try pages.indices.map { index in
      func link(_ page: Int) -> String {
        pages.indices.contains(page) ? #""\#(address)?page=\#(page + 1)""# : "null"
      }
      let head =
        #"{"count": \#(records.count), "next": \#(link(index + 1)), "#
        + #""previous": \#(link(index - 1)), "results": "#
      return Data(head.utf8) + (try Self.json(pages[index])) + Data("}".utf8)
    }
  }

  /// Pages of podspecs.
  func podPages() throws -> [Data] {
    let pages = pages
    return try pages.map { page in
      try Self.json(["number_of_pages": pages.count, "result": page])
    }
  }

  private static func json(_ value: Any) throws -> Data {
    try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
  }
}

/// An answer of NASA/JPL's fireball service.
struct FireballAnswer {
  private let object: [String: Any]
  private let rows: [Any]

  init?(_ page: Data) {
    guard let object = try? JSONSerialization.jsonObject(with: page) as? [String: Any],
      let rows = object["data"] as? [Any]
    else { return nil }
    (self.object, self.rows) = (object, rows)
  }

  /// Returns the first rows; `nil` for a limit below 1.
  func limited(to limit: Int) -> Data? {
    guard limit > 0 else { return nil }
    let kept = rows.prefix(limit)
    let page = object.merging(["data": Array(kept), "count": "\(kept.count)"]) { $1 }
    return try? JSONSerialization.data(
      withJSONObject: page, options: [.sortedKeys, .withoutEscapingSlashes])
  }
}
