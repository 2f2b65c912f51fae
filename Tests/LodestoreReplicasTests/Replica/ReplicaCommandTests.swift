#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import KVDumpCommands
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

    private func run(_ arguments: String...) async -> Outcome { await run(arguments) }

    private func run(_ arguments: [String]) async -> Outcome {
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
      #expect(missing.status == .noInput && missing.errors.contains("write 99"))
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

    @Test func `A store without a history begins one and is replicated`() async throws {
      let fixture = try ReplicaFixture()
      let (path, bucket) = (fixture.path("store.lodestore"), fixture.bucketPath)
      let plain = try Store(at: path, entities: [Note.self])
      try ReplicaFixture.write(1...6, to: plain)
      let notes = try ReplicaFixture.notes(of: plain)
      plain.close()
      let refused = await run("replicate", path, bucket, "--once")
      #expect(refused.status == .usage)
      #expect(refused.errors.contains("Note keeps no history"), "\(refused.errors)")
      #expect(refused.errors.contains("--record-history"))
      let both = await run("replicate", path, bucket, "--record-history", "--dry-run")
      #expect(both.status == .usage)
      let sent = await run("replicate", path, bucket, "--once", "--record-history")
      #expect(sent.status == .success, "\(sent.errors)")
      #expect(sent.errors.contains("the history begins now"))
      let again = await run("replicate", path, bucket, "--once", "--record-history")
      #expect(again.status == .success && again.errors.isEmpty, "\(again.errors)")
      #expect(try await fixture.restored() == notes)
      // The setting is in the file, so a program without the option records its writes.
      let store = try Store(at: path, entities: [Note.self])
      try ReplicaFixture.write(7...9, to: store)
      #expect(await run("replicate", path, bucket, "--once").status == .success)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A failure that lasts is noted once, and its end too`() async throws {
      let (output, errors) = (MemorySink(), MemorySink())
      let console = Console(output: output, errors: errors)
      let failure = ReplicaError(.storage, "cannot read 'log'")
      try await showingProgress(on: console) { report in
        // One failure alone is not noted.
        report.look(at: failure)
        report.look(at: nil)
        for _ in 1...5 { report.look(at: failure) }
        for _ in 1...5 { report.look(at: nil) }
      }
      #expect(
        errors.text == """
          kvdump: cannot read 'log'. The command repeats the call by itself.
          kvdump: the storage works again

          """)
    }

    @Test func `A dry run says what the command then does, and changes nothing`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...6, to: store)
      let (path, bucket, copy) = (
        fixture.path("store.lodestore"), fixture.bucketPath, fixture.path("copy")
      )
      _ = await run("replicate", path, bucket, "--once")
      let first = await run("follow", bucket, copy, "--dry-run", "--format", "json")
      #expect(first.output.contains("\"action\":\"download\""), "\(first.errors)")
      _ = await run("follow", bucket, copy, "--once")
      try ReplicaFixture.write(7...9, to: store)
      let send = await run("replicate", path, bucket, "--dry-run", "--format", "json")
      #expect(send.output.contains("\"action\":\"send\""), "\(send.errors)")
      #expect(send.output.contains("\"entries\":1"))
      _ = await run("replicate", path, bucket, "--once")
      let apply = await run("follow", bucket, copy, "--dry-run", "--format", "json")
      #expect(apply.output.contains("\"action\":\"apply\""), "\(apply.errors)")
      #expect(apply.output.contains("\"lastWrite\":9"))
      let target = fixture.path("restored.lodestore")
      for arguments in [[], ["--to-write", "7"]] {
        let words = ["restore", bucket, target + "\(arguments.count)"] + arguments
        let dry = await run(words + ["--dry-run", "--format", "json"])
        let real = await run(words + ["--format", "json"])
        #expect(dry.status == .success && real.status == .success, "\(real.errors)")
        #expect(real.output.hasSuffix(dry.output.dropFirst()), "\(dry.output)")
      }
      let exists = await run("restore", bucket, target + "0", "--dry-run")
      #expect(exists.status == .cannotCreate)
      let taken = await run("replica", "takeover", bucket, copy, "--dry-run", "--format", "json")
      #expect(taken.output.contains("\"action\":\"apply\""), "\(taken.errors)")
      let standby = await run("replica", "standby", bucket, copy, "--dry-run", "--format", "json")
      #expect(standby.output.contains("\"leaseHolder\":null"), "\(standby.errors)")
    }

    @Test func `Commands read the copy in the folder of a follower, and do not change it`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...6, to: store)
      let (bucket, copy) = (fixture.bucketPath, fixture.path("copy"))
      _ = await run("replicate", store.path, bucket, "--once")
      _ = await run("follow", bucket, copy, "--once")
      func kvdump(_ arguments: String...) async -> Outcome {
        let (output, errors) = (MemorySink(), MemorySink())
        let status = await KVDump.execute(
          arguments, on: Console(output: output, errors: errors))
        return Outcome(status: status, output: output.text, errors: errors.text)
      }
      for folder in [copy, copy + "/"] {
        let count = await kvdump("count", folder, "Note", "--format", "json")
        #expect(count.status == .success && count.output.contains("5"), "\(count.errors)")
      }
      for command in ["info", "stat", "verify", "schema", "history"] {
        let outcome = await kvdump(command, copy)
        #expect(outcome.status == .success, "\(command): \(outcome.errors)")
      }
      let same = await kvdump("diff", store.path, copy)
      #expect(same.status == .success && same.output.isEmpty, "\(same.errors)")
      for arguments in [["delete", copy, "Note", "--yes"], ["evict", copy]] {
        let outcome = await KVDump.execute(
          arguments, on: Console(output: MemorySink(), errors: MemorySink()))
        #expect(outcome == .usage, "\(arguments)")
      }
      let followed = await run("follow", bucket, copy, "--once")
      #expect(followed.status == .success, "\(followed.errors)")
    }

    @Test func `A standby prints the store, and metrics are in a file`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...6, to: store)
      let (bucket, copy) = (fixture.bucketPath, fixture.path("copy"))
      let metrics = fixture.path("metrics.prom")
      _ = await run(
        "replicate", fixture.path("store.lodestore"), bucket, "--once", "--metrics", metrics)
      let sent = try String(contentsOfFile: metrics, encoding: .utf8)
      #expect(sent.contains("lodestore_replica_writer_lag_seconds 0\n"))
      let standby = await run(
        "replica", "standby", bucket, copy, "--assumed-lease", "0.3", "--format", "json",
        "--metrics", metrics)
      #expect(standby.status == .success, "\(standby.errors)")
      #expect(standby.output.contains("\"epoch\":2"))
      let again = await run("replica", "standby", bucket, copy, "--format", "json")
      #expect(again.status == .success && again.output.contains(copy), "\(again.errors)")
      let lease = await run("replica", "takeover", bucket, fixture.path("new"), "--wait")
      #expect(lease.status == .success, "\(lease.errors)")
      let taken = try String(contentsOfFile: metrics, encoding: .utf8)
      #expect(taken.contains("lodestore_replica_follower_slot"))
    }

    @Test func `Failures have the statuses of sysexits`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let bucket = fixture.bucketPath
      let none = await run("follow", fixture.path("none"), fixture.path("copy"), "--once")
      #expect(none.status == .noInput, "\(none.errors)")
      let empty = await run("replica", "status", bucket, "--format", "json")
      #expect(empty.status == .noInput && empty.errors.contains("no-base"), "\(empty.errors)")
      let metrics = await run(
        "replicate", fixture.path("store.lodestore"), bucket, "--once", "--metrics",
        fixture.path("none/metrics"))
      #expect(metrics.status == .cannotCreate, "\(metrics.errors)")
      _ = await run("replicate", fixture.path("store.lodestore"), bucket, "--once")
      let lease = Lease(
        holder: "elsewhere", epoch: 1, until: Date().timeIntervalSinceReferenceDate + 60,
        milliseconds: 60_000)
      try Data(lease.bytes).write(to: URL(fileURLWithPath: bucket + "/lease.json"))
      let busy = await run("replica", "takeover", bucket, fixture.path("new"))
      #expect(busy.status == .tryAgain && busy.errors.contains("elsewhere"), "\(busy.errors)")
      let both = await run(
        "replica", "takeover", bucket, fixture.path("new"), "--wait", "--ignore-lease")
      #expect(both.status == .usage)
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
      for text in ["number > 3", "number == 3", "number==3"] {
        let wrong = await run("follow", bucket, copy, "--once", "--where", text)
        #expect(wrong.status == .usage && wrong.errors.contains("ENTITY=CONDITION"), "\(text)")
      }
      let unknown = await run("follow", bucket, fixture.path("no"), "--once", "--entity", "Notes")
      #expect(unknown.status == .usage && unknown.errors.contains("no entity 'Notes'"))
    }
  }
#endif
