#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Testing

  @testable import LodestoreDatasets

  /// Processes that are killed at each step of a refresh, and processes that run at the same time.
  ///
  /// `LODESTORE_KILLS` is the number of killed processes in all; by default one at each step.
  @Suite(.enabled(if: Session.program != nil), .timeLimit(.minutes(30)))
  struct KilledRefreshTests {
    private static let steps = RefreshStep.allCases.filter { ![.imported, .sealed].contains($0) }

    @Test(arguments: steps)
    func `A refresh that is killed leaves the old generation or the new one, whole`(
      _ step: RefreshStep
    ) async throws {
      let folder = try ScratchFolder()
      let count = [.frame, .patchPiece].contains(step) ? 8_000 : 500
      let first = try SpecPublication(folder, "first", count: count)
      try first.publish(1, in: folder)
      let second = try SpecPublication(folder, "second", count: count)
      try second.publish(1, in: folder)
      if step == .keysFollowed { try rotate(second, folder) }
      try second.publish(2, in: folder, key: step == .keysFollowed ? Self.secondKey() : nil)
      let (old, _) = try first.serving()
      let (new, _) = try second.serving { request, answer in
        // The server offers a patch only for the steps that need one.
        let isOfPatch = [.patchFetched, .patchPiece, .patchApplied].contains(step)
        return request.path.hasPrefix("/d/") && !isOfPatch ? Answer(404, []) : answer
      }
      defer {
        old.stop()
        new.stop()
      }
      let keys = first.keys.description
      for round in 1...Self.rounds {
        let cache = folder.file("cache-\(round)")
        func refresh(_ server: LoopbackServer, _ death: String...) throws -> Session.End {
          let url = try server.url("/").absoluteString
          return try Session(["refresh", cache, "specs", "-", url, keys] + death).end()
        }
        #expect(try refresh(old).last == "1 \(count)")
        let place = [.frame, .patchPiece].contains(step) ? 1 + round % 2 : 1
        let killed = try refresh(new, step.rawValue, "\(place)")
        #expect(killed.signal == SIGKILL, "\(step) was not made: \(killed.lines)")
        let dataset = try specDataset(folder, .none, cache: "cache-\(round)")
        let number = try dataset.current().number
        #expect(number == ([.swapped, .cleaned].contains(step) ? 2 : 1))
        try SpecGenerations.check(dataset.currentStore, is: Int(number), count: count)
        #expect(try refresh(new).last == "2 \(count)")
        try SpecGenerations.check(dataset.currentStore, is: 2, count: count)
        let left = SystemFile.names(in: dataset.content.folder.incoming)
        #expect(left.isEmpty, "\(left) are left over after \(step)")
      }
    }

    /// The number of kills at each step.
    private static let rounds: Int = {
      let kills = ProcessInfo.processInfo.environment["LODESTORE_KILLS"].flatMap { Int($0) }
      return max((kills ?? 0) / steps.count, 1)
    }()

    private static func secondKey() throws -> SigningKey {
      try SigningKey(seed: [UInt8](repeating: 3, count: 32))
    }

    private func rotate(_ published: SpecPublication, _ folder: ScratchFolder) throws {
      let set = KeySet(
        name: SpecGenerations.name, number: 2, createdAt: Date(),
        keys: [try Self.secondKey().publicKey])
      try folder.write(try set.signed(by: [published.key]), to: "second/keys/2.json")
    }

    @Test func `A killed installation leaves the old generation or the new one`() throws {
      let folder = try ScratchFolder()
      let files = SpecGenerations(folder)
      for step in [RefreshStep.moved, .checked, .cleaned] {
        let cache = folder.file("cache-\(step)")
        let (one, two) = (
          try files.seal(1, file: "1-\(step)"), try files.seal(2, file: "2-\(step)")
        )
        #expect(try Session.run("install", cache, "specs", one).last == "1 500")
        let killed = try Session.run("install", cache, "specs", two, step.rawValue, "1")
        #expect(killed.signal == SIGKILL)
        let dataset = try specDataset(folder, .none, cache: "cache-\(step)")
        #expect(try dataset.current().number == (step == .cleaned ? 2 : 1))
        if step != .cleaned {
          #expect(try Session.run("install", cache, "specs", two).last == "2 500")
        }
      }
    }

    @Test func `A file that another process reads stays until that process ends`() async throws {
      let folder = try ScratchFolder()
      let files = SpecGenerations(folder)
      let dataset = try specDataset(folder, .none)
      try await dataset.install(fileAt: files.seal(1))
      let reader = try Session(["hold", folder.file("cache"), "specs"])
      #expect(reader.firstLine() == "1")
      try await dataset.install(fileAt: files.seal(2))
      try await dataset.install(fileAt: files.seal(3))
      #expect(dataset.content.folder.numbers.contains(1))
      #expect(try reader.end().last == "1 500")
      try await dataset.install(fileAt: files.seal(4))
      #expect(!dataset.content.folder.numbers.contains(1))
    }

    @Test func `Processes that refresh at once fetch the generation once`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 2_000)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let words = [
        "refresh", folder.file("cache"), "specs", "-", try server.url("/").absoluteString,
        published.keys.description,
      ]
      let sessions = try (0..<4).map { _ in try Session(words) }
      for session in sessions { #expect(try session.end().last == "1 2000") }
      #expect(server.targets.filter { $0.hasSuffix(".zst") }.count == 1)
    }

    @Test func `Opening and reading a downloaded dataset makes no socket`() throws {
      let folder = try ScratchFolder()
      let seed = try SpecGenerations(folder).seal(1)
      let traced = try Session.run("open", folder.file("cache"), "specs", seed)
      #expect(traced.last == "1 500")
      guard
        ["/usr/bin/strace", "/bin/strace"].contains(where: FileManager.default.isExecutableFile)
      else {
        print("skipped: no strace, which tells whether a process makes sockets")
        return
      }
      let log = folder.file("calls")
      let end = try Session.run(
        "open", folder.file("cache"), "specs", seed,
        through: ["strace", "-f", "-e", "trace=network", "-o", log])
      #expect(end.last == "1 500")
      let calls = try String(contentsOfFile: log, encoding: .utf8)
        .split(separator: "\n").filter { $0.contains("(") && !$0.contains("socketpair(") }
      #expect(calls.isEmpty, "\(calls.prefix(3))")
    }
  }
#endif
