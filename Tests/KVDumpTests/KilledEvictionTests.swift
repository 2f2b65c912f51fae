// Whole Foundation: `Process` is not in FoundationEssentials.
import EntityStore
import Foundation
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

@Suite(.serialized) struct `A killed eviction` {
  private static let count = 10_000
  /// An eviction removes 4,096 records in a transaction.
  private static let states = [count, count - 4_096, count - 8_192, 100]

  /// The variable `LODESTORE_KILLS` sets the number of kills.
  @Test func `a killed eviction has removed the oldest records, in whole transactions`()
    async throws
  {
    guard let tool = ToolProcess.path else { return }
    let (origin, victim) = (try StoreFolder(), try StoreFolder(inMemory: true))
    try Self.makePages(origin.store)
    let bytes = try origin.bytes(origin.store)
    var longest = 0
    var random = DamageGenerator(salt: 47)
    let kills = DamageGenerator.number("LODESTORE_KILLS").map { Int(clamping: $0) } ?? 6
    var left: [Int: Int] = [:]
    for round in 0...kills {
      for name in try victim.files() {
        try FileManager.default.removeItem(atPath: victim.path + "/" + name)
      }
      try bytes.write(to: URL(fileURLWithPath: victim.store))
      let process = try ToolProcess.start(#"exec "$0" evict "$1""#, tool, victim.store)
      // The first round has no kill, and measures the duration of an eviction.
      let delay = round == 0 ? 0 : Int.random(in: 0...(longest * 12 / 10), using: &random)
      let start = DispatchTime.now()
      if round > 0 {
        usleep(UInt32(delay))
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      }
      process.waitUntilExit()
      if round == 0 {
        longest = Int((DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000)
      }
      let replay: Comment = "killed after \(delay) µs, \(DamageGenerator.replay)"
      let numbers = try Self.numbers(victim.store)
      left[numbers.count, default: 0] += 1
      #expect(Self.states.contains(numbers.count), replay)
      #expect(round > 0 || numbers.count == 100)
      #expect(numbers == Array((Self.count - numbers.count)..<Self.count), replay)
      let report = try Verifier.verify(path: victim.store)
      #expect(report.isSound && report.findings == [], replay)
      let again = await victim.run("evict")
      #expect(again.status == .success, replay)
      #expect(try Self.numbers(victim.store).count == 100, replay)
    }
    print("evictions killed, by the records that were left: \(left.sorted { $0.key > $1.key })")
  }

  private static var withoutKeeper: StoreOptions {
    var options = StoreOptions()
    options.evictionInterval = nil
    return options
  }

  private static func makePages(_ path: String) throws {
    let store = try Store(at: path, entities: [LimitedPage.self], options: withoutKeeper)
    defer { store.close() }
    try store.write { tx in
      _ = try tx.insert((0..<count).map { LimitedPage(number: $0, body: "page \($0)") })
    }
  }

  /// The numbers of the pages that the file still has.
  private static func numbers(_ path: String) throws -> [Int] {
    let store = try Store(at: path, entities: [LimitedPage.self], options: withoutKeeper)
    defer { store.close() }
    return try store.fetch(LimitedPage.all).map(\.number)
  }
}

/// A page of which 100 are kept.
private struct LimitedPage: Entity {
  var id = RecordID<LimitedPage>()
  var number: Int
  var body: String

  static let schema = EntitySchema<LimitedPage>(
    "Page", attributes: [.init("number", \.number), .init("body", \.body)],
    unique: [[\.number]], limit: EntityLimit(count: 100, bytes: 1_000_000))

  init(number: Int, body: String) {
    self.number = number
    self.body = body
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(body)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    body = try reader.read()
  }
}
