import EntityStore
import Foundation
import LodestoreFormat
import Testing

@testable import LodestoreDatasets

/// Reads of local generations, seeds, and files that are installed by hand.
struct CachedDatasetTests {
  private func dataset(
    _ folder: ScratchFolder, seed: String? = nil, origin: DatasetOrigin = .none,
    options: CachedDataset.Options = .init()
  ) throws -> CachedDataset {
    try CachedDataset(
      SpecGenerations.name, in: folder.file("cache"), entities: [Spec.self], seed: seed,
      origin: origin, options: options)
  }

  @Test func `A dataset without a seed has no store, and its error names the next step`() throws {
    let dataset = try dataset(ScratchFolder())
    let error = try #require(throws: DatasetError.self) { _ = try dataset.currentStore }
    #expect(error.code == .nothingHere && error.message.contains("bundle a seed"))
    #expect(try dataset.status.generation == nil)
  }

  @Test func `A seed is read in place, with its age, and nothing is written`() throws {
    let folder = try ScratchFolder()
    let seed = try SpecGenerations(folder).seal(3)
    let dataset = try dataset(folder, seed: seed)
    let generation = try dataset.current()
    try SpecGenerations.check(generation.store, is: 3)
    #expect(generation.number == 3 && generation.source == .seed)
    #expect(generation.age.dataAsOf == SpecGenerations.date(of: 3))
    #expect(generation.age.lastChecked == nil)
    let now = SpecGenerations.date(of: 3).addingTimeInterval(2 * 86_400 + 5)
    #expect(
      generation.age.words(at: now)
        == "data as of 2026-09-24 (2 days ago), built 2026-09-24, never checked")
    #expect(SystemFile.stamp(of: dataset.content.folder.state) == nil)
  }

  @Test func `A file is installed by hand, and old generations stay for their readers`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder, seed: files.seal(3))
    let old = try dataset.currentStore
    let new = try await dataset.install(fileAt: files.seal(4))
    #expect(new.number == 4 && new.source == .file)
    try SpecGenerations.check(dataset.currentStore, is: 4)
    try SpecGenerations.check(old, is: 3)
    #expect(try dataset.currentStore === new.store)
  }

  @Test func `Files of a lower generation or another dataset, or unsealed, are not installed`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder, seed: files.seal(3))
    try await dataset.install(fileAt: files.seal(5))
    let plain = folder.file("plain.lodestore")
    try Store(at: plain, entities: [Spec.self]).close()
    try Data("text".utf8).write(to: URL(fileURLWithPath: folder.file("text")))
    let cases: [(String, DatasetError.Code)] = [
      (try files.seal(4), .notNewer), (try files.seal(5, file: "again"), .notNewer),
      (try files.seal(6, name: "others", file: "others"), .otherDataset),
      (plain, .notSealed), (folder.file("text"), .unusableStore),
      (folder.file("nothing"), .notFound),
    ]
    for (file, code) in cases {
      let error = await #expect(throws: DatasetError.self) {
        try await dataset.install(fileAt: file)
      }
      #expect(error?.code == code, "\(file): \(error?.message ?? "")")
      #expect(try dataset.current().number == 5)
    }
  }

  @Test func `A refused file leaves no copy, and no download is harmed`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder)
    let download = try folder.write([1, 2, 3], to: "part")
    try FileManager.default.createDirectory(
      atPath: dataset.content.folder.incoming, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: download, toPath: dataset.content.folder.part(9))
    let file = try files.seal(5)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await dataset.install(fileAt: file)
    }
    await #expect(throws: (any Error).self) { try await task.value }
    try await dataset.install(fileAt: files.seal(6))
    #expect(SystemFile.names(in: dataset.content.folder.incoming) == ["9.lodestore"])
  }

  @Test
  func `A newer seed precedes an older download, and a newer download an older seed`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let first = try dataset(folder, seed: files.seal(3))
    try await first.install(fileAt: files.seal(5))
    let updated = try dataset(folder, seed: files.seal(7))
    #expect(try updated.current().number == 7 && updated.current().source == .seed)
    try SpecGenerations.check(updated.currentStore, is: 7)
    let older = try dataset(folder, seed: folder.file("3.lodestore"))
    #expect(try older.current().number == 5 && older.current().source == .file)
    try await updated.install(fileAt: files.seal(8))
    #expect(try updated.current().number == 8 && older.current().number == 8)
  }

  @Test func `An unusable seed is reported, and a download is served`()
    async throws
  {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    try folder.write([UInt8](repeating: 7, count: 40_000), to: "broken")
    let dataset = try dataset(folder, seed: folder.file("broken"))
    let error = try #require(throws: DatasetError.self) { _ = try dataset.currentStore }
    #expect(error.code == .unusableStore && error.side == .file)
    try await dataset.install(fileAt: files.seal(4))
    #expect(try dataset.current().number == 4)
  }

  @Test func `Another process's generation is noticed at the next use`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let one = try dataset(folder, seed: files.seal(3))
    let other = try dataset(folder, seed: folder.file("3.lodestore"))
    #expect(try other.current().number == 3)
    try await one.install(fileAt: files.seal(4))
    #expect(try other.current().number == 4)
  }

  @Test func `Old generations are removed once no reader uses them`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let dataset = try dataset(folder)
    let other = try self.dataset(folder)
    try await dataset.install(fileAt: files.seal(3))
    var reader: Store? = try other.currentStore
    try await dataset.install(fileAt: files.seal(4))
    try await dataset.install(fileAt: files.seal(5))
    #expect(dataset.content.folder.numbers == [3, 5])
    try SpecGenerations.check(try #require(reader), is: 3)
    reader = nil
    #expect(try other.current().number == 5)
    try await dataset.install(fileAt: files.seal(6))
    #expect(dataset.content.folder.numbers.contains(6))
    #expect(!dataset.content.folder.numbers.contains(3))
  }

  @Test func `A damaged state is reported, and rebuilt from the sealed files`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    try await dataset(folder).install(fileAt: files.seal(3))
    let path = folder.file("cache/specs/dataset.json")
    let whole = try ScratchFolder.bytes(of: path)
    for place in stride(from: 0, to: whole.count, by: 7) {
      var damaged = whole
      damaged[place] ^= 0x21
      for bytes in [damaged, Array(whole[..<place])] {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let dataset = try dataset(folder)
        #expect(try dataset.current().number == 3)
        #expect(try dataset.status.rebuiltAt != nil && dataset.status.highestSeen == 3)
      }
    }
    try await dataset(folder).install(fileAt: files.seal(4))
    let state = try CacheState.read(DatasetFolder(path: folder.file("cache/specs")))
    #expect(state?.trust.highestSeen(from: nil) == 4)
  }

  @Test func `A folder of another dataset or of a later library is refused`() async throws {
    let folder = try ScratchFolder()
    let files = SpecGenerations(folder)
    let path = folder.file("cache/specs/dataset.json")
    var state = CacheState(name: "others")
    _ = try dataset(folder)
    try Data(state.bytes).write(to: URL(fileURLWithPath: path))
    let error = try #require(throws: DatasetError.self) { try dataset(folder).current() }
    #expect(error.code == .unsuitableFolder && error.message.contains("'others'"))
    state.name = "specs"
    let line = String(decoding: state.bytes.split(separator: 0x0A)[0], as: UTF8.self)
      .replacingOccurrences(of: "\"version\":1", with: "\"version\":2")
    let text = "\(line)\n\(HexText.encoded(SHA256.hash(Array(line.utf8))))\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let newer = try #require(throws: DatasetError.self) { try dataset(folder).current() }
    #expect(newer.message.contains("newer version"))
    // The seed is used although the newer generation cannot be read.
    let seeded = try dataset(folder, seed: files.seal(1)).current()
    #expect(seeded.number == 1 && seeded.unusable?.message.contains("newer version") == true)
  }

  @Test func `Stale data is served, unless the program refuses it`() throws {
    let folder = try ScratchFolder()
    let seed = try SpecGenerations(folder).seal(3)
    var options = CachedDataset.Options()
    options.clock = { SpecGenerations.date(of: 3).addingTimeInterval(400 * 86_400) }
    #expect(try dataset(folder, seed: seed, options: options).current().number == 3)
    let strict = try dataset(
      folder, seed: seed, options: options.refusesOlder(than: .seconds(30 * 86_400)))
    let error = try #require(throws: DatasetError.self) { try strict.current() }
    #expect(error.code == .tooOld && error.message.contains("400 days ago"), "\(error)")
  }
}
