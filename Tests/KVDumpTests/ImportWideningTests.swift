import Testing

@testable import KVDumpCommands

@Suite struct `Numbers that an import widens` {
  private static let entity = ["--entity", "E", "--unique", "k"]

  /// A store whose `price` is int64, with an index and a constraint-free second number.
  private func make(_ prices: String...) async throws -> StoreFolder {
    let folder = try StoreFolder()
    let records = prices.enumerated().map { #"{"k":"\#($0)","price":\#($1)}"# }
    try await folder.load(
      "[\(records.joined(separator: ","))]", "--entity", "E", "--unique", "k", "--index", "price",
      "--infer")
    return folder
  }

  private func records(_ folder: StoreFolder) async -> String {
    await folder.run("records", "E", "--fields", "price").data
  }

  @Test(arguments: [["--type", "price=double"], ["--infer", "--widen"]])
  func `an import widens numbers to doubles if an option asks for it`(options: [String])
    async throws
  {
    let folder = try await make("10", "-3")
    let file = try folder.file("next.json", #"[{"k":"x","price":10.5}]"#)
    let outcome = await folder.importing([file] + Self.entity + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(outcome.messages.contains("E: made 'price' double, which was int64"))
    #expect(await records(folder) == #"{"price":10.0}\#n{"price":-3.0}\#n{"price":10.5}\#n"#)
    let found = await folder.run("query", "E", "price > 9.5", "--require-index")
    #expect(found.status == .success, "\(found.messages)")
    #expect(await folder.isSound())
  }

  @Test func `a number stays narrow if widening would change a value, and the record is named`()
    async throws
  {
    let folder = try await make("10", "9007199254740993")
    let before = try folder.bytes(folder.store)
    let file = try folder.file("next.json", #"[{"k":"x","price":10.5}]"#)
    let outcome = await folder.importing([file] + Self.entity + ["--type", "price=double"])
    #expect(outcome.status == .damagedData, "\(outcome.messages)")
    #expect(
      outcome.messages.contains(
        "'E.price' stays int64, because the value of record 2 is not exactly a double; "
          + "--type price=decimal keeps every digit"), "\(outcome.messages)")
    #expect(try folder.bytes(folder.store) == before)
    let decimal = await folder.importing([file] + Self.entity + ["--type", "price=decimal"])
    #expect(decimal.status == .success, "\(decimal.messages)")
    #expect(
      await records(folder) == #"{"price":10}\#n{"price":9007199254740993}\#n{"price":10.5}\#n"#)
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    ("int8", "100", nil), ("int8", "1.0", nil), ("int8", "200", "int64"), ("int8", "1.5", "double"),
    ("uint8", "7", nil), ("uint8", "-1", "int64"), ("uint64", "18446744073709551615", nil),
    ("uint64", "-1", "decimal"), ("int64", "18446744073709551615", "decimal"),
    ("float", "0.1", nil), ("float", "3", nil), ("float", "1e39", "double"),
    ("float", "16777217", "double"), ("float", "1e400", "decimal"), ("double", "1e308", nil),
    ("double", "9007199254740993", "decimal"), ("double", "1e-400", "decimal"),
  ])
  func `an import widens an attribute only if its type refuses a number of a record`(
    stored: String, number: String, wider: String?
  ) async throws {
    for name in ["next.json", "next.csv"] {
      let folder = try StoreFolder()
      try await folder.load(
        #"[{"k":"a","n":1}]"#, "--entity", "E", "--unique", "k", "--infer", "--type", "n=\(stored)")
      let text = name == "next.json" ? #"[{"k":"b","n":\#(number)}]"# : "k,n\nb,\(number)\n"
      let file = try folder.file(name, text)
      let told = await folder.importing([file] + Self.entity + ["--infer"])
      let note = wider.map {
        "E: 'n' stays \(stored), and some record needs \($0); --type n=\($0) makes"
      }
      #expect(told.messages.contains(note ?? "stays") == (note != nil), "\(name): \(told.messages)")
      #expect(try folder.report(told).rejected == (wider == nil ? 0 : 1), "\(name)")
      let outcome = await folder.importing([file] + Self.entity + ["--infer", "--widen"])
      #expect(outcome.status == .success, "\(name): \(outcome.messages)")
      let schema = await folder.run("schema", "E", "--format", "jsonl").data
      #expect(schema.contains(#""name":"n","type":"\#(wider ?? stored)""#), "\(name): \(schema)")
      #expect(await folder.isSound())
    }
  }

  @Test func `an import names the attributes that it could widen, with the option`() async throws {
    let folder = try await make("10")
    let file = try folder.file("next.json", #"[{"k":"x","price":10.5}]"#)
    let outcome = await folder.importing([file] + Self.entity + ["--infer"])
    #expect(outcome.messages.contains("--type price=double makes it one"), "\(outcome.messages)")
    let narrow = await folder.importing([file] + Self.entity + ["--type", "price=int8"])
    #expect(narrow.messages.contains("stored types are only widened"), "\(narrow.messages)")
    #expect(narrow.status == .usage)
    #expect(await folder.isSound())
  }
}
