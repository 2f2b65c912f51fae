import EntityStore
import Foundation

/// A podspec as the pages have it; what differs in kind from spec to spec stays JSON.
struct Podspec: Decodable, Sendable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
  var source_files: JSONValue?
  var dependencies: JSONValue?
}

/// The same as an entity: unique (name, version) and one index.
struct StoredPodspec: Entity {
  var id = RecordID<StoredPodspec>()
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
  var sourceFiles: JSONValue?
  var dependencies: JSONValue?

  static let schema = EntitySchema<StoredPodspec>(
    "Podspec",
    attributes: [
      .init("name", \.name), .init("version", \.version), .init("summary", \.summary),
      .init("homepage", \.homepage), .init("license", \.license), .init("authors", \.authors),
      .init("source", \.source), .init("platforms", \.platforms),
      .init("sourceFiles", \.sourceFiles), .init("dependencies", \.dependencies),
    ],
    unique: [[\.name, \.version]], indexes: [[\.homepage]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
    writer.write(summary)
    writer.write(homepage)
    writer.write(license)
    writer.write(authors)
    writer.write(source)
    writer.write(platforms)
    writer.write(sourceFiles)
    writer.write(dependencies)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
    summary = try reader.read()
    homepage = try reader.read()
    license = try reader.read()
    authors = try reader.read()
    source = try reader.read()
    platforms = try reader.read()
    sourceFiles = try reader.read()
    dependencies = try reader.read()
  }

  init(_ spec: Podspec) {
    name = spec.name
    version = spec.version
    summary = spec.summary
    homepage = spec.homepage
    license = spec.license
    authors = spec.authors
    source = spec.source
    platforms = spec.platforms
    sourceFiles = spec.source_files
    dependencies = spec.dependencies
  }
}

/// Imports a file of pages, repeated under other names to so many records, into a new store; then
/// again with nothing changed, and with one record of a hundred changed.
///
/// Each way of reading records is measured: decoded by `Codable`, and by the names of members.
struct PodspecImport {
  let directory: String

  static func run(
    pages file: String, records: Int, directory: String, runs: Int, only: String?
  ) async throws {
    let measured = PodspecImport(directory: directory)
    let pages = RepeatedPages(
      try Data(contentsOf: URL(fileURLWithPath: file)), recordCount: records)
    try pages.write(to: measured.path(changed: 0), changed: 0)
    try pages.write(to: measured.path(changed: 1), changed: 1)
    var table = ImportTable()
    for _ in 0..<runs {
      for way in Way.allCases where only == nil || only == "\(way)" {
        let path = "\(directory)/podspecs.lodestore"
        let store = try Store(at: path, entities: [StoredPodspec.self])
        for (name, changed) in [("first", 0), ("unchanged", 0), ("1 % changed", 1)] {
          table.add(
            "\(way): \(name)",
            try await measured.importPages(way, changed: changed, into: store))
        }
        store.close()
        try FileManager.default.removeItem(atPath: path)
      }
    }
    table.print()
    print("peak anonymous memory: \(AnonymousMemory.peak >> 10) MB")
  }

  private func path(changed: Int) -> String { "\(directory)/pages-\(changed).jsonl" }

  /// How the records of a page become records of the entity.
  enum Way: CaseIterable { case members, codable }

  private func importPages(
    _ way: Way, changed: Int, into store: Store
  ) async throws -> ImportReport {
    let pages = FilePages.pagePerLine(path(changed: changed))
    let importer = Importer(
      into: store, StoredPodspec.self, matching: .unique(\.name, \.version))
    let onEvent: @Sendable (ImportEvent) -> Void = { event in
      if case .committed = event { AnonymousMemory.sample() }
    }
    switch way {
    case .members:
      return try await importer.run(
        pages, records: "result", renaming: ["source_files": "sourceFiles"], onEvent: onEvent)
    case .codable:
      return try await importer.run(
        pages, records: "result", as: Podspec.self, onEvent: onEvent
      ) { StoredPodspec($0) }
    }
  }
}

/// Pages of podspecs again and again, each time under other names.
struct RepeatedPages {
  private static let nameMark = Data("\"name\":\"".utf8)
  private static let summaryMark = Data("\"summary\":\"".utf8)

  /// Each page cut behind the beginnings of names.
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

  /// Writes a page a line; `changed` records of a hundred have another summary.
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

/// Medians of imports, by name.
struct ImportTable {
  private var order: [String] = []
  private var reports: [String: [ImportReport]] = [:]

  mutating func add(_ name: String, _ report: ImportReport) {
    if reports[name] == nil { order.append(name) }
    reports[name, default: []].append(report)
  }

  func print() {
    for name in order {
      guard let runs = reports[name]?.sorted(by: { $0.seconds < $1.seconds }) else { continue }
      let report = runs[runs.count / 2]
      Swift.print(
        name.padding(toLength: 22, withPad: " ", startingAt: 0),
        String(
          format: "%7.0f records/s %6.1f MB/s  %.2f s: decoding %.2f, writing %.2f, %d commits",
          report.recordsPerSecond, Double(report.bytes) / report.seconds / 1e6, report.seconds,
          report.decodingSeconds, report.writingSeconds, report.commits),
        "(\(report))")
    }
  }
}

/// Memory of this process that is no file's.
enum AnonymousMemory {
  // Unsafe in name: sampled by the one task that commits, and read when no import runs.
  nonisolated(unsafe) private(set) static var peak = 0

  static func sample() {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    peak = max(peak, line?.split(separator: " ").compactMap { Int($0) }.first ?? 0)
  }
}
