import Foundation
import Lodestore

/// The record of most operations: a version of a library.
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
  private static let licenses = [
    "MIT", "BSD", "Apache 2.0", "Apache License, Version 2.0", "zlib", "GPL",
  ]
  private static let filler =
    "A small library that does one thing for every program that needs it done well, "

  /// Makes `count` records in random order, with sizes as in real podspecs: 170 bytes a record.
  static func generate(_ count: Int) -> [Pod] {
    var generator = Generator(seed: 0x9E37_79B9_7F4A_7C15)
    var pods = (0..<count).map { Pod(number: $0, from: &generator) }
    pods.shuffle(with: &generator)
    return pods
  }

  fileprivate init(number: Int, from generator: inout Generator) {
    // A 64-bit number has at most 13 digits in base 36. The bit makes all names equally long.
    let name = "pod-\(String(generator.next() | 1 << 60, radix: 36))"
    let version = "\(generator.next(below: 9)).\(generator.next(below: 20)).\(number % 10)"
    self.init(
      name: name, version: version,
      homepage: generator.next(below: 10) == 0
        ? nil : "https://example.com/\(name)/\(number % 1000)",
      license: Self.licenses[Int(generator.next(below: 6))],
      // The prefix is of UTF-8, because counting characters takes longer than all other work for a
      // record.
      summary: String(Substring(Self.filler.utf8.prefix(50 + Int(generator.next(below: 28))))),
      downloads: Int64(generator.next(below: 5_000_000)),
      updatedAt: Date(
        timeIntervalSinceReferenceDate: Double(generator.next(below: 400_000_000)) / 2),
      deprecated: generator.next(below: 20) == 0)
  }

  /// A copy of the record with copies of its texts.
  ///
  /// An array of copies has its texts in memory in the order of the array, like decoded records and
  /// the records of the sides in C.
  var copied: Pod {
    Pod(
      name: name.copied, version: version.copied, homepage: homepage?.copied,
      license: license.copied, summary: summary.copied, downloads: downloads,
      updatedAt: updatedAt, deprecated: deprecated)
  }

  /// The record a day later, with one more download.
  var later: Pod {
    var pod = self
    pod.downloads += 1
    pod.updatedAt += 86_400
    return pod
  }
}

extension String {
  fileprivate var copied: String { String(decoding: Array(utf8), as: UTF8.self) }
}

extension Pod: NumberedRecord {
  /// Makes the record of a number.
  ///
  /// The name is made of the first random number of the record's generator, which is different for
  /// each record. The name has bit 60 of the number always set, so two names are equal if their
  /// numbers differ in this bit alone.
  static func numbered(_ number: Int) -> Pod {
    var generator = generator(ofNumber: number)
    return Pod(number: number, from: &generator)
  }

  var checkNumber: UInt64 { UInt64(bitPattern: downloads) &+ updatedAt.checkNumber }

  static func checkNumber(of view: borrowing EntityView<Pod>) -> UInt64 {
    UInt64(bitPattern: view.downloads) &+ view.updatedAt.checkNumber
  }
}
