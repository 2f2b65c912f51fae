import Foundation
import LMDB
import Testing

@testable import EntityStore

@Suite struct `A copy without a seal` {
  @Test func `an unsealed copy of a sealed file is a writable store, with unchanged ids`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await CorpusMaker.make(folder.storePath)
    try check(folder)
  }

  /// Copies a sealed file of the store in `folder`, and writes to the copy.
  private func check(_ folder: borrowing TemporaryFolder) throws {
    let original = try Store(at: folder.storePath, entities: SealedFileTests.everything)
    let sealed = folder.path + "/sealed.lodestore"
    let seal = try SealedFileTests.seal(original, to: sealed)
    let opened = try Store(at: sealed, entities: SealedFileTests.everything)
    let copy = folder.path + "/copy.lodestore"
    try opened.copyUnsealed(to: copy)
    #expect(throws: StoreError.self) { try opened.copyUnsealed(to: copy) }
    try expectSound(copy)
    // The copy is a file of LMDB 0.9.
    var options = StoreOptions()
    options.convertsOtherEngine = true
    let store = try Store(at: copy, entities: SealedFileTests.everything, options: options)
    #expect(store.seal == nil)
    #expect(try store.fetch(CorpusSpecimen.all) == original.fetch(CorpusSpecimen.all))
    #expect(try store.fetch(CorpusTrip.all) == original.fetch(CorpusTrip.all))
    #expect(try store.read { try $0.data(for: "bytes", in: "settings") } == Data([1, 2, 3]))
    // Sealing the copy again gives the identical file.
    let again = folder.path + "/again.lodestore"
    #expect(try SealedFileTests.seal(store, to: again) == seal)
    let files = [again, sealed].map { FileManager.default.contents(atPath: $0) }
    #expect(files[0] != nil && files[0] == files[1])
    // A person inserted into the copy gets a higher id than all copied persons.
    let highest = try store.fetch(PersonV2.all).map(\.id.rawValue).max() ?? 0
    let person = try store.insert(PersonV2(city: nil, age: 1, name: "Zoe", email: nil))
    #expect(person.id.rawValue > highest)
    // Deleting a band also deletes its copied songs and unlinks its players. The check of the copy
    // below verifies the remaining links.
    let band = try #require(try store.fetch(CorpusBand.all).first)
    try store.delete(band.id)
    for store in [store, opened, original] { store.close() }
    try expectSound(copy)
    try expectSound(sealed)
  }
}
