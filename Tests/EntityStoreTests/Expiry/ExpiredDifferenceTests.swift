import Foundation
import Testing

@testable import EntityStore

/// A ticket that is valid until a date.
private struct FairTicket: Entity {
  var id = RecordID<FairTicket>()
  var code: String
  var until: Date

  static let schema = EntitySchema<FairTicket>(
    "Ticket", attributes: [.init("code", \.code), .init("until", \.until)], unique: [[\.code]],
    history: .kept(images: true), expires: [\.until])

  init(_ code: String, until: Double) {
    self.code = code
    self.until = Date(timeIntervalSinceReferenceDate: until)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(until)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    until = try reader.read()
  }
}

/// A stack of tickets in an order.
private struct Stack: Entity {
  var id = RecordID<Stack>()
  var name: String

  static let tickets = ToMany<Stack, FairTicket>(ordered: true)

  static let schema = EntitySchema<Stack>(
    "Stack", attributes: [.init("name", \.name)], relationships: [.init("tickets", tickets)],
    history: .kept(images: true))

  init(_ name: String) { self.name = name }

  func encode(into writer: inout RecordWriter) { writer.write(name) }

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// ``FairTicket`` as a program declares it that knows no expiry.
private struct LastingFairTicket: Entity {
  var id = RecordID<LastingFairTicket>()
  var code: String
  var until: Date

  static let schema = EntitySchema<LastingFairTicket>(
    "Ticket", attributes: [.init("code", \.code), .init("until", \.until)], unique: [[\.code]],
    indexes: [[\.until]], history: .kept(images: true))

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(until)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    until = try reader.read()
  }
}

@Suite struct `Differences and expired records` {
  private func lines(_ differences: StoreDifferences) throws -> [String] {
    var lines: [String] = []
    try differences.forEach { difference in
      switch difference {
      case .schema(let schema):
        lines.append("\(schema.kind) \(schema.subject) \(schema.old ?? "-") \(schema.new ?? "-")")
      case .record(let record):
        lines.append("\(record.kind) \(record.entity) \(record.recordID)")
      case .link(let link): lines.append("\(link.kind) \(link.recordID) \(link.targetID)")
      case .bucket(let bucket): lines.append("\(bucket.kind) \(bucket.bucket)")
      }
      return true
    }
    return lines
  }

  private func withStacks(
    _ clock: TestClock, _ body: (Store) throws -> Void
  ) throws {
    try withTemporaryStore([FairTicket.self, Stack.self], options: clock.options, body)
  }

  @Test func `differences since a token omit new records that have expired`() throws {
    let clock = TestClock()
    try withStacks(clock) { store throws in
      let stack = try store.write { tx throws in
        let stack = try tx.insert(Stack("S")).id
        try tx.insert(FairTicket("lasting", until: 9_000))
        try tx.insert(FairTicket("kept a while", until: 1_500))
        return stack
      }
      let token = try store.read { try $0.historyToken() }
      let tickets = try store.write { tx throws in
        try tx.modify(FairTicket.ID(rawValue: 2)) { $0.code = "changed" }
        let tickets = try tx.insert([
          FairTicket("short", until: 1_100), FairTicket("long", until: 9_000),
        ])
        try tx.add(Array(tickets.ids), to: Stack.tickets, of: stack)
        return Array(tickets.ids)
      }
      #expect(
        try lines(store.differences(since: token)) == [
          "updated Ticket 2", "inserted Ticket 3", "inserted Ticket 4", "added 1 3", "added 1 4",
        ])
      clock.now = 2_000
      #expect(try store.storedCount(of: FairTicket.self) == 4 && tickets.count == 2)
      #expect(
        try lines(store.differences(since: token)) == [
          "deleted Ticket 2", "inserted Ticket 4", "added 1 4",
        ])
    }
  }

  @Test func `differences between stores omit the links of expired records`() throws {
    let (earlier, later) = (TestClock(), TestClock())
    func fill(_ store: Store) throws {
      try store.write { tx throws in
        let stack = try tx.insert(Stack("S")).id
        let tickets = try tx.insert(
          (1...5).map { FairTicket("\($0)", until: $0 == 2 ? 1_100 : 9_000) })
        try tx.add(Array(tickets.ids), to: Stack.tickets, of: stack)
      }
    }
    try withStacks(earlier) { older throws in
      try withStacks(later) { newer throws in
        for store in [older, newer] { try fill(store) }
        #expect(try lines(newer.differences(from: older)) == [])
        // The files have equal content. At the later time, a read of the newer store leaves out one
        // record and one link.
        later.now = 2_000
        #expect(
          try lines(newer.differences(from: older)) == ["deleted Ticket 2", "removed 1 2"])
        #expect(
          try lines(older.differences(from: newer)) == ["inserted Ticket 2", "added 1 2"])

        // The expired ticket is left out on both sides, so changes of it in the older store are no
        // difference.
        try older.write { tx throws in
          let stack = Stack.ID(rawValue: 1)
          try tx.move(FairTicket.ID(rawValue: 2), in: Stack.tickets, of: stack, to: .last)
          try tx.move(FairTicket.ID(rawValue: 5), in: Stack.tickets, of: stack, to: .first)
          try tx.insert(FairTicket("6", until: 1_200))
          try tx.add([FairTicket.ID(rawValue: 6)], to: Stack.tickets, of: stack)
        }
        earlier.now = 2_000
        #expect(try lines(newer.differences(from: older)) == ["moved 1 5"])
        #expect(try lines(older.differences(from: newer)) == ["moved 1 5"])
      }
    }
  }

  @Test func `differences of two schemas with and without expiry contain only the expiry`() throws {
    let clock = TestClock()
    try withTemporaryStore([FairTicket.self], options: clock.options) { expiring throws in
      try withTemporaryStore([LastingFairTicket.self], options: clock.options) { lasting throws in
        #expect(
          try lines(expiring.differences(from: lasting)) == ["inserted expiry - by until"])
        #expect(try lines(lasting.differences(from: expiring)) == ["deleted expiry by until -"])
      }
    }
  }
}
