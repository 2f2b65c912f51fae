#if Datasets
  import EntityStore
  import Foundation
  import LodestoreVerifier
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// A user's store attached to a cached dataset of sealed generations.
  @Suite struct `Marks in a cached dataset` {
    /// The number of generations that replace each other; `LODESTORE_SWAPS` makes them more.
    private static let swaps = environmentNumber("LODESTORE_SWAPS") ?? 30
    /// A reader keeps one generation in ten.
    private static let pinInterval = 10

    private static func environmentNumber(_ name: String) -> Int? {
      ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func `marks survive every swap, and every dangling reference is reported`() async throws {
      let folder = try ScratchFolder()
      let files = ReleaseGenerations(folder: folder)
      let dataset = try CachedDataset(
        "releases", in: folder.file("cache"), entities: [Release.self], seed: try files.seal(1))
      let path = folder.file("marks.lodestore")
      let store = try Store(at: path, entities: [Mark.self])
      try await store.insert(
        try (0..<ReleaseGenerations.count).map { number in
          Mark(release: try Reference(ReleaseGenerations.release(number)), text: "\(number)")
        })
      let attached = store.attach(dataset)
      let last = UInt64(Self.swaps)
      let readers = (0..<2).map { _ in
        Task {
          var reads = 0
          while !Task.isCancelled {
            do {
              try await attached.read { try Self.expectWhole($0) }
              reads += 1
            } catch is CancellationError {
              break
            }
          }
          return reads
        }
      }
      let follower = Task {
        for try await update in attached.updates(of: Mark.all, resolving: \.release) {
          let generations = Set(update.items.compactMap(\.target?.summary))
          #expect(generations.count == 1)
          if generations == ["\(last)"] { return }
        }
      }
      var pins: [(UInt64, PinnedAttachment)] = []
      for generation in 2...last {
        if generation % UInt64(Self.pinInterval) == 0 {
          pins.append((generation - 1, try attached.pinned()))
        }
        try await dataset.install(fileAt: try files.seal(generation))
        var reported: [String] = []
        for try await dangling in attached.danglingReferences() { reported.append(dangling.key) }
        let lacking = (0..<ReleaseGenerations.count)
          .filter { ReleaseGenerations.lacks($0, in: generation) }
          .map { "[\"\(ReleaseGenerations.release($0).name)\",\($0)]" }
        #expect(reported == lacking)
      }
      try await follower.value
      for reader in readers { reader.cancel() }
      for reader in readers { #expect(try await reader.value > 0) }
      for (generation, pin) in pins {
        try pin.read { snapshot in
          try Self.expectWhole(snapshot)
          let first = try snapshot.dataset.first(Release.all)
          #expect(first?.summary == "\(generation)")
        }
      }
      pins = []
      // The files of old generations are removed once nobody reads them.
      try await dataset.install(fileAt: try files.seal(last + 1))
      let current = try dataset.current().number
      #expect(current == last + 1)
      let left = try FileManager.default
        .contentsOfDirectory(atPath: folder.file("cache/releases/generations"))
      #expect(left.count <= 2, "\(left)")
      store.close()
      #expect(try Verifier.verify(path: path).isSound)
    }

    @Test func `marks are in conditions with sealed records, from both sides`() async throws {
      let folder = try ScratchFolder()
      let files = ReleaseGenerations(folder: folder)
      let sealed = try Store(at: try files.seal(3), entities: [Release.self])
      let store = try Store.inMemory(entities: [Mark.self])
      for number in 0..<20 {
        try await store.insert(Mark(release: try Reference(ReleaseGenerations.release(number))))
      }
      // A sealed file is a store like any other.
      try await store.attach(sealed).read { snapshot in
        let capitals = Release.where { $0.name == "Even" }
        let marked = try snapshot.fetch(Mark.all.leading(by: \.release, to: capitals))
        let odd = (0..<20).filter { $0 % 2 == 1 && !ReleaseGenerations.lacks($0, in: 3) }
        #expect(marked.count == odd.count)
        let unmarked = try snapshot.count(Release.all.notReferred(by: \.release, of: Mark.all))
        let others = (20..<ReleaseGenerations.count)
          .filter { !ReleaseGenerations.lacks($0, in: 3) }
        #expect(unmarked == others.count)
      }
    }

    @Test func `a dataset that is too old ends a loop with the error`() async throws {
      let folder = try ScratchFolder()
      let files = ReleaseGenerations(folder: folder)
      let limit = Duration.seconds(86_400)
      let isOld = Mutex(false)
      var options = CachedDataset.Options().refusesOlder(than: limit)
      options.clock = { Date().addingTimeInterval(isOld.withLock { $0 } ? 10 * 86_400 : 0) }
      let dataset = try CachedDataset(
        "releases", in: folder.file("cache"), entities: [Release.self], seed: try files.seal(1),
        origin: .service { _ in throw CancellationError() }, options: options)
      let store = try Store.inMemory(entities: [Mark.self])
      try await store.insert(Mark(release: try Reference(ReleaseGenerations.release(1))))
      let attached = store.attach(dataset)
      let error = await #expect(throws: DatasetError.self) {
        for try await update in attached.updates(of: Mark.all, resolving: \.release) {
          #expect(update.items.count == 1)
          isOld.withLock { $0 = true }
          // The refresh fails, which changes only the folder's state. No commit announces this.
          _ = try? await dataset.refresh(now: true)
        }
      }
      #expect(error?.code == .tooOld)
      store.close()
    }

    /// Expects all targets to be of one generation, and only references to releases that this
    /// generation lacks to dangle.
    private static func expectWhole(_ snapshot: borrowing AttachedSnapshot) throws {
      let marks = try snapshot.fetch(Mark.all, resolving: \.release)
      let summary = try #require(marks.compactMap(\.target?.summary).first)
      let generation = try #require(UInt64(summary))
      for mark in marks {
        let number = try #require(Int(mark.record.text))
        #expect(mark.isDangling == ReleaseGenerations.lacks(number, in: generation))
        if let target = mark.target { #expect(target.summary == summary) }
      }
    }
  }
#endif
