#if Datasets
  import EntityStore
  import Foundation
  import KVDumpCommands
  import Testing

  @testable import KVDumpDatasetCommands
  @testable import LodestoreReplicas

  /// The commands of replicas, on real stores and folders.
  @Suite("Commands of replicas")
  struct ReplicaCommandTests {
    private struct Outcome {
      let status: KVDumpCommands.ExitStatus
      let output: String
      let errors: String
    }

    private func run(_ arguments: String...) async -> Outcome {
      let (output, errors) = (MemorySink(), MemorySink())
      let console = Console(output: output, errors: errors)
      let status = await KVDumpDatasets.execute(arguments, on: console)
      return Outcome(status: status, output: output.text, errors: errors.text)
    }

    @Test func `A store is replicated, followed, restored and taken over`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...6, to: store)
      let notes = try ReplicaFixture.notes(of: store)
      store.close()
      let (path, bucket) = (fixture.path("store.lodestore"), fixture.bucketPath)
      let plan = await run("replicate", path, bucket, "--dry-run", "--format", "json")
      #expect(plan.output.contains("\"action\":\"create\""), "\(plan.errors)")
      #expect(!FileManager.default.fileExists(atPath: bucket + "/replica.json"))
      let sent = await run("replicate", path, bucket, "--once", "--format", "json")
      #expect(sent.status == .success, "\(sent.errors)")
      #expect(sent.output.contains("\"lastWrite\":6"))
      let status = await run("replica", "status", bucket, "--format", "json")
      #expect(status.output.contains("\"lastWrite\":6"), "\(status.errors)")
      let bases = await run("replica", "status", bucket, "--bases", "--format", "jsonl")
      #expect(bases.output.split(separator: "\n").count == 1)
      let copy = fixture.path("copy")
      let followed = await run("follow", bucket, copy, "--once", "--id", "test")
      #expect(followed.status == .success, "\(followed.errors)")
      let followers = await run("replica", "status", bucket, "--followers", "--format", "jsonl")
      #expect(followers.output.contains("\"id\":\"test\""), "\(followers.errors)")
      let target = fixture.path("restored.lodestore")
      let dry = await run("restore", bucket, target, "--dry-run")
      #expect(dry.status == .success && !FileManager.default.fileExists(atPath: target))
      let restored = await run("restore", bucket, target)
      #expect(restored.status == .success, "\(restored.errors)")
      let opened = try Store(at: target, entities: [Note.self], options: .readOnly)
      #expect(try ReplicaFixture.notes(of: opened) == notes)
      let missing = await run("restore", bucket, fixture.path("no"), "--to-write", "99")
      #expect(missing.status == .damagedData && missing.errors.contains("write 99"))
      let taken = await run(
        "replica", "takeover", bucket, fixture.path("new.lodestore"), "--format", "json")
      #expect(taken.output.contains("\"epoch\":2"), "\(taken.errors)")
      let old = try fixture.store()
      try ReplicaFixture.write(7...8, to: old)
      old.close()
      let fenced = await run("replicate", path, bucket, "--once", "--format", "json")
      #expect(fenced.errors.contains("\"code\":\"fenced\""), "\(fenced.errors)")
      let foreseen = await run("replicate", path, bucket, "--dry-run", "--format", "json")
      #expect(foreseen.errors.contains("\"code\":\"fenced\""), "\(foreseen.errors)")
      let export = await run("replica", "export-diverged", path, fixture.path("lost.jsonl"))
      #expect(export.status == .success, "\(export.errors)")
      let lost = try String(contentsOfFile: fixture.path("lost.jsonl"), encoding: .utf8)
      #expect(lost.split(separator: "\n").count == 2)
    }

    @Test func `A command follows the records that fulfil a condition`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...6, to: store)
      let notes = try ReplicaFixture.notes(of: store)
      store.close()
      let (bucket, copy) = (fixture.bucketPath, fixture.path("copy"))
      let sent = await run("replicate", store.path, bucket, "--once")
      #expect(sent.status == .success, "\(sent.errors)")
      func follow(_ condition: String) async throws -> (notes: [Note], errors: String) {
        let outcome = await run("follow", bucket, copy, "--once", "--where", condition)
        #expect(outcome.status == .success, "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: copy)
        let file = try #require(names.first { $0.hasSuffix(".lodestore") })
        let opened = try Store(at: "\(copy)/\(file)", entities: [Note.self], options: .readOnly)
        defer { opened.close() }
        return (try ReplicaFixture.notes(of: opened), outcome.errors)
      }
      let first = try await follow("Note=number > 3")
      #expect(first.notes == notes.filter { $0.number > 3 })
      #expect(first.errors.contains("not compared") && first.errors.contains("Note"))
      let second = try await follow("Note=number == 2")
      #expect(second.notes == notes.filter { $0.number == 2 })
      #expect(second.errors.contains("Note by 'number > 3'"))
      let wrong = await run("follow", bucket, copy, "--once", "--where", "number > 3")
      #expect(wrong.status != .success && wrong.errors.contains("ENTITY=CONDITION"))
    }
  }
#endif
