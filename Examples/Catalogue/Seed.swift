import Foundation
import Lodestore

/// The catalogue that the program ships with.
package enum Seed {
  /// Names, versions, summaries and licences of some libraries.
  private static let specs = [
    ("AFNetworking", "2.5.4", "Networking for Apple's systems.", "MIT"),
    ("Alamofire", "4.0.0", "HTTP networking in Swift.", "MIT"),
    ("FMDB", "2.5", "An Objective-C wrapper of SQLite.", "MIT"),
    ("GRDB.swift", "1.0", "SQLite for people who write Swift.", "MIT"),
    ("SnapKit", "3.0.0", "Layout in code.", "MIT"),
    ("SwiftyJSON", "3.0.0", "JSON with less ceremony.", "MIT"),
  ]

  /// The date of the facts in `specs`.
  private static let date = Date(timeIntervalSince1970: 1_480_550_400)

  /// Makes the sealed file.
  ///
  /// In an application the build would do this and put the file into the package.
  package static func make(at path: String) throws {
    let store = try Store.inMemory(entities: [Podspec.self])
    defer { store.close() }
    try store.insert(
      specs.map { Podspec(name: $0.0, version: $0.1, summary: $0.2, license: $0.3) })
    try store.seal(
      to: path, name: Catalogue.name, generation: UInt64(date.timeIntervalSince1970),
      dataAsOf: date, sealedAt: date)
  }
}
