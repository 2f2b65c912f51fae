import Foundation
import Lodestore

/// The common workload's record.
@Entity
struct Pod: Sendable {
  #Unique<Pod>([\.name, \.version])
  #Index<Pod>([\.updatedAt])

  var name: String
  var version: String
  var homepage: String?
  var license: String
  var summary: String
  var downloads: Int64
  var updatedAt: Date
  var deprecated: Bool
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
    pods.shuffle(with: &generator)
    return pods
  }

  /// The same record a day later, with one more download.
  var later: Pod {
    var pod = self
    pod.downloads += 1
    pod.updatedAt += 86_400
    return pod
  }
}
