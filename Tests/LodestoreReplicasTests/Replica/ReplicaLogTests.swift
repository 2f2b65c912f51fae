#if Datasets
  import EntityStore
  import Foundation
  import KVDumpCommands
  import LodestoreFormat
  import Testing

  @testable import KVDumpDatasetCommands
  @testable import LodestoreReplicas

  /// The list of the writes of a replica.
  @Suite("The log of a replica")
  struct ReplicaLogTests {
    private func writes(
      _ fixture: ReplicaFixture, _ change: (inout ReplicaLogOptions) -> Void = { _ in }
    ) async throws -> [ReplicaWrite] {
      var options = ReplicaLogOptions()
      change(&options)
      var writes: [ReplicaWrite] = []
      for try await write in Replica.writes(of: fixture.bucket, options: options) {
        writes.append(write)
      }
      return writes
    }

    /// Makes one write whose bucket has an entry of its own after the records.
    private static func writeParts(_ count: Int, to store: Store) throws {
      var random = SystemRandomNumberGenerator()
      try store.write { tx in
        for number in 1...count {
          let title = (0..<6).map { _ in String(random.next(), radix: 36) }.joined()
          try tx.insert(Note(title: title, number: number))
        }
        try tx.put("1", for: "last", in: "settings")
      }
    }

    private static func writeAtOnce(_ store: Store) throws {
      try store.write(author: "editor") { tx in
        for number in 10...12 { try tx.insert(Note(title: "n\(number)", number: number)) }
        if var last = try tx.fetch(Note.where { $0.number == 6 }).first {
          last.title = "changed"
          try tx.update(last)
        }
        try tx.delete(Note.where { $0.number < 4 })
      }
    }

    private func changes(_ write: ReplicaWrite) -> [String] {
      write.changes.map {
        "\($0.entity) +\($0.insertedCount) ~\($0.updatedCount) -\($0.deletedCount)"
      }
    }

    @Test func `Each write has its number, its time, its author and its counts`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...4, to: store)
      let writer = try await fixture.writer(store) { $0.name = "machine 1" }
      // The base has the state before the next write.
      try await writer.flush()
      // Number 5 also deletes a note, 6 also updates one, and the last write does all at once.
      try ReplicaFixture.write(5...6, to: store)
      try await writer.flush()
      try Self.writeAtOnce(store)
      try await writer.stop()
      let found = try await writes(fixture)
      #expect(found.map(\.number) == [7, 6, 5, 4])
      #expect(
        found.map(changes) == [
          ["Note +3 ~1 -2"], ["Note +1 ~1 -0"], ["Note +1 ~0 -1"], [],
        ])
      #expect(found.map(\.author) == ["editor", nil, nil, nil])
      #expect(found.map(\.isBase) == [false, false, false, true])
      #expect(found.allSatisfy { $0.writer == "machine 1" && $0.epoch == 1 })
      let history = try await store.read { try $0.history(.all) }
      let times = Dictionary(uniqueKeysWithValues: history.map { ($0.id, $0.time) })
      #expect(found.dropLast().allSatisfy { times[$0.number] == $0.time })
      // The state before each listed write can be restored.
      for write in found {
        #expect(try await fixture.restoredState(.write(write.number)).write == write.number)
      }
    }

    @Test func `A limit and times choose the newest writes between them`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.flush()
      for number in 1...20 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
      }
      try await writer.stop()
      let all = try await writes(fixture)
      #expect(all.filter { !$0.isBase }.map(\.number) == (1...20).reversed())
      let times = all.map(\.time)
      #expect(try await writes(fixture) { $0.limit = 3 }.map(\.number) == [20, 19, 18])
      let part = try await writes(fixture) { options in
        options.until = times[5]
        options.since = times[8]
      }
      #expect(part.map(\.number) == [15, 14, 13, 12])
      #expect(
        try await writes(fixture) { $0.until = times[20] - 1 }.isEmpty)
      #expect(try await writes(fixture) { $0.since = times[0] + 1 }.isEmpty)
    }

    @Test func `Writes in parts are counted once, and takeovers go on`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.flush()
      try Self.writeParts(40_000, to: store)
      try await writer.stop()
      let slots = try #require(await Replica.summary(of: fixture.bucket).slots)
      #expect(slots == 1...3, "the write has one entry")
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("second"))
      let second = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      let successor = try await fixture.writer(second)
      try ReplicaFixture.write(501...502, to: second)
      try await successor.stop()
      let found = try await writes(fixture)
      #expect(
        found.map(changes) == [["Note +1 ~0 -0"], ["Note +1 ~1 -0"], ["Note +40000 ~0 -0"], []])
      #expect(found.map(\.epoch) == [2, 2, 1, 1])
    }

    @Test func `A damaged entry and a gap end the list with an error`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.flush()
      for number in 1...5 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
      }
      try await writer.stop()
      let path = "\(fixture.bucketPath)/\(ReplicaName.entry(slot: 3).text)"
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      var damaged = bytes
      damaged[damaged.count - 1] ^= 1
      for content in [damaged, nil] {
        try FileManager.default.removeItem(atPath: path)
        try content?.write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: ReplicaError.self) { try await writes(fixture) }
        #expect(error?.code == .damaged && error?.slot == 3)
        // The writes after the entry are listed.
        #expect(try await writes(fixture) { $0.limit = 1 }.count == 1)
        if content == nil { try bytes.write(to: URL(fileURLWithPath: path)) }
      }
      // Steps of a search do not find entries after a gap.
      let second = "\(fixture.bucketPath)/\(ReplicaName.entry(slot: 2).text)"
      let entry = try Data(contentsOf: URL(fileURLWithPath: second))
      try FileManager.default.removeItem(atPath: second)
      let error = await #expect(throws: ReplicaError.self) { try await writes(fixture) }
      #expect(error?.code == .damaged && error?.slot == 2)
      try entry.write(to: URL(fileURLWithPath: second))
      #expect(try await writes(fixture).count == 6)
    }

    @Test func `The command shows the writes as text and as JSON`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      try ReplicaFixture.write(4...6, to: store)
      try await writer.stop()
      func run(_ arguments: String...) async -> (status: KVDumpCommands.ExitStatus, text: String) {
        let (output, errors) = (MemorySink(), MemorySink())
        let words = ["replica", "log", fixture.bucketPath] + arguments
        let status = await KVDumpDatasets.execute(
          words, on: Console(output: output, errors: errors))
        return (status, output.text + errors.text)
      }
      let json = await run("--format", "jsonl", "--limit", "1")
      #expect(json.status == .success)
      #expect(json.text.contains("\"write\":6,\"firstWrite\":null,"), "\(json.text)")
      #expect(
        json.text.contains(
          "\"changes\":[{\"entity\":\"Note\",\"inserted\":1,\"updated\":1,\"deleted\":0,"
            + "\"whole\":false}]"), "\(json.text)")
      #expect(json.text.contains("there are older writes"))
      let text = await run("--format", "csv")
      #expect(text.text.contains("Note: 1 inserted, 1 deleted"), "\(text.text)")
      #expect(text.text.contains(",base,") && !text.text.contains("older"))
      #expect(await run("--since", "2100-01-01").status == .negative)
      #expect(await run("--since", "tomorrow").status == .usage)
    }
  }
#endif
