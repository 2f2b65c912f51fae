import EntityStore
import Foundation
import Testing

@testable import LodestoreDatasets

/// Sealed files of a dataset of specs: in generation N, a tenth of the records have version N.
struct SpecGenerations {
  static let name = "specs"

  let folder: ScratchFolder
  var count = 500

  init(_ folder: ScratchFolder, count: Int = 500) {
    self.folder = folder
    self.count = count
  }

  /// The version of a record in a generation.
  static func version(of index: Int, in generation: Int) -> Int {
    let round = generation - index % 10
    return round <= 0 ? 0 : round - (round - 1) % 10 + index % 10
  }

  static func specs(of generation: Int, count: Int) -> [Spec] {
    (0..<count).map { index in
      // The summary compresses like prose, and differs in each record.
      let number = UInt64(index &* 2_654_435_761 &+ 97)
      let words = (0..<12).map { String((number >> UInt64($0)) &* 0x9E37_79B9 % 9_973, radix: 36) }
      return Spec(
        name: "Spec \(index)", version: version(of: index, in: generation),
        summary: words.joined(separator: " "))
    }
  }

  /// The date up to which the data of a generation is current.
  static func date(of generation: Int) -> Date {
    Date(timeIntervalSince1970: 1_790_000_000 + Double(generation) * 86_400)
  }

  /// Makes the sealed file of a generation; returns its path.
  @discardableResult
  func seal(
    _ generation: Int, as number: Int? = nil, name: String = name, file: String? = nil
  ) throws -> String {
    let number = number ?? generation
    let path = folder.file(file ?? "\(number).lodestore")
    let store = try Store.inMemory(entities: [Spec.self])
    let specs = Self.specs(of: generation, count: count)
    try store.write { tx in try tx.insert(specs) }
    _ = try store.seal(
      to: path, name: name, generation: UInt64(number), dataAsOf: Self.date(of: number),
      sealedAt: Self.date(of: number).addingTimeInterval(60))
    store.close()
    return path
  }

  /// Checks that a store has all of a generation and nothing else.
  static func check(
    _ store: Store, is generation: Int, count: Int = 500,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try store.fetch(Spec.all.sorted(by: \.id)).map {
      [$0.name, "\($0.version)", $0.summary]
    }
    let expected = specs(of: generation, count: count).map {
      [$0.name, "\($0.version)", $0.summary]
    }
    #expect(found == expected, sourceLocation: sourceLocation)
  }
}
