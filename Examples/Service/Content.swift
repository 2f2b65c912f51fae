public import Foundation

/// The content of a service: pages of JSON.
public struct Content: Sendable {
  /// Pages of the Star Wars API by the name of their entity, for example `films`.
  private let starWars: [String: [Data]]
  /// Pages of podspecs.
  private let pods: [Data]
  /// The answers of the fireball service in different years, by year.
  private let fireballs: [String: Data]

  static let starWarsNames = ["films", "people", "planets", "species", "starships", "vehicles"]
  /// The original address in the links of the Star Wars API.
  private static let starWarsBase = "https://swapi.dev"

  /// Reads the pages in a folder.
  ///
  /// The folder has either one page on each line, as the services send them (`swapi/films.jsonl`,
  /// `cocoapods/specs-trunk.jsonl`, `fireball/fireball-2024-02.json`), or samples
  /// (`starwars/films.json`, `podspecs.json`, `fireballs-2024.json`), which become pages of 10
  /// records.
  ///
  /// - Throws: ``ServiceError/noContent(folder:)``, or the error of reading a file.
  public init(folder: URL) throws {
    func pages(_ path: String) throws -> [Data] {
      try Data(contentsOf: folder.appending(path: path)).split(separator: 10).map { Data($0) }
    }
    func samples(_ path: String) throws -> SampleRecords {
      try SampleRecords(folder.appending(path: path))
    }
    func has(_ path: String) -> Bool {
      FileManager.default.fileExists(atPath: folder.appending(path: path).path)
    }
    let names = Self.starWarsNames
    if has("swapi/films.jsonl") {
      starWars = try Self.dictionary(names) { try pages("swapi/\($0).jsonl") }
      pods = try pages("cocoapods/specs-trunk.jsonl")
      fireballs = [
        "2024": try Data(contentsOf: folder.appending(path: "fireball/fireball-2024-02.json")),
        "2026": try Data(contentsOf: folder.appending(path: "fireball/fireball-2026-05.json")),
      ]
    } else if has("starwars/films.json") {
      starWars = try Self.dictionary(names) { name in
        try samples("starwars/\(name).json").starWarsPages("\(Self.starWarsBase)/api/\(name)/")
      }
      pods = try samples("podspecs.json").podPages()
      fireballs = try Self.dictionary(["2024", "2026"]) { year in
        try Data(contentsOf: folder.appending(path: "fireballs-\(year).json"))
      }
    } else {
      throw ServiceError.noContent(folder: folder.path)
    }
  }

  /// Returns the content of the first existing folder: `folder`, the folder that the environment
  /// variable `LODESTORE_DATA` names, `../shared/data` next to the project, or the project's
  /// samples.
  public static func standard(folder: String? = nil) throws -> Content {
    let environment = ProcessInfo.processInfo.environment["LODESTORE_DATA"]
    if let named = folder ?? environment { return try Content(folder: URL(filePath: named)) }
    let shared = project.appending(path: "../shared/data").standardizedFileURL
    return try (try? Content(folder: shared)) ?? samples()
  }

  /// The project's samples, which are part of the repository.
  public static func samples() throws -> Content {
    try Content(folder: project.appending(path: "Samples"))
  }

  private static var project: URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
      .standardizedFileURL
  }

  private static func dictionary<Value>(
    _ names: [String], _ value: (String) throws -> Value
  ) rethrows -> [String: Value] {
    try Dictionary(uniqueKeysWithValues: names.map { ($0, try value($0)) })
  }

  /// Returns the page at a path, with links that begin with `base`, or `nil`.
  func page(_ path: String, _ query: (String) -> String?, base: String) -> Data? {
    let parts = path.split(separator: "/").map(String.init)
    switch parts.first {
    case "api" where parts.count == 2:
      return starWars[parts[1]]?.page(query("page"), first: 1)
        .map { linked($0, to: base) }
    case "pods" where parts.count == 1:
      return pods.page(query("page"), first: 0)
    case "fireballs" where parts.count == 1:
      guard let page = fireballs[query("snapshot") ?? "2026"] else { return nil }
      guard let limit = query("limit") else { return page }
      return Int(limit).flatMap { FireballAnswer(page)?.limited(to: $0) }
    default: return nil
    }
  }

  /// Returns the page with its links to the previous and next page changed to `base`.
  ///
  /// The addresses of records are unchanged, because records refer to each other by these
  /// addresses.
  private func linked(_ page: Data, to base: String) -> Data {
    var text = String(decoding: page, as: UTF8.self)
    for member in ["next", "previous"] {
      guard let found = text.range(of: #""\#(member)": "\#(Self.starWarsBase)"#) else { continue }
      text.replaceSubrange(found, with: #""\#(member)": "\#(base)"#)
    }
    return Data(text.utf8)
  }
}

extension [Data] {
  /// Returns the page whose number is in a query.
  ///
  /// The number of the first page is `first`.
  fileprivate func page(_ number: String?, first: Int) -> Data? {
    guard let number = number.map({ Int($0) }) ?? first else { return nil }
    return indices.contains(number - first) ? self[number - first] : nil
  }
}
