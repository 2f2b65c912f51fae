#if Datasets
  import EntityStore
  import Foundation
  import KVDumpCommands
  import LoopbackWeb
  import Testing

  @testable import KVDumpDatasetCommands
  @testable import LodestoreDatasets

  /// `kvdump refresh` and `kvdump datasets`.
  struct DatasetCommandsTests {
    private final class Sink: ByteSink {
      var text = ""

      func write(_ bytes: UnsafeRawBufferPointer) throws {
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
      let none = try DatasetsCommand.parse([folder.path])
      let (ending, _) = try await output(none)
      #expect(ending == .negative)
    }
  }
#endif
