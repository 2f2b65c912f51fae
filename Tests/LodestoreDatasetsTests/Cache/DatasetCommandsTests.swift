import LodestoreBytes

#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Testing

  @testable import KVDumpCommands
  @testable import KVDumpDatasetCommands
  @testable import LodestoreDatasets

  /// `kvdump refresh` and `kvdump datasets`.
  struct DatasetCommandsTests {
    private final class Sink: ByteSink {
      var text = ""

      func write(_ bytes: ByteView) throws {
        text += String(decoding: bytes, as: UTF8.self)
      }

      func finish() throws {}
    }

    private func output(_ command: some ToolCommand) async throws -> (
      KVDumpCommands.ExitStatus, String
    ) {
      let sink = Sink()
      let console = Console(output: sink, errors: Sink())
      let status = try await command.run(on: console)
      try console.output.flush()
      return (status, sink.text)
    }

    @Test func `A dataset is refreshed, and listed with its age, its origin and its failure`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      let url = try server.url("/").absoluteString
      let words = [
        folder.file("cache/specs"), "--from", url, "--keys", published.keys.description,
      ]
      let refresh = try RefreshCommand.parse(words)
      let (status, text) = try await output(refresh)
      #expect(status == .success && text.contains("replaced") && text.contains(url))
      server.stop()
      let failed = try RefreshCommand.parse(words + ["--now"])
      let error = await #expect(throws: DatasetError.self) { try await output(failed) }
      #expect(failed.failure(for: try #require(error)).status == .tryAgain)
      for path in [folder.file("cache"), folder.file("cache/specs/")] {
        let list = try DatasetsCommand.parse([path])
        let (status, text) = try await output(list)
        #expect(status == .success)
        #expect(text.contains("specs") && text.contains("2026-09-22") && text.contains(url))
        #expect(text.contains("cannot fetch"), "\(text)")
      }
      let around = try RefreshCommand.parse(
        [folder.file("cache"), "--from", url] + words.suffix(2))
      let wrong = await #expect(throws: CommandFailure.self) { try await output(around) }
      #expect(wrong?.message.contains("cache/specs") == true)
      #expect(SystemFile.names(in: folder.file("cache")) == ["specs"])
      let none = try DatasetsCommand.parse([folder.path])
      let (ending, _) = try await output(none)
      #expect(ending == .negative)
    }

    @Test func `Commands read the newest generation of a dataset, and do not change it`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let cache = folder.file("cache/specs")
      for number in 1...2 {
        try published.publish(number, in: folder)
        _ = try await output(
          try RefreshCommand.parse([
            cache, "--from", published.path, "--keys", published.keys.description, "--now",
          ]))
      }
      let store = try specDataset(folder, .none).currentStore
      try SpecGenerations.check(store, is: 2)
      for path in [cache, cache + "/"] {
        let (found, wanted) = (MemorySink(), MemorySink())
        let statuses: [KVDumpCommands.ExitStatus] = [
          await KVDump.execute(["schema", path], on: Console(output: found, errors: Sink())),
          await KVDump.execute(
            ["schema", "\(cache)/generations/2.lodestore"],
            on: Console(output: wanted, errors: Sink())),
        ]
        #expect(statuses == [.success, .success] && found.text == wanted.text)
      }
      let errors = MemorySink()
      let status = await KVDump.execute(
        ["evict", cache], on: Console(output: MemorySink(), errors: errors))
      #expect(status == .usage && errors.text.contains("cached dataset"), "\(errors.text)")
    }

    @Test func `A carried file is installed with its manifest, and others are refused`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      try published.publish(2, in: folder)
      let file = folder.file("sealed-2")
      let words = [
        folder.file("cache/specs"), "--file", file, "--keys", published.keys.description,
      ]
      let unsigned = try RefreshCommand.parse(words)
      let missing = await #expect(throws: DatasetError.self) { try await output(unsigned) }
      #expect(missing?.code == .untrusted)
      try folder.write(folder.read("published/manifest.json"), to: "manifest.json")
      let (status, text) = try await output(try RefreshCommand.parse(words))
      #expect(status == .success && text.contains("replaced") && text.contains(file))
      try SpecGenerations.check(specDataset(folder, .none).currentStore, is: 2)
      // The manifest belongs to another file, and the generation is not higher than the installed
      // one.
      let other = try RefreshCommand.parse([
        folder.file("cache/specs"), "--file", folder.file("sealed-1"), "--keys",
        published.keys.description,
      ])
      let wrong = await #expect(throws: DatasetError.self) { try await output(other) }
      #expect(wrong?.code == .damaged)
      let again = await #expect(throws: DatasetError.self) {
        try await output(try RefreshCommand.parse(words))
      }
      #expect(again?.code == .notNewer)
      #expect(throws: (any Error).self) {
        try RefreshCommand.parse(words + ["--from", "http://127.0.0.1/"])
      }
    }

    @Test func `A lower generation is accepted once the highest is forgotten`() async throws {
      let folder = try ScratchFolder()
      let wrong = try SpecPublication(folder, "wrong")
      try wrong.publish(5, in: folder)
      let published = try SpecPublication(folder)
      try published.publish(4, in: folder)
      func words(_ from: SpecPublication) -> [String] {
        [
          folder.file("cache/specs"), "--from", from.path, "--keys", from.keys.description,
          "--now",
        ]
      }
      _ = try await output(try RefreshCommand.parse(words(wrong)))
      let refused = await #expect(throws: DatasetError.self) {
        try await output(try RefreshCommand.parse(words(published)))
      }
      #expect(refused?.code == .rolledBack)
      let (status, text) = try await output(
        try RefreshCommand.parse(words(published) + ["--forget-highest"]))
      #expect(status == .success && text.contains("replaced") && text.contains("4"))
      let dataset = try specDataset(folder, .none)
      try SpecGenerations.check(dataset.currentStore, is: 4)
      // The number is forgotten once: a lower one is a rollback again.
      let older = try SpecPublication(folder, "older")
      try older.publish(3, in: folder)
      let again = await #expect(throws: DatasetError.self) {
        try await output(try RefreshCommand.parse(words(older)))
      }
      #expect(again?.code == .rolledBack)
    }
  }
#endif
