import Foundation
import GRDB
import Lodestore
import PodServer

/// The position of a page: the last podspec of the previous page.
struct Place: Codable {
  var sortName: String
  var versionOrder: String
  var id: Int64

  init(sortName: String, versionOrder: String, id: Int64) {
    (self.sortName, self.versionOrder, self.id) = (sortName, versionOrder, id)
  }

  init(token: String) throws {
    guard let data = Data(base64Encoded: token.replacing("-", with: "=")) else {
      throw CocoaError(.formatting)
    }
    self = try JSONDecoder().decode(Place.self, from: data)
  }

  var token: String? {
    try? JSONEncoder().encode(self).base64EncodedString().replacing("=", with: "-")
  }
}

/// A podspec of a page.
struct PageRow: FetchableRecord {
  let item: PodPage.Item
  let place: Place

  init(row: Row) {
    item = PodPage.Item(
      name: row[0], version: row[1], summary: row[2], homepage: row[3], license: row[4],
      authors: row[5])
    place = Place(sortName: row[6], versionOrder: row[7], id: row[8])
  }

  private static let columns =
    "name, version, summary, homepage, license, authorNames, sortName, versionOrder, id"

  /// Fetches one row more than the limit, which shows whether there is a next page.
  static func fetch(
    _ db: Database, license: String?, after: Place?, limit: Int
  ) throws -> [PageRow] {
    var conditions: [String] = []
    var arguments = StatementArguments()
    if let license {
      conditions.append("license = ?")
      arguments += [license]
    }
    if let after {
      conditions.append("(sortName, versionOrder, id) > (?, ?, ?)")
      arguments += [after.sortName, after.versionOrder, after.id]
    }
    let condition = conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    let statement = try db.cachedStatement(
      sql: """
        SELECT \(columns) FROM podspec WHERE \(condition)
        ORDER BY sortName, versionOrder, id LIMIT ?
        """)
    return try fetchAll(statement, arguments: arguments + [limit + 1])
  }
}

/// A podspec with all its attributes and dependencies.
enum DetailRow {
  static func fetch(_ db: Database, name: String, version: String) throws -> PodDetail? {
    let statement = try db.cachedStatement(
      sql: """
        SELECT id, summary, homepage, license, authors, platforms, requirements, changedAt
        FROM podspec WHERE name = ? AND version = ?
        """)
    guard let row = try Row.fetchOne(statement, arguments: [name, version]) else { return nil }
    let needs = try db.cachedStatement(
      sql: """
        SELECT pod.name FROM dependency JOIN pod ON pod.id = dependency.podID
        WHERE dependency.podspecID = ? ORDER BY pod.name
        """)
    return PodDetail(
      record: PodRecord(
        name: name, version: version,
        content: .init(
          summary: row[1], homepage: row[2], license: row[3], authors: try json(row[4]),
          platforms: try json(row[5]), dependencies: try json(row[6]))),
      changedAt: Date(timeIntervalSinceReferenceDate: row[7]),
      dependencies: try String.fetchAll(needs, arguments: [row[0] as Int64]))
  }

  private static func json(_ text: String) throws -> JSONValue? {
    let value = try JSONValue(parsing: text)
    return value.isNull ? .none : value
  }
}
