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

/// Imports a file of pages twice into a new store, and prints records a second for both.
enum PodspecImport {
  static func run(pages file: String, directory: String, runs: Int) async throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    let pages = data.split(separator: UInt8(ascii: "\n")).map { Data($0) }
    var first: [Double] = []
    var second: [Double] = []
    for run in 0..<runs {
      let store = try Store(
        at: "\(directory)/podspecs-\(run).lodestore", entities: [StoredPodspec.self])
      first.append(try await rate(pages, into: store))
      second.append(try await rate(pages, into: store))
      store.close()
    }
    for (name, rates) in [("first", first.sorted()), ("again, unchanged", second.sorted())] {
      let values = [rates[0], rates[rates.count / 2], rates[rates.count - 1]]
      let text = values.map { String(format: "%.0f", $0) }.joined(separator: " / ")
      print("import, \(name): \(text) records a second (least / median / most)")
    }
  }

  private static func rate(_ pages: [Data], into store: Store) async throws -> Double {
    let stream = AsyncStream<Data> { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
    let importer = Importer(
      into: store, StoredPodspec.self, matching: .unique(\.name, \.version))
    let report = try await importer.run(stream, records: "result") { (spec: Podspec) in
      StoredPodspec(spec)
    }
    return Double(report.inserted + report.updated + report.unchanged) / report.seconds
  }
}
