import Fireballs
import Foundation
import Lodestore
import Testing

@Suite struct HistoryTests {
  @Test func `the list shows the changes of a refresh`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.old)
      var list = try FireballList(fireballs)
      let report = try await fireballs.refresh(file: Snapshots.new)
      let merge = try list.merge(from: fireballs)
      #expect(merge.inserted.count == report.inserted)
      #expect(merge.updated.count == report.updated)
      #expect(merge.deleted.count == report.deleted)
      #expect(list.items == (try await fireballs.store.fetch(Fireball.newestFirst)))
      #expect(try list.merge(from: fireballs) == FireballList.Merge())
    }
  }

  @Test func `the list omits changes of the program itself`() async throws {
    try await withFireballs(samples: true) { fireballs in
      var list = try FireballList(fireballs)
      try await fireballs.store.delete(Fireball.strongestFirst.limit(1))
      #expect(try list.merge(from: fireballs) == FireballList.Merge())
      try await fireballs.store.write(author: "somebody") { tx in
        _ = try tx.delete(Fireball.strongestFirst.limit(1))
      }
      #expect(try list.merge(from: fireballs).deleted.map(\.impactEnergy) == [49])
    }
  }

  @Test func `news are reported once, also to the next run of the program`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.new)
      let first = try await fireballs.news(of: "reader")
      #expect(first.map(\.inserted) == [Snapshots.isReal ? 1_060 : 14])
      #expect(try await fireballs.news(of: "reader").isEmpty)
      try await fireballs.refresh(file: Snapshots.old)
      let second = try await fireballs.news(of: "reader")
      #expect(second.reduce(0) { $0 + $1.deleted } == (Snapshots.isReal ? 281 : 5))
      #expect(second.allSatisfy { $0.author == "refresh" })
    }
  }

  @Test func `a pinned generation stays and is compared with the current one`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.old)
      let kept = try fireballs.store.snapshot()
      let report = try await fireballs.refresh(file: Snapshots.new)
      let generations = try Generations(kept, in: fireballs)
      #expect(generations.appeared.count == report.inserted)
      #expect(generations.vanished.count == report.deleted)
      #expect(generations.changed.count == report.updated)
      #expect(generations.then.count == (Snapshots.isReal ? 973 : 12))
      #expect(generations.now.count == (Snapshots.isReal ? 1_060 : 14))
      try kept.advance()
      let same = try Generations(kept, in: fireballs)
      #expect(same.then == same.now)
      #expect(same.appeared.isEmpty && same.vanished.isEmpty && same.changed.isEmpty)
    }
  }
}
