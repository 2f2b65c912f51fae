import Foundation
import Testing

@testable import KVDumpCommands

/// The store calls a record's id `_id`.
///
/// These imported records have a member of that name too.
@Suite("Importing members named _id")
struct ImportRecordIDTests {
  private static let text = #"""
    {"_id":"5f1","k":1}
    {"_id":"5f2","k":2}
    {"k":3}

    """#

  @Test func `an unmapped member is reported with its count, and refused when strict`()
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("m.jsonl", Self.text)
    let options = ["--entity", "E", "--unique", "k", "--infer"]
    let outcome = await folder.importing([file] + options)
    #expect(outcome.status == .success)
    #expect(
      outcome.messages.contains("E: '_id' of 2 records was not imported"), "\(outcome.messages)")
    #expect(outcome.messages.contains("--map _id=NAME"))
    #expect(!outcome.messages.contains("--infer adds them"))
    #expect(outcome.data.contains(#""unknownMembers":{"_id":2}"#))
    #expect(await folder.run("export", "E").data == "{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n")
    let strict = await folder.importing([file, "--strict"] + options)
    #expect(strict.status == .negative)
    #expect(strict.messages.contains("'_id' is the store's own name"), "\(strict.messages)")
    #expect(await folder.isSound())
  }

  @Test(arguments: ["mongoID", "_id"])
  func `a mapped member is an attribute, and records are matched by it`(key: String) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("m.jsonl", #"{"_id":"5f1","k":1}"# + "\n" + #"{"_id":"5f2","k":2}"#)
    let options = ["--entity", "E", "--map", "_id=mongoID", "--unique", key, "--strict"]
    let outcome = await folder.importing([file, "--infer"] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let lines = #"{"mongoID":"5f1","k":1}"# + "\n" + #"{"mongoID":"5f2","k":2}"# + "\n"
    #expect(await folder.run("export", "E").data == lines)
    let again = await folder.importing([file] + options)
    #expect(try folder.report(again) == ImportCounts(records: 2, unchanged: 2))
    #expect(!again.messages.contains("not taken"))
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--unique", "_id", "--infer"], "--map _id=NAME"),
    (["--unique", "k", "--index", "_id", "--infer"], "--map _id=NAME"),
    (["--unique", "k", "--type", "_id=string", "--infer"], "--map _id=NAME"),
    (["--unique", "k", "--map", "k=_id", "--infer"], "'_id' is the store's name"),
  ])
  func `no attribute may have the reserved name of the record id`(
    options: [String], message: String
  ) async throws {
    let folder = try StoreFolder()
    let file = try folder.file("m.jsonl", Self.text)
    let outcome = await folder.importing([file, "--entity", "E"] + options)
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(try folder.files() == ["m.jsonl"])
    let schema = try folder.file(
      "s.json", #"{"entity":"E","attributes":[{"name":"_id","type":"string"}]}"#)
    let declared = await folder.importing(
      [file, "--entity", "E", "--schema", schema, "--insert-only"])
    #expect(declared.status == .damagedData && declared.messages.contains("'_id'"))
  }

  @Test func `exported records with their ids are imported again`() async throws {
    let folder = try StoreFolder()
    try await folder.load(Self.text, "--entity", "E", "--unique", "k", "--infer", name: "m.jsonl")
    let plain = await folder.run("export", "E").data
    let withIDs = await folder.run("export", "E", "--fields", "_id,k").data
    #expect(withIDs == "{\"_id\":1,\"k\":1}\n{\"_id\":2,\"k\":2}\n{\"_id\":3,\"k\":3}\n")
    for (name, text) in [("p.jsonl", plain), ("i.jsonl", withIDs)] {
      let other = try StoreFolder()
      let outcome = try await other.load(
        text, "--entity", "E", "--unique", "k", "--infer", name: name)
      #expect(outcome.messages.contains("'_id' of 3 records") == (name == "i.jsonl"))
      #expect(await other.run("export", "E").data == plain)
    }
  }

  @Test func `no other name becomes the name of the id`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"(_id)":"x","k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    #expect(await folder.run("export", "E").data == #"{"_id_":"x","k":1}"# + "\n")
    try await folder.load(#"[{"(_id)":"y","k":1}]"#, "--entity", "E", "--unique", "k")
    #expect(await folder.run("export", "E").data == #"{"_id_":"y","k":1}"# + "\n")
    #expect(await folder.isSound())
  }
}
