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
  func `become doubles where that is asked for`(options: [String]) async throws {
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

  @Test func `stay where a value would not be the same, and the record is named`() async throws {
    let folder = try await make("10", "9007199254740993")
    let before = try folder.bytes(folder.store)
    let file = try folder.file("next.json", #"[{"k":"x","price":10.5}]"#)
    let outcome = await folder.importing([file] + Self.entity + ["--type", "price=double"])
    #expect(outcome.status == .damagedData, "\(outcome.messages)")
    #expect(
      outcome.messages.contains(
        "'E.price' stays int64, as the value of record 2 is not exactly a double; "
          + "--type price=decimal keeps every digit"), "\(outcome.messages)")
    #expect(try folder.bytes(folder.store) == before)
    let decimal = await folder.importing([file] + Self.entity + ["--type", "price=decimal"])
    #expect(decimal.status == .success, "\(decimal.messages)")
    #expect(
      await records(folder) == #"{"price":10}\#n{"price":9007199254740993}\#n{"price":10.5}\#n"#)
    #expect(await folder.isSound())
  }

  @Test func `are named with the way to widen them`() async throws {
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
