#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Writers that race for one replica.
  ///
  /// `LODESTORE_RACES` is the number of rounds.
  @Suite("Races of writers", .timeLimit(.minutes(60)))
  struct RaceTests {
    private static let rounds =
      ProcessInfo.processInfo.environment["LODESTORE_RACES"].flatMap { Int($0) } ?? 6
    private static let writerCount = 8

    /// The end of a writer in a round.
    private enum End: Sendable {
      /// The storage has the note of this number.
      case replicated(Int)
      /// Another writer was first, and the note may be in the storage.
      case refused(ReplicaError.Code)
      case failed(String)
    }

    @Test func `Of eight copies of one store one writes, and the others are refused`()
      async throws
    {
      let fixture = try ReplicaFixture()
      var store = try fixture.store()
      let first = try await fixture.writer(store)
      try await first.stop()
      var place = 0
      for round in 1...Self.rounds {
        for number in 0..<Self.writerCount {
          _ = try await store.backup(to: fixture.path("\(round)-\(number).lodestore"))
        }
        let former = store.path
        store.close()
        for name in [former, former + "-lock"] { unlink(name) }
        let ends = await race { number in
          let path = fixture.path("\(round)-\(number).lodestore")
          return await Self.write(round * 100 + number, at: path, fixture)
        }
        let winners = ends.indices.filter {
          if case .replicated = ends[$0] { true } else { false }
        }
        #expect(winners.count == 1, "round \(round): \(ends)")
        try expectRefusals(ends, [.fenced, .diverged, .behind, .damaged], round)
        let winner = try #require(winners.first)
        store = try fixture.store("\(round)-\(winner).lodestore")
        place = try await expectOneChain(fixture, after: place, round)
        #expect(try await fixture.restored() == ReplicaFixture.notes(of: store), "round \(round)")
        for number in 0..<Self.writerCount where number != winner {
          let path = fixture.path("\(round)-\(number).lodestore")
          for name in [path, path + "-lock"] { unlink(name) }
        }
        if round % 10 == 0 { try await shorten(fixture, store) }
      }
      try ReplicaFixture.end(store)
    }

    @Test func `Of eight takeovers each replicated write stays in the one chain`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let first = try await fixture.writer(store)
      try await first.stop()
      var replicated: Set<Int> = []
      var place = 0
      for round in 1...Self.rounds {
        let ends = await race { number in
          let path = fixture.path("\(round)-\(number).lodestore")
          var options = ReplicaRestoreOptions()
          options.ignoresLease = true
          do {
            _ = try await Replica.takeOver(fixture.bucket, at: path, options: options)
          } catch let error as ReplicaError {
            return .refused(error.code)
          } catch { return .failed("\(error)") }
          return await Self.write(round * 100 + number, at: path, fixture)
        }
        for case .replicated(let number) in ends { replicated.insert(number) }
        try expectRefusals(ends, [.fenced, .notKept], round)
        place = try await expectOneChain(fixture, after: place, round)
        let notes = Set(try await fixture.restored().map(\.number))
        #expect(
          replicated.isSubset(of: notes), "round \(round) lost \(replicated.subtracting(notes))")
        for number in 0..<Self.writerCount {
          let path = fixture.path("\(round)-\(number).lodestore")
          for name in [path, path + "-lock"] { unlink(name) }
        }
        // The last writer of the round shortens the log for the next takeovers.
        let path = fixture.path("last.lodestore")
        if round % 10 == 0 {
          _ = try await Replica.takeOver(fixture.bucket, at: path)
          let last = try fixture.store("last.lodestore")
          try await shorten(fixture, last)
          try ReplicaFixture.end(last)
          for name in [path, path + "-lock"] { unlink(name) }
        }
      }
      #expect(replicated.count >= Self.rounds)
      try ReplicaFixture.end(store)
    }

    // MARK: One round

    private func race(
      _ body: @escaping @Sendable (Int) async -> End
    ) async -> [End] {
      await withTaskGroup(of: (Int, End).self) { group in
        for number in 0..<Self.writerCount {
          group.addTask { (number, await body(number)) }
        }
        var ends = [End](repeating: .failed("no end"), count: Self.writerCount)
        for await (number, end) in group { ends[number] = end }
        return ends
      }
    }

    /// Opens a writer, writes one note, and waits for the storage.
    private static func write(
      _ number: Int, at path: String, _ fixture: ReplicaFixture
    ) async -> End {
      do {
        let store = try Store(at: path, entities: [Note.self], options: Note.options)
        defer { store.close() }
        do {
          let writer = try await fixture.writer(store) {
            $0.durability = .replicated
            $0.probesStorage = false
          }
          try await writer.write { tx in
            _ = try tx.insert(Note(title: "note \(number)", number: number))
          }
          // The next writer may fence this one from here on.
          _ = try? await writer.stop()
          return .replicated(number)
        } catch let error as ReplicaError { return .refused(error.code) }
      } catch { return .failed("\(error)") }
    }

    private func expectRefusals(
      _ ends: [End], _ codes: Set<ReplicaError.Code>, _ round: Int
    ) throws {
      for end in ends {
        switch end {
        case .replicated: break
        case .refused(let code): #expect(codes.contains(code), "round \(round): \(code)")
        case .failed(let text): Issue.record("round \(round): \(text)")
        }
      }
    }

    /// Reads the log after a slot; returns its last slot.
    private func expectOneChain(
      _ fixture: ReplicaFixture, after slot: Int, _ round: Int
    ) async throws -> Int {
      let client = ReplicaClient(MeteredStorage(fixture.bucket.storage), failureLimit: 1)
      let names = try await client.entries(in: .log).compactMap(\.name.collectedSlot)
      let first = try #require(names.first)
      #expect(names == Array(first..<first + UInt64(names.count)), "round \(round)")
      var place: ChainPosition?
      for slot in names {
        let bytes = try #require(try await client.object(.entry(slot: slot)))
        let entry = try LogEntry(reading: bytes, slot: slot)
        guard var next = place else {
          place = ChainPosition(
            slot: slot, hash: entry.hash, epoch: entry.head.epoch, store: entry.head.store,
            lastWrite: entry.head.lastWrite)
          continue
        }
        try next.advance(over: entry)
        place = next
      }
      let end = Int(try #require(place).slot)
      #expect(end > slot, "round \(round)")
      return end
    }

    /// Writes a base, and deletes the log before it.
    private func shorten(_ fixture: ReplicaFixture, _ store: Store) async throws {
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try await writer.writeBase()
      try await writer.collect()
      try await writer.stop()
    }
  }
#endif
