import Foundation
import LMDB
import LodestorePages
import Testing

@testable import EntityStore

/// Sealed files of earlier versions, which every later version opens.
///
/// The files are never replaced.
@Suite("Sealed files of earlier versions")
struct KeptSealedFileTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Corpus/Files/sealed").path
  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".lodestore") }.sorted()

  @Test func `the sealed file of the first version with sealing exists`() {
    #expect(Self.files.contains("format-6.lodestore"))
  }

  @Test(arguments: files)
  func `an older sealed file is read in place, and no file appears next to it`(file: String) throws
  {
    let path = Self.folder + "/" + file
    let before = FileManager.default.contents(atPath: path)
    try expectSound(path)
    let seal = try Seal(ofFileAt: path)
    #expect(seal.name == "corpus")
    let store = try Store(
      at: path,
      entities: [PersonV2.self, CorpusSpecimen.self, CorpusTrip.self, CorpusNote.self]
        + CorpusMusic.entities)
    #expect(store.seal == seal)
    #expect(seal.recordCounts["Specimen"] == CorpusSpecimen.all.count)
    #expect(try store.fetch(CorpusSpecimen.all) == CorpusSpecimen.all)
    #expect(try store.fetch(CorpusTrip.all) == CorpusTrip.all)
    #expect(try store.fetch(PersonV2.all).map(\.name) == ["Ada", "Bob", "Eve"])
    #expect(try store.fetch(CorpusBand.all).map(\.sortName) == ["ete", "ost"])
    let bytes = try store.read { try $0.data(for: "bytes", in: "settings") }
    #expect(bytes == Data([1, 2, 3]))
    store.close()
    #expect(FileManager.default.contents(atPath: path) == before)
    #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
  }

  /// If a later sealer arranged pages differently, the same content would get another digest.
  @Test(arguments: files)
  func `an older sealed file is sealed again with identical bytes`(file: String) throws {
    let path = Self.folder + "/" + file
    let folder = try TemporaryFolder()
    let store = try Store(at: path, entities: [])
    defer { store.close() }
    let seal = try #require(store.seal)
    let again = folder.path + "/again.lodestore"
    try store.seal(
      to: again, name: seal.name, generation: seal.generation, dataAsOf: seal.dataAsOf,
      sealedAt: seal.sealedAt)
    #expect(
      FileManager.default.contents(atPath: again) == FileManager.default.contents(atPath: path))
  }
}
