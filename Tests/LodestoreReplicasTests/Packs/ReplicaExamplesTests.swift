import EntityStore
import Foundation
import LodestoreBytes
import LodestoreDatasets
import LodestoreFormat
import Testing

@testable import LodestoreReplicas

/// The examples of Format.md, "Replicas".
@Suite("Examples of replicas in Format.md")
struct ReplicaExamplesTests {
  @Test func `the example of an entry holds`() throws {
    let fields = try Self.fields("log-entry")
    var members: [String: String] = [:]
    for (name, value) in fields { members[name] = value }
    func number(_ name: String) throws -> UInt64 {
      try #require(members[name].flatMap { UInt64($0) })
    }
    var head = EntryHead(
      try #require(members["kind"].flatMap(EntryHead.Kind.init(rawValue:))),
      epoch: try number("epoch"), slot: try number("slot"),
      previous: try Self.bytes(members["previous"]),
      store: try #require(members["store"].flatMap(UUIDBytes.init(text:))),
      session: try #require(members["session"].flatMap(UUIDBytes.init(text:))),
      lastWrite: try number("lastWrite"),
      time: try #require(members["time"].flatMap { Double($0) }),
      schema: try Self.bytes(members["schema"]))
    head.writer = members["writer"]
    let bytes = try Self.bytes(members["bytes"])
    #expect(try LogEntry(head).bytes == bytes)
    #expect(try LogEntry(reading: bytes, slot: head.slot).head == head)
  }

  @Test func `the example of a block of steps holds`() throws {
    var steps: [ReplayStep] = []
    for (name, value) in try Self.fields("step-block") {
      if name == "bytes" {
        let bytes = try Self.bytes(value)
        var encoder = StepEncoder()
        for step in steps { try encoder.add(step) }
        #expect(encoder.encoded() == bytes)
        let decoded = try bytes._withBytes { bytes in
          var decoder = try StepDecoder(bytes[1...], deletedLimit: 10)
          return try decoder.steps()
        }
        #expect(decoded == steps)
        return
      }
      if name == "writes" {
        let numbers = Self.numbers(value)
        let first = try #require(numbers.first)
        steps.append(
          ReplayStep(writes: first...(numbers.last ?? first), time: 0, author: nil, context: nil))
      } else {
        try #require(!steps.isEmpty)
        try Self.read(name, value, to: &steps[steps.count - 1])
      }
    }
    Issue.record("the example has no bytes")
  }

  @Test func `the example of a block of a bucket holds`() throws {
    let (left, right) = try #require(try Self.fields("bucket-block").first)
    let parts = left.split(separator: ", ").map(String.init)
    var bucket = ReplayBucket(name: parts[0], pairs: [])
    for part in parts.dropFirst() {
      let bytes = try Self.bytes(part.split(separator: " ").dropFirst().joined(separator: " "))
      if part.hasPrefix("key") {
        bucket.pairs.append(ReplayBucket.Pair(key: bytes, value: []))
      } else {
        bucket.pairs[bucket.pairs.count - 1].value = bytes
      }
    }
    let block = try Self.bytes(right)
    #expect(try BucketBlock.encoded(bucket) == block)
    #expect(try block._withBytes { try BucketBlock.decode($0[1...]) } == bucket)
  }

  @Test func `the example of the head of a base holds`() throws {
    let json = try Self.block("base-head").trimmingCharacters(in: .newlines)
    let name = ReplicaName.base(slot: 42, verity: 0x1b88_e473_0889_53af, .head)
    let head = try BaseHead(reading: Array(json.utf8), named: name.text)
    #expect(head.slot == 42 && head.epoch == 3 && head.store == Entries.store)
    #expect(head.digests == [[1, 0, 0, 0, 2]: ContentDigest(linkFrom: 1, to: 2)])
    #expect(String(decoding: head.bytes, as: UTF8.self) == json)
  }

