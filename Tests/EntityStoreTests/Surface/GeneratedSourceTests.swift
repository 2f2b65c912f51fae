import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

#if os(Linux)
  /// The source that `kvdump generate` writes is compiled, and opens the store without a change.
  @Suite(.enabled(if: CompilerCheck.shared?.hasMacros == true, "the compiler is not found"))
  struct `Generated source` {
    private func kvdump(
      _ arguments: [String], status: KVDumpCommands.ExitStatus = .success
    ) async -> (data: String, messages: String) {
      let (data, messages) = (MemorySink(), MemorySink())
      let found = await KVDump.execute(arguments, on: Console(output: data, errors: messages))
      #expect(found == status, "\(arguments): \(messages.text)")
      return (data.text, messages.text)
    }

    /// The schema in the form of `import --schema`, without numbers, which the order of
    /// declarations gives.
    private func schema(_ store: String) async -> [String] {
      await kvdump(["schema", store, "--format", "jsonl"]).data
        .replacing(/"number":\d+,/, with: "").split(separator: "\n").map(String.init).sorted()
    }

    private func commit(_ store: String) async -> String? {
      await kvdump(["info", store, "--format", "json"]).data
        .firstMatch(of: /"lastTransaction":(\d+)/).map { String($0.1) }
    }

    /// Compiles the generated source of a store; opens the store with it, and makes another one.
    private func expectRoundTrip(
      of store: String, in folder: URL, _ build: ProgramBuild, notes: [String]
    ) async throws {
      let generated = await kvdump(["generate", store])
      #expect(generated.messages.split(separator: "\n").map(String.init) == notes)
      let types = try #require(generated.data.firstMatch(of: /entities: \[(.*)\]\)/)?.1)
      let reads = types.split(separator: ", ").map {
        "    print(try store.fetch(\($0.dropLast(".self".count)).all).count)"
      }.joined(separator: "\n")
      let program = folder.appending(path: "generated.swift")
      let main = """

        @main enum Program {
          static func main() throws {
            let store = try Store(at: CommandLine.arguments[1], entities: [\(types)])
        \(reads)
            store.close()
            try Store(at: CommandLine.arguments[2], entities: [\(types)]).close()
          }
        }
        """
      try (generated.data + main).write(to: program, atomically: true, encoding: .utf8)
      let tool = try build.build(program)
      let before = await commit(store)
      let other = folder.appending(path: "other.lodestore").path
      let (status, output) = try CompilerCheck.run([tool.path, store, other])
      #expect(status == 0, "\(output)")
      let counts = await kvdump(["info", store, "--format", "json"]).data
        .matches(of: /"records":(\d+)/).map { String($0.1) }
      #expect(output.split(separator: "\n").map(String.init) == counts)
      #expect(before != nil)
      #expect(await commit(store) == before, "the store was changed by opening")
      if notes.allSatisfy({ !$0.contains("left out") && !$0.contains("by the file only") }) {
        #expect(await schema(store) == schema(other))
        #expect(await kvdump(["schema", store, "--diff", other]).data.isEmpty)
        #expect(await kvdump(["schema", other, "--diff", store]).data.isEmpty)
        #expect(await kvdump(["generate", other]).data.lines == generated.data.lines)
      }
      try FileManager.default.removeItem(atPath: other)
    }

    @Test func `a program opens the store of another program`() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "lodestore-generated-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let build = try ProgramBuild(try #require(CompilerCheck.shared), in: folder)
      for (number, model) in GeneratedModel.all.enumerated() {
        let source = folder.appending(path: "model\(number).swift")
        try model.source.write(to: source, atomically: true, encoding: .utf8)
        let store = folder.appending(path: "\(number).lodestore").path
        let (status, output) = try CompilerCheck.run([try build.build(source).path, store])
        #expect(status == 0, "\(output)")
        try await expectRoundTrip(of: store, in: folder, build, notes: model.notes)
      }
      // A store without a program.
      let file = folder.appending(path: "quakes.json").path
      try Data(
        #"[{"id":"a","class":1,"price €":1.5,"self":true,"nested":{"x":[1]},"when":"2024-01-05"},{"id":"b","class":null,"price €":2,"self":false,"nested":{},"when":"2024-01-06"}]"#
          .utf8
      ).write(to: URL(filePath: file))
      let store = folder.appending(path: "quakes.lodestore").path
      _ = await kvdump([
        "import", store, file, "--entity", "quake", "--infer", "--unique", "id", "--index", "class",
      ])
      try await expectRoundTrip(
        of: store, in: folder, build,
        notes: [
          "quake.id is the property 'identifier'",
          #"quake.price_euro is imported from the member "price €" by the file only"#,
          "quake.self is the property 'self_'",
          "quake is the struct 'Quake'",
        ])
    }
  }

  extension String {
    /// The lines below the first one, which has the name of the file.
    fileprivate var lines: [Substring] {
      Array(split(separator: "\n", omittingEmptySubsequences: false).dropFirst())
    }
  }
#endif
