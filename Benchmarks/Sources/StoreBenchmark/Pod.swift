import EntityStore
import Foundation

/// The common workload's record.
struct Pod: Entity {
  var id = RecordID<Pod>()
  var name: String
  var version: String
  var homepage: String?
  var license: String
  var summary: String
  var downloads: Int64
  var updatedAt: Date
  var deprecated: Bool

  static let schema = EntitySchema<Pod>(
    "Pod",
    attributes: [
      .init("name", \.name), .init("version", \.version), .init("homepage", \.homepage),
      .init("license", \.license), .init("summary", \.summary), .init("downloads", \.downloads),
      .init("updatedAt", \.updatedAt), .init("deprecated", \.deprecated),
    ],
    unique: [[\.name, \.version]], indexes: [[\.updatedAt]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
    writer.write(homepage)
    writer.write(license)
    writer.write(summary)
    writer.write(downloads)
    writer.write(updatedAt)
    writer.write(deprecated)
  }
}

extension Pod {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
    homepage = try reader.read()
    license = try reader.read()
    summary = try reader.read()
    downloads = try reader.read()
    updatedAt = try reader.read()
    deprecated = try reader.read()
  }
}

/// xorshift64*, so that every run makes the same records.
struct Generator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func next(below limit: UInt64) -> UInt64 { next() % limit }
}

extension Pod {
  /// `count` records in random order; sizes as in real podspecs: 170 bytes a record.
  static func generate(_ count: Int) -> [Pod] {
    var generator = Generator(seed: 0x9E37_79B9_7F4A_7C15)
    let licenses = ["MIT", "BSD", "Apache 2.0", "Apache License, Version 2.0", "zlib", "GPL"]
    let filler = "A small library that does one thing for every program that needs it done well, "
    var pods = (0..<count).map { i in
      let name = "pod-\(String(generator.next() | 1 << 60, radix: 36))".prefix(17)
      let version = "\(generator.next(below: 9)).\(generator.next(below: 20)).\(i % 10)"
      return Pod(
        name: "\(name)", version: version,
        homepage: generator.next(below: 10) == 0
          ? nil : "https://example.com/\(name)/\(i % 1000)",
        license: licenses[Int(generator.next(below: 6))],
        summary: String(filler.prefix(50 + Int(generator.next(below: 28)))),
        downloads: Int64(generator.next(below: 5_000_000)),
        updatedAt: Date(
          timeIntervalSinceReferenceDate: Double(generator.next(below: 400_000_000)) / 2),
        deprecated: generator.next(below: 20) == 0)
    }
    for i in stride(from: pods.count - 1, to: 0, by: -1) {
      pods.swapAt(i, Int(generator.next(below: UInt64(i + 1))))
    }
    return pods
  }
}
