import EntityStore
import Foundation
import Testing

@testable import LodestoreDatasets

/// If the current generation cannot be used, an older one is read.
///
/// These tests cover which one, and when the current one is tried again.
@Suite(.timeLimit(.minutes(30))) struct CacheChoiceTests {
  /// The entity of another version of the program, which files of ``Spec`` do not fit.
  private struct OtherSpec: Entity {
    var id = RecordID<OtherSpec>()
    var name: Int

    struct Attributes: Sendable {
      var id: Attribute<OtherSpec, RecordID<OtherSpec>> { .recordID }
      var name: Attribute<OtherSpec, Int> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<OtherSpec>("Spec", attributes: [.init("name", \.name)])

    func encode(into writer: inout RecordWriter) { writer.write(name) }

    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

    init(name: Int) { self.name = name }
  }

  private func dataset(
    _ folder: ScratchFolder, _ entity: any Entity.Type = Spec.self, seed: String? = nil,
    origin: DatasetOrigin = .none, options: CachedDataset.Options = .init()
  ) throws -> CachedDataset {
    try CachedDataset(
      SpecGenerations.name, in: folder.file("cache"), entities: [entity], seed: seed,
      origin: origin, options: options)
  }

  /// Seals a generation of the other entity.
  private func sealOther(_ number: UInt64, _ folder: ScratchFolder) throws -> String {
    let store = try Store.inMemory(entities: [OtherSpec.self])
    try store.write { tx in try tx.insert([OtherSpec(name: 1)]) }
    let path = folder.file("other-\(number)")
    _ = try store.seal(
      to: path, name: SpecGenerations.name, generation: number, dataAsOf: Date())
    store.close()
    return path
  }

  @Test func `Each program reads the newest generation of its own schema`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let old = try dataset(folder, seed: files.seal(1))
    try await old.install(fileAt: files.seal(5))
    let new = try dataset(folder, OtherSpec.self)
    try await new.install(fileAt: sealOther(6, folder))
    try await new.install(fileAt: sealOther(7, folder))
    #expect(try new.current().number == 7)
    // The open program and programs that start later all use generation 5.
    for program in [old, try dataset(folder), try dataset(folder, seed: files.seal(2))] {
      let current = try program.current()
      #expect(current.number == 5 && current.unusable?.code == .incompatibleSchema)
      try SpecGenerations.check(current.store, is: 5)
    }
    #expect(new.content.folder.numbers == [5, 7])
    // After a change back to the older entity, files that no program needs are removed.
    try await old.install(fileAt: files.seal(8))
    #expect(try old.current().number == 8 && new.current().number == 7)
  }

  @Test func `An open generation precedes a lower seed if the current file is unusable`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let program = try dataset(folder, seed: files.seal(1))
    try await program.install(fileAt: files.seal(5))
    var state = CacheState(name: SpecGenerations.name)
    state.install(
      CacheState.Installed(
        generation: 6, source: .refresh, dataAsOf: Date(), builtAt: Date(), installedAt: Date(),
        digest: nil, schema: "", keys: ""))
    try folder.write(
      [UInt8](repeating: 7, count: 40_000), to: "cache/specs/generations/6.lodestore")
    try state.write(program.content.folder)
    let current = try program.current()
    #expect(current.number == 5 && current.unusable?.code == .unusableStore)
    #expect(try dataset(folder, seed: folder.file("1.lodestore")).current().number == 1)
  }

  @Test func `A seed may be a symbolic link, and a seed that comes later is found`() async throws {
    let folder = try ScratchFolder()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.file("3.lodestore"))
    let dataset = try dataset(folder, seed: link)
    let error = try #require(throws: DatasetError.self) { try dataset.current() }
    #expect(error.code == .notFound)
    try SpecGenerations(folder).seal(3)
    try await Task.sleep(for: .milliseconds(1_100))
    #expect(try dataset.current().number == 3)
  }

  @Test func `A path that is no file reports nothing about the bytes of a store`() throws {
    let folder = try ScratchFolder()
    let dataset = try dataset(folder, seed: folder.path)
    let error = try #require(throws: DatasetError.self) { try dataset.current() }
    #expect(error.code == .inputOutput && error.side == .program, "\(error)")
  }

  @Test func `A complete file stays when another cause prevents its opening`() throws {
    let folder = try ScratchFolder()
    let content = try dataset(folder).content
    // The path is a symbolic link to a sound file, and stores refuse links.
    let path = content.folder.generation(4)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: SpecGenerations(folder).seal(4))
    var state = CacheState(name: SpecGenerations.name)
    let error = try #require(throws: DatasetError.self) {
      _ = try Installer(content: content, onStep: { _ in }).install(
        path, as: 4, source: .refresh, digest: nil, keys: "", at: Date(), &state)
    }
    #expect(error.side == .program && error.code != .unusableStore, "\(error)")
    #expect(content.folder.numbers == [4] && state.current == nil)
  }

  @Test func `A long error of an importer is cut in the state`() async throws {
    struct LongError: Error, CustomStringConvertible {
      let description = String(repeating: "long \u{1F980} ", count: 200_000)
    }
    let folder = try ScratchFolder()
    let failing = try dataset(folder, origin: .service { _ in throw LongError() })
    await #expect(throws: DatasetError.self) { try await failing.refresh() }
    let later = try dataset(folder)
    let message = try #require(try later.status.lastFailure?.message)
    #expect(message.utf8.count < 5_000 && message.hasSuffix("…"))
  }

  @Test func `A folder or a huge file in the place of the state is a damaged state`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    try await dataset(folder).install(fileAt: files.seal(3))
    let path = folder.file("cache/specs/dataset.json")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(try dataset(folder).current().number == 3)
    try await dataset(folder).install(fileAt: files.seal(4))
    #expect(try dataset(folder).status.generation == 4)
    try folder.write([UInt8](repeating: 65, count: 2 << 20), to: "cache/specs/dataset.json")
    #expect(try dataset(folder).current().number == 4)
  }

  @Test func `A loop over generations throws when the data is older than the program allows`()
    async throws
  {
    let folder = try ScratchFolder()
    var options = CachedDataset.Options().refusesOlder(than: .seconds(86_400))
    options.clock = { SpecGenerations.date(of: 30) }
    let dataset = try dataset(folder, seed: SpecGenerations(folder).seal(3), options: options)
    let error = await #expect(throws: DatasetError.self) {
      for try await _ in dataset.generations { break }
    }
    #expect(error?.code == .tooOld)
    await #expect(throws: DatasetError.self) { for try await _ in dataset.stores { break } }
  }

  @Test func `A store that the program has closed is opened again at the next use`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder, seed: files.seal(3))
    try dataset.currentStore.close()
    try SpecGenerations.check(dataset.currentStore, is: 3)
    try await dataset.install(fileAt: files.seal(4))
    try dataset.currentStore.close()
    try SpecGenerations.check(dataset.currentStore, is: 4)
  }

  @Test func `A swap between the beginning of a loop and its first wait is an element`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder, seed: files.seal(3))
    let other = try self.dataset(folder)
    var generations = dataset.generations.makeAsyncIterator()
    #expect(try await generations.next()?.number == 3)
    try await other.install(fileAt: files.seal(4))
    #expect(try await generations.next()?.number == 4)
  }

  @Test func `A long name is refused with the bound of names`() throws {
    let error = try #require(throws: DatasetError.self) {
      try CachedDataset(String(repeating: "a", count: 65), in: "/nowhere", entities: [])
    }
    #expect(error.message.contains("1 to 64"))
  }
}
