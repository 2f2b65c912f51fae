import EntityStore
import LodestoreFormat
import Testing

@testable import KVDumpCommands

@Suite("Plots") struct PlotTests {
  private func plot(
    _ folder: StoreFolder, _ kind: String, _ arguments: String..., width: Int? = nil,
    environment: [String: String] = [:]
  ) async -> StoreFolder.Outcome {
    let memory = MemoryConsole(width: width, environment: environment)
    let status = await KVDump.execute(["plot", kind, folder.store] + arguments, on: memory.console)
    return StoreFolder.Outcome(
      status: status, data: memory.data.text, messages: memory.messages.text)
  }

  @Test func `counts under a condition are numbers, bars and a picture`() async throws {
    let folder = try await QueriedStore.make()
    let numbers = await plot(folder, "counts", "Pod", "stars", "--where", "stars != NULL")
    #expect(
      numbers.data == """
        {"value":20,"records":2}
        {"value":30,"records":1}
        {"value":31,"records":1}

        """)
    let array = await plot(folder, "counts", "Pod", "stars", "--limit", "1", "--format", "json")
    #expect(array.data == "[\n{\"value\":20,\"records\":2}\n]\n")
    let bars = await plot(folder, "counts", "Pod", "stars", "--color", "never", width: 40)
    #expect(
      bars.data == """
        Pod: stars
          20 █████████████████████████████████ 2
        null ████████████████▌ 1
          30 ████████████████▌ 1
          31 ████████████████▌ 1
        4 distinct values in 5 records.

        """)
    let picture = folder.path + "/stars.svg"
    let report = await plot(folder, "counts", "Pod", "stars", "-o", picture)
    #expect(report.status == .success && report.data.hasPrefix(#"{"file":"#))
    let svg = String(decoding: try folder.bytes(picture), as: UTF8.self)
    #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
    #expect(svg.ranges(of: "<rect").count == 4)
    #expect(svg.contains("<style>svg { background") && svg.contains(">Pod: stars</text>"))
    let again = await plot(folder, "counts", "Pod", "stars", "-o", picture)
    #expect(again.status == .cannotCreate)
    #expect(await plot(folder, "counts", "Pod", "stars", "-o", folder.store).status == .usage)
    #expect(
      await plot(folder, "counts", "Pod", "stars", "-o", picture, "--force").status == .success)
  }

  @Test func `colour is for terminals without NO_COLOR`() async throws {
    let folder = try await QueriedStore.make()
    let plain = await plot(
      folder, "counts", "Pod", "stars", width: 60, environment: ["NO_COLOR": "1"])
    let colored = await plot(folder, "counts", "Pod", "stars", width: 60)
    #expect(!plain.data.contains("\u{1b}") && colored.data.contains("\u{1b}[36m█"))
    for width in [1, 8, 20, 79, 300] {
      let shown = await plot(folder, "counts", "Pod", "name", "--color", "never", width: width)
      #expect(shown.status == .success)
    }
  }

  @Test func `sizes, keys, values and history are read from a store`() async throws {
    let folder = try await QueriedStore.make()
    try await QueriedStore.addItems(to: folder)
    let sizes = await plot(folder, "sizes")
    #expect(sizes.data.contains(#"{"entity":"Item","tree":"records","entries":1000,"size":"#))
    #expect(await plot(folder, "sizes", "Pod").data.split(whereSeparator: \.isNewline).count == 3)
    let keys = await plot(folder, "keys", "Item", "rank", "--limit", "2")
    #expect(keys.data == "{\"value\":0,\"entries\":20}\n{\"value\":1,\"entries\":20}\n")
    let values = await plot(folder, "values", "Item", "--format", "csv")
    let counts = values.data.split(whereSeparator: \.isNewline).dropFirst().map {
      $0.split(separator: ",")[2]
    }
    #expect(counts.compactMap { Int($0) }.reduce(0, +) == 1_000)
    let history = await plot(folder, "history")
    #expect(history.status == .success && history.messages.contains("no entity keeps a history"))
    for kind in ["sizes", "history"] {
      #expect(await plot(folder, kind, width: 80).data.contains("\n"))
    }
    let missing = await plot(folder, "keys", "Item", "rnak")
    #expect(missing.status == .usage && missing.messages.contains("rank"))
  }

  @Test func `dates have the smallest unit that fits, with gaps`() async throws {
    let folder = try StoreFolder()
    let dates = ["2024-02-28T23:59:59Z", "2024-03-01T00:00:00Z", "2024-03-01T10:00:00Z"]
    let rows = dates.enumerated().map { #"{"k":\#($0),"at":"\#($1)"}"# }
    try await folder.load(
      rows.joined(separator: "\n"), "--entity", "E", "--unique", "k", "--index", "at", "--infer",
      "--type", "at=date", name: "rows.jsonl")
    let days = await plot(folder, "dates", "E")
    #expect(
      days.data == """
        {"from":"2024-02-28","records":1}
        {"from":"2024-02-29","records":0}
        {"from":"2024-03-01","records":2}

        """)
    try await folder.load(
      #"{"k":9,"at":"2026-01-31T00:00:00Z"}"#, "--entity", "E", name: "more.jsonl")
    let months = await plot(folder, "dates", "E", "--format", "csv")
    #expect(months.data.split(whereSeparator: \.isNewline).count == 1 + 24)
    #expect(months.data.contains("2024-12,0"))
  }

  @Test func `units of time agree with the calendar from year 1 to 9999`() throws {
    for text in [
      "0001-01-01T00:00:00Z", "0004-02-29T12:00:00Z", "1582-10-15T00:00:00Z",
      "1969-12-31T23:59:59Z", "2000-02-29T00:00:00Z", "2001-01-01T00:00:00Z",
      "2100-03-01T00:00:00Z", "9999-12-31T23:59:59Z",
    ] {
      guard case .date(let seconds)? = Value(text: text, as: .date) else {
        Issue.record("\(text) is no date")
        continue
      }
      for (unit, length) in [(DateUnit.day, 10), (.month, 7), (.years(1), 4)] {
        let part = try #require(unit.part(of: seconds))
        #expect(unit.text(of: part) == text.prefix(length))
      }
      #expect(DateUnit.years(100).part(of: seconds) == Int(text.prefix(2)))
    }
    #expect(DateUnit.dividing(-6.3e10, 2.5e11, most: 60) == .years(1_000))
    #expect(DateUnit.day.part(of: .nan) == nil && DateUnit.day.part(of: 1e300) == nil)
    #expect(DateUnit.dividing(-9e13, 9e13, most: 60) == .years(100_000))
  }

  @Test func `extreme numbers have a histogram, and other values a note`() async throws {
    let folder = try StoreFolder()
    let rows = [
      #"{"k":1,"d":1.7976931348623157e308,"i":9223372036854775807,"one":5}"#,
      #"{"k":2,"d":-1.7976931348623157e308,"i":-9223372036854775808,"one":5}"#,
      #"{"k":3,"d":0.5,"i":0,"one":5}"#, #"{"k":4,"d":null,"i":null,"one":5}"#,
    ]
    try await folder.load(
      rows.joined(separator: "\n"), "--entity", "E", "--unique", "k", "--infer",
      name: "rows.jsonl")
    for name in ["d", "i"] {
      let numbers = await plot(folder, "histogram", "E", name, "--format", "csv")
      let counts = numbers.data.split(whereSeparator: \.isNewline).dropFirst().compactMap {
        $0.split(separator: ",").last.flatMap { Int($0) }
      }
      #expect(counts.count == Histogram.partCount && counts.reduce(0, +) == 3)
      #expect(counts.first == 1 && counts[12] == 1 && counts.last == 1)
      #expect(numbers.messages.contains("1 record with no finite number or date left out"))
      #expect(await plot(folder, "histogram", "E", name, width: 80).status == .success)
    }
    let single = await plot(folder, "histogram", "E", "one", "--format", "csv")
    #expect(single.data == "from,to,records\r\n5.0,5.0,4\r\n")
    #expect(await plot(folder, "histogram", "E", "one", width: 80).status == .success)
    let empty = await plot(folder, "histogram", "E", "d", "--where", "k > 99")
    #expect(empty.status == .usage && empty.messages.contains("has no numbers or dates to plot"))
    #expect(
      await plot(folder, "counts", "E", "d", "--where", "k > 99", width: 80).status == .success)
  }

  @Test func `a label can neither control the terminal nor be markup`() async throws {
    let folder = try StoreFolder()
    let hostile = #"\u001b[2J</text><script>\u202e\u0000\"&\ufffe"#
    try await folder.load(
      #"[{"k":1,"name":"\#(hostile)"}]"#, "--entity", "E", "--unique", "k", "--infer")
    let shown = await plot(folder, "counts", "E", "name", "--color", "never", width: 200)
    #expect(!shown.data.unicodeScalars.contains { UnsafeScalar.matches($0) && $0 != "\n" })
    let picture = folder.path + "/a.svg"
    #expect(await plot(folder, "counts", "E", "name", "-o", picture).status == .success)
    let svg = String(decoding: try folder.bytes(picture), as: UTF8.self)
    #expect(!svg.contains("<script") && svg.contains("‹001B›"))
    #expect(!svg.unicodeScalars.contains { VisibleText.isInvisible($0) && $0 != "\n" })
  }

  @Test func `a plot that takes too long ends in words`() async throws {
    let folder = try await QueriedStore.make()
    try await QueriedStore.addItems(to: folder)
    let more = (2_000...9_000).map { "{\"k\":\($0),\"rank\":\($0 % 50)}" }
    try await folder.load("[\(more.joined(separator: ","))]", "--entity", "Item", name: "b.json")
    let store = try DynamicStore(path: folder.store, options: ReadStore.options)
    defer { store.close() }
    try store.read { snapshot in
      for kind in ["keys", "counts", "histogram"] {
        let command = try PlotCommand.parse([kind, folder.store, "Item", "rank"])
        #expect(throws: (any Error).self) {
          try PlotReading(command, snapshot, isOver: { true }).plot()
        }
      }
    }
    #expect(await plot(folder, "sizes", "--timeout", "-1").status == .usage)
    #expect(await plot(folder, "sizes", "Pod", "stars").status == .usage)
    #expect(await plot(folder, "sizes", "--where", "stars > 1").status == .usage)
  }
}
