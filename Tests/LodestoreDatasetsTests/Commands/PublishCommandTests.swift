#if Datasets
  import EntityStore
  import Foundation
  import KVDumpCommands
  import Testing

  @testable import KVDumpDatasetCommands
  @testable import LodestoreDatasets

  /// The commands of publishers, on real stores.
  struct PublishCommandTests {
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

    /// A store that is no sealed file.
    private func makeStore(in folder: ScratchFolder, generation: Int) throws -> String {
      let path = folder.file("specs-\(generation).lodestore")
      let store = try Store(at: path, entities: [Spec.self])
      defer { store.close() }
      let specs = SpecGenerations.specs(of: generation, count: 2_000)
      try store.write { tx in try tx.insert(specs) }
      return path
    }

    @Test func `A store is published, verified, and published again`() async throws {
      let folder = try ScratchFolder()
      let (key, site) = (folder.file("key.pem"), folder.file("site"))
      #expect(await run("signing-keys", "new", key).status == .success)
      let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      let store = try makeStore(in: folder, generation: 1)
      let unnamed = await run("publish", store, site, "--key", key, "--format", "json")
      #expect(unnamed.errors.contains("\"code\":\"malformed\""), "\(unnamed.errors)")
      let first = await run(
        "publish", store, site, "--key", key, "--name", "specs", "--as-of", "2026-11-01")
      #expect(first.status == .success, "\(first.errors)")
      #expect(first.errors.contains("programs carry: 1:"))
      #expect(first.output.contains("\"generation\":1"))
      #expect(first.output.contains("\"dataAsOf\":\"2026-11-01T00:00:00Z\""))
      let changed = try makeStore(in: folder, generation: 2)
      let second = await run("publish", changed, site, "--key", key)
      #expect(second.output.contains("\"generation\":2"), "\(second.errors)")
      #expect(second.output.contains("\"from\":1"), "\(second.output)")
      let check = await run("verify", site)
      #expect(check.status == .success, "\(check.errors)")
      #expect(check.errors.contains("specs generation 2"))
      let shown = await run("signing-keys", "show", site)
      let carried = try #require(shown.errors.firstMatch(of: /programs carry: (1:[^\s]+)/)).1
      let trusted = await run("verify", "\(site)/manifest.json", "--trust", String(carried))
      #expect(trusted.status == .success, "\(trusted.errors)")
      #expect(try TrustedKeys(String(carried)).keys == [KeyFile.read(key).publicKey])
    }

    @Test func `A sealed file is published unchanged, once`() async throws {
      let folder = try ScratchFolder()
      let (key, site) = (folder.file("key.pem"), folder.file("site"))
      _ = await run("signing-keys", "new", key)
      let sealed = try SpecGenerations(folder).seal(7)
      let first = await run("publish", sealed, site, "--key", key, "--mirror", "https://a.example/")
      #expect(first.output.contains("\"generation\":7"), "\(first.errors)")
      #expect(first.output.contains("https://a.example/"))
      let again = await run("publish", sealed, site, "--key", key)
      #expect(again.status == .usage)
      #expect(again.errors.contains("from 8"))
      let renamed = await run("publish", sealed, site, "--key", key, "--name", "other")
      #expect(renamed.status == .usage)
    }

    @Test
    func `Verification names the damaged file, and the program exits with status 1`()
      async throws
    {
      let folder = try ScratchFolder()
      let (key, site) = (folder.file("key.pem"), folder.file("site"))
      _ = await run("signing-keys", "new", key)
      _ = await run("publish", try SpecGenerations(folder).seal(1), site, "--key", key)
      let name = try #require(
        FileManager.default.contentsOfDirectory(atPath: "\(site)/g").first { $0.hasSuffix(".zst") })
      var bytes = try folder.read("site/g/\(name)")
      bytes[bytes.count / 2] ^= 1
      try folder.write(bytes, to: "site/g/\(name)")
      let check = await run("verify", site)
      #expect(check.status == .negative)
      #expect(check.output.contains("g/\(name)"))
      #expect(check.output.contains("SHA-256"))
      let stranger = await run("verify", site, "--trust", "1:\(try SigningKey())")
      #expect(stranger.status == .damagedData)
      #expect(await run("verify", folder.file("nowhere")).status == .noInput)
    }

    @Test func `Damaged and unsealed files are not published`() async throws {
      let folder = try ScratchFolder()
      let (key, site) = (folder.file("key.pem"), folder.file("site"))
      _ = await run("signing-keys", "new", key)
      let sealed = try SpecGenerations(folder).seal(1)
      var bytes = try ScratchFolder.bytes(of: sealed)
      bytes[bytes.count / 2] ^= 1
      let damaged = try folder.write(bytes, to: "damaged.lodestore")
      let outcome = await run("publish", damaged, site, "--key", key)
      #expect(outcome.status == .damagedData, "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: "\(site)/manifest.json"))
      #expect(await run("publish", folder.file("nowhere"), site, "--key", key).status == .noInput)
      #expect(await run("publish", sealed, site, "--key", sealed).status == .usage)
    }

    @Test func `kvdump states how to get the program that it does not find`() throws {
      guard let kvdump = builtProgram("kvdump") else { return }
      let folder = try ScratchFolder()
      try FileManager.default.copyItem(atPath: kvdump, toPath: folder.file("kvdump"))
      let lost = try OutsideProgram.run(
        folder.file("kvdump"), ["publish", "a", "b"], environment: ["PATH": folder.path])
      #expect(lost.status == 66, "\(lost.output)")
      #expect(lost.output.contains("--product kvdump-datasets"))
      guard builtProgram("kvdump-datasets") != nil else { return }
      let found = try OutsideProgram.run(kvdump, ["signing-keys", "new", folder.file("key.pem")])
      #expect(found.status == 0, "\(found.output)")
      #expect(FileManager.default.fileExists(atPath: folder.file("key.pem")))
    }
  }
#endif
