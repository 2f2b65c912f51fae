import Foundation
import Testing

@testable import EntityStore

/// Makes the kept file of the format version that this source writes.
///
/// `LODESTORE_CORPUS=FOLDER swift test --filter CorpusMaker` writes it into FOLDER. A kept file is
/// never replaced: it is a file as that version wrote it.
@Suite struct CorpusMaker {
  private static let folder = ProcessInfo.processInfo.environment["LODESTORE_CORPUS"]

  @Test(.enabled(if: folder != nil))
  func `the maker of the corpus makes a file with every part of the format`() async throws {
    let destination = try #require(Self.folder) + "/made.lodestore"
    let folder = try TemporaryFolder()
    try await Self.make(folder.storePath)
    let store = try Store(at: folder.storePath, entities: [])
    try store.core.environment.copy(to: destination, compacting: true)
    // The sealed file of the corpus, for the folder `Files/sealed`.
    let date = Date(timeIntervalSinceReferenceDate: 815_616_000)
    let seal = try await store.seal(
      to: try #require(Self.folder) + "/sealed.lodestore", name: "corpus", generation: 6,
      dataAsOf: date, sealedAt: date)
    print(seal)
    store.close()
    try expectSound(destination)
    try? FileManager.default.removeItem(atPath: destination + "-lock")
  }

  /// Makes the kept file, also for tests that need such a file of the present version.
  static func make(_ path: String) async throws {
    let first = try Store(at: path, entities: [PersonV1.self])
    try await first.write { transaction in
      try transaction.insert(PersonV1(name: "Ada", email: "a@b.c", age: 36))
      try transaction.insert(PersonV1(name: "Bob", email: nil, age: 20))
    }
    first.close()
    let store = try Store(
      at: path,
      entities: [PersonV2.self, CorpusSpecimen.self, CorpusTrip.self, CorpusNote.self]
        + CorpusMusic.entities)
    try await store.write { transaction in
      try transaction.insert(PersonV2(city: "Köln", age: 7, level: 4, name: "Eve"))
      try transaction.insert(CorpusSpecimen.all.map(unassigned))
      try transaction.insert(CorpusTrip.all.map(unassigned))
      let last = try transaction.insert(CorpusTrip(title: "west", leader: .init(rawValue: 2)))
      try transaction.delete(last)
      try CorpusMusic.make(in: &transaction)
      try transaction.put(Data([1, 2, 3]), for: "bytes", in: "settings")
      try transaction.put(["size": 100], for: "pages", in: "settings")
    }
    try makeNotes(in: store)
    // One import run ends, and the other one is broken off.
    let names = ["Ada", "Bob", "Eve"]
    let pages = names.map { Data("[{\"int32\":-3,\"string\":\"plain\",\"name\":\"\($0)\"}]".utf8) }
    for isBroken in [false, true] {
      let importer = Importer(
        into: store, CorpusSpecimen.self, matching: .unique(\.int32), onConflict: .fillNulls)
      do {
        _ = try await importer.run(
          AsyncThrowingStream<Data, any Error> { continuation in
            for page in pages { continuation.yield(page) }
            continuation.finish(throwing: isBroken ? CancellationError() : nil)
          }, as: CorpusRow.self
        ) { _ in unassigned(CorpusSpecimen.all[0]) }
        #expect(!isBroken)
      } catch {
        #expect(isBroken, "\(error)")
      }
    }
    store.close()
  }

  private static func makeNotes(in store: Store) throws { try CorpusNote.make(in: store) }
}

/// The value without its id, which an insert requires.
private func unassigned<E: Entity>(_ value: E) -> E {
  var value = value
  value.id = .unassigned
  return value
}

private struct CorpusRow: Decodable, Sendable { var name: String }
