import Testing

@testable import KVDumpCommands

@Suite struct `Similar records` {
  /// Records 1 to 5, of which the vectors are at 0°, 90°, 45° and 180°; the last has none.
  private func folder() async throws -> StoreFolder {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "s.json",
      #"""
      {"entity":"Note","attributes":[{"name":"k","type":"int64"},
        {"name":"v","type":"data","optional":true}],
      "vectorIndexes":[{"attribute":"v","dimensions":2}]}
      """#)
    let page = try folder.file(
      "p.json",
      #"""
      [{"k":1,"v":"AACAPwAAAAA="},{"k":2,"v":"AAAAAAAAgD8="},{"k":3,"v":"AAAAQAAAAEA="},
      {"k":4,"v":"AACAvwAAAAA="},{"k":5,"v":null}]
      """#)
    let outcome = await folder.importing([
      page, "--entity", "Note", "--insert-only", "--schema", schema,
    ])
    #expect(outcome.status == .success, "\(outcome.messages)")
    return folder
  }

  @Test(
    arguments: [
      ([], [(3, 0.293), (2, 1), (4, 2)]),
      (["--by", "euclidean"], [(2, 1.414), (4, 2), (3, 2.236)]),
      (["--by", "dot", "--limit", "2"], [(3, -2), (2, 0)]),
      (["k > 2"], [(3, 0.293), (4, 2)]),
      (["--sort", "-k"], [(4, 2), (3, 0.293), (2, 1)]),
    ] as [([String], [(Int, Double)])])
  func `come in the order of their distances`(
    arguments: [String], expected: [(Int, Double)]
  ) async throws {
    let folder = try await folder()
    let outcome = await folder.execute(
      "query",
      ["Note"] + arguments + ["--similar", "1", "--fields", "_id", "--format", "csv"])
    #expect(outcome.status == .success, "\(outcome.messages)")
    let rows = outcome.data.split(whereSeparator: \.isNewline)
    #expect(rows.first == "_id,_distance")
    let found = rows.dropFirst().map { row in row.split(separator: ",").compactMap { Double($0) } }
    #expect(found.map { $0.first } == expected.map { Double($0.0) }, "\(rows)")
    for (row, (_, distance)) in zip(found, expected) {
      #expect(abs((row.last ?? .nan) - distance) < 0.001, "\(rows)")
    }
    #expect(await folder.isSound())
  }

  @Test func `are the same after salvage`() async throws {
    let folder = try await folder()
    let arguments = ["Note", "--similar", "1", "--format", "csv"]
    let before = await folder.execute("query", arguments)
    let other = try StoreFolder()
    #expect(await folder.run("salvage", other.store).status == .success)
    #expect(await other.execute("query", arguments).data == before.data)
    #expect(await other.isSound())
  }

  @Test func `are refused without a vector, an index or the record`() async throws {
    let folder = try await folder()
    for id in ["5", "6"] {
      let outcome = await folder.execute("query", ["Note", "--similar", id])
      #expect(outcome.status != .success)
      #expect(outcome.messages.contains("Note \(id) is not there, or has no vector"))
    }
    for options in [["--similar", "1", "--near", "1,2"], ["--by", "dot"]] {
      #expect(await folder.execute("query", ["Note"] + options).status == .usage)
    }
    let other = try await QueriedStore.make()
    let outcome = await other.execute("query", ["Pod", "--similar", "1"])
    #expect(outcome.messages.contains("Pod has none"))
    #expect(await folder.isSound())
  }
}
