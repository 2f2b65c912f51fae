import Testing

@testable import KVDumpCommands

@Suite("Explain")
struct ExplainTests {
  private func lines(
    _ folder: StoreFolder, _ entity: String, _ arguments: String...
  ) async -> [String] {
    let outcome = await folder.execute(
      "explain", [entity, "--format", "table", "--color", "never"] + arguments)
    #expect(outcome.status == .success, "\(outcome.messages)")
    return outcome.data.split(separator: "\n").map(String.init)
  }

  @Test func `explain shows people the steps and the expected reads`() async throws {
    let folder = try await QueriedStore.make()
    let scan = await lines(
      folder, "Pod", #"license == "MIT""#, "--sort", "-version", "--limit", "2", "--offset", "1")
    #expect(
      scan == [
        "scan       all records of Pod", #"check      on each record: license == "MIT""#,
        "order      sorted by -version, keeping the first 3", "limit      2 from 1",
        "estimated  0 entries and 5 records",
      ])
    try await QueriedStore.addItems(to: folder)
    let index = await lines(folder, "Item", "rank == 7", "--sort", "-rank,-_id")
    #expect(
      index == [
        "index      Item.rank at (7), about 20 entries",
        "check      nothing more: the entries say it all", "order      of the index, backwards",
        "estimated  20 entries and 20 records",
      ])
  }

  @Test func `explain measures the reads of a run`() async throws {
    let folder = try await QueriedStore.make()
    let scan = await lines(folder, "Pod", #"license == "MIT""#, "--analyze")
    #expect(
      scan.last?.hasPrefix("actual     0 entries and 5 records read, 2 results, ") == true)
    #expect(scan.last?.hasSuffix(" ms") == true)
    try await QueriedStore.addItems(to: folder)
    let index = await lines(folder, "Item", "k == 500", "--analyze")
    #expect(index.last?.hasPrefix("actual     1 entry and 1 record read, 1 result, ") == true)
    let count = await folder.run("explain", "Item", "rank == 7", "--count", "--analyze")
    #expect(count.data.contains(#""entriesRead":20,"recordsRead":0,"results":20,"#))
    let counted = await folder.run(
      "explain", "Pod", #"license == "MIT""#, "--count", "--analyze", "--sort", "name")
    #expect(counted.data.contains(#""recordsRead":5,"results":2,"#))
    #expect(!counted.data.contains("sorted"))
    await folder.expectFailure(
      "explain", ["Pod", "--count", "--limit", "1"], .usage,
      "kvdump: --count: counts all records; leave out --limit and --offset; "
        + "see 'kvdump explain --help'\n")
    #expect(await folder.isSound())
  }

  @Test func `explain writes one object in JSON and rows in CSV`() async throws {
    let folder = try await QueriedStore.make()
    #expect(
      await folder.run("explain", "Pod", #"license == "MIT""#, "--format", "json").data
        == #"{"entity":"Pod","index":null,"scan":true,"estimatedEntries":0,"estimatedRecords":5,"#
        + #""plan":[{"step":"scan","text":"all records of Pod"},"#
        + #"{"step":"check","text":"on each record: license == \"MIT\""},"#
        + #"{"step":"order","text":"by _id"}]}"# + "\n")
    let analyzed = await folder.run(
      "explain", "Pod", #"license == "MIT""#, "--analyze", "--format", "json")
    #expect(
      counts(analyzed.data).hasPrefix(
        #"{"entity":"Pod","index":null,"scan":true,"estimatedEntries":0,"estimatedRecords":5,"#
          + #""entriesRead":0,"recordsRead":5,"results":2,"plan":["#))
    #expect(
      await folder.run("explain", "Pod", "FALSEPREDICATE", "--format", "csv").data
        .hasPrefix("step,text\r\nread,nothing: the condition is never true\r\n"))
  }

  @Test func `explain shows the plan of the query with equal arguments`() async throws {
    let folder = try await QueriedStore.make()
    let screen = await folder.run("explain", "Pod", "--color", "never", width: 80)
    #expect(screen.data.contains("limit      20\n"))
    #expect(await folder.run("explain", "Pod").data.contains("limit") == false)
    await folder.expectFailure(
      "explain", ["Pod", "stars == 20 AND license == 1", "--require-index", "--sort", "nmae"],
      .usage,
      """
      kvdump: STORE: Pod has no attribute "nmae"; did you mean "name"? see 'kvdump schema STORE Pod'

      """)
  }
}
