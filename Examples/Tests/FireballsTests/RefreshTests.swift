import Fireballs
import Foundation
import Lodestore
import Testing

@Suite struct RefreshTests {
  @Test func `a refresh makes no duplicates`() async throws {
    try await withFireballs { fireballs in
      let first = try await fireballs.refresh(file: Snapshots.old)
      #expect(first.inserted == (Snapshots.isReal ? 973 : 12))
      let again = try await fireballs.refresh(file: Snapshots.old)
      #expect(again.inserted + again.updated + again.deleted + again.rejected == 0)
      #expect(again.unchanged == first.inserted)
    }
  }

  @Test func `a later snapshot inserts, updates and deletes`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.old)
      let report = try await fireballs.refresh(file: Snapshots.new)
      let found = [report.inserted, report.updated, report.deleted]
      #expect(found == (Snapshots.isReal ? [281, 313, 194] : [5, 3, 3]))
      #expect(try await fireballs.store.count(Fireball.all) == (Snapshots.isReal ? 1_060 : 14))
    }
  }

  @Test func `places have a sign, and unknown values are nil`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.new)
      let time = try Date("2013-02-15T03:20:33Z", strategy: .iso8601)
      let near = try await fireballs.store.first(Fireball.strongestFirst)
      let strongest = try #require(near)
      #expect(abs(strongest.dateTimeStamp.timeIntervalSince(time)) < 60)
      #expect(strongest.latitude == 54.8)
      #expect(strongest.longitude == 61.1)
      let unknown = try await fireballs.store.count(Fireball.where { $0.altitude == nil })
      #expect(unknown > 0)
    }
  }

  @Test func `a row that cannot be read is rejected with the reason`() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("fireballs-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(
      """
      {"fields": ["date", "energy", "impact-e", "lat", "lat-dir"], "data": [
        ["2024-02-26 11:21:01", "3.7", "0.13", "22.9", "N"],
        ["2024-02-27 11:21:01", "much", "0.13", null, null],
        ["2024-02-28 11:21:01", "3.7", "0.13", "22.9", "up"]]}
      """.utf8
    ).write(to: file)
    try await withFireballs { fireballs in
      let report = try await fireballs.refresh(file: file.path)
      #expect(report.inserted == 1)
      #expect(report.rejects.map(\.record) == [2, 3])
      #expect(report.rejects.first?.reason.contains("'much' is no number") == true)
    }
  }
}