  @Test func `the example of the end of a unit holds`() throws {
    var members: [String: String] = [:]
    for (name, value) in try Self.fields("unit-end") { members[name] = value }
    var end = ReplayEnd(
      storeID: Entries.store.bytes, after: try #require(members["after"].flatMap { UInt64($0) }),
      last: try #require(members["last"].flatMap { UInt64($0) }), schema: Entries.hash,
      digests: ReplayDigests(
        contents: [:], bucketTotal: try Self.bytes(members["buckets"]),
        buckets: ["settings": try Self.bytes(members["bucket settings"])]))
    let places = try #require(members["places of relationship 1, side 1"])
    end.places = [
      ReplayPlaces(
        relationship: 1, side: .from, holder: nil,
        places: places.split(separator: " ").map { place in
          let ids = place.split(separator: "-").compactMap { UInt64($0) }
          return ReplayPlace(owner: ids[0], other: ids[1], previous: ids[2])
        })
    ]
    end.nextIDs = [2: try #require(members["next of entity 2"].flatMap { UInt64($0) })]
    let bytes = try Self.bytes(members["bytes"])
    #expect(try UnitEnd(end).encoded() == bytes)
    #expect(try bytes._withBytes { try UnitEnd(decoding: $0[1...]) } == UnitEnd(end))
  }

  // MARK: Reading the document

  private static func read(_ name: String, _ value: String, to step: inout ReplayStep) throws {
    let words = name.split { " ,".contains($0) }.map(String.init)
    func entity() throws -> EntityNumber {
      let place = try #require(words.firstIndex(of: "entity")) + 1
      return EntityNumber(try #require(UInt32(words[place])))
    }
    func relationship() throws -> UInt32 {
      let place = try #require(words.firstIndex(of: "relationship")) + 1
      return try #require(UInt32(words[place]))
    }
    let groups = value.split(separator: " ").map { group in
      group.split(separator: "-").map { UInt64($0) ?? 0 }
    }
    switch words[0] {
    case "time": step.time = try #require(Double(value))
    case "author": step.author = value
    case "context": step.context = value
    case "put":
      if step.records.isEmpty { step.records = [ReplayStep.Records(of: try entity())] }
      step.records[0].append(try #require(words.last.flatMap { UInt64($0) }), try bytes(value))
    case "deleted":
      let ids = IDRuns(numbers(value).map { $0..<$0 + 1 })
      step.deleted.append(ReplayStep.Deleted(entity: try entity(), ids: ids))
    case "removed", "added", "moved":
      step.links.append(
        HistoryPart.Links(
          relationship: try relationship(),
          kind: try #require(StepLinks.kinds.first { "\($0)" == words[0] }),
          pairs: groups.map { LinkPair(from: $0[0], to: $0[1]) }))
    case "replaced": step.replacedEntities.append(try entity())
    case "next":
      let next = try #require(numbers(value).first)
      step.nextIDs[try entity()] = next
    default: Issue.record("unknown field '\(name)'")
    }
  }

  private static func block(_ kind: String) throws -> String {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Format.md")
    let text = try String(contentsOf: path, encoding: .utf8)
    let block = try #require(text.split(separator: "```example \(kind)\n").dropFirst().first)
    return String(try #require(block.split(separator: "```").first))
  }

  /// The lines of a block; a line without a sign of equality continues the line before it.
  private static func fields(_ kind: String) throws -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    for line in try block(kind).split(separator: "\n") {
      if let sign = line.ranges(of: " = ").last {
        fields.append((String(line[..<sign.lowerBound]), String(line[sign.upperBound...])))
      } else {
        fields[fields.count - 1].value += " " + line
      }
    }
    return fields
  }

  private static func numbers(_ text: String) -> [UInt64] {
    text.split(separator: " ").compactMap { UInt64($0) }
  }

  private static func bytes(_ text: String?) throws -> [UInt8] {
    try #require(text).split(separator: " ").map { try #require(UInt8($0, radix: 16)) }
  }
}
