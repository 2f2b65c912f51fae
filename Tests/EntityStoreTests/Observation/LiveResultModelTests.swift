import Foundation
import Testing

@testable import EntityStore

/// Lists that follow random commits.
///
/// After each update, the list made of differences must equal a newly fetched list.
@Suite struct `Lists kept by differences` {
  private static let levels: [UInt8?] = [nil, 1, 2, 3, 4]

  private static func change(
    _ tx: inout WriteTransaction, _ numbers: inout SeededNumbers, _ next: inout Int
  ) throws {
    let ids = try tx.ids(Player.all)
    switch numbers.below(ids.count < 40 ? 8 : 11) {
    case 0, 1:
      next += 1
      try tx.insert(
        Player(name: "n\(next)", score: numbers.below(12), level: levels[numbers.below(5)]))
    case 2:
      let count = numbers.below(6)
      let first = next
      next += count
      let score = numbers.below(12)
      try tx.insert(
        (0..<count).map { Player(name: "n\(first + $0 + 1)", score: score, level: 2) })
    case 3, 4, 5:
      guard let id = ids.randomElement(using: &numbers) else { return }
      let score = numbers.below(12)
      let level = levels[numbers.below(5)]
      let part = numbers.below(4)
      try tx.modify(id) {
        if part != 0 { $0.score = score }
        if part != 1 { $0.level = level }
        if part == 2 { $0.note = "\(score)" }
      }
    case 6:
      let score = numbers.below(12)
      try tx.update(Player.where { $0.score == score }) { $0.level = 3 }
    case 7: if let id = ids.randomElement(using: &numbers) { try tx.delete(id) }
    case 8:
      let score = numbers.below(12)
      try tx.delete(Player.where { $0.score == score })
    case 9: try tx.update(Player.where { $0.score < 3 }) { $0.score.add(4) }
    default: if numbers.oneIn(8) { try tx.delete(Player.all) }
    }
  }

  private static func change(
    _ store: Store, _ numbers: inout SeededNumbers, _ next: inout Int
  ) throws {
    let size = 1 + numbers.below(3)
    try store.write { tx throws in
      for _ in 0..<size { try change(&tx, &numbers, &next) }
    }
  }

  private static let queries: [Query<Player>] = [
    Player.all.sorted(by: \.score),
    Player.where { $0.score > 4 }.sorted(by: \.level, \.name),
    Player.all.sorted(by: \.level.descending, \.score.ascending),
    Player.where {
      $0.level != nil; $0.score < 9
    },
    Player.all.sorted(by: \.score.descending).limit(7),
    Player.all.sorted(by: \.score).offset(3),
  ]

  /// The variable `LODESTORE_SOAK` makes the test run many more rounds.
  @Test(arguments: 0..<4)
  func `lists kept by differences agree with a new fetch, sections included`(run: Int) async throws
  {
    let rounds = ProcessInfo.processInfo.environment["LODESTORE_SOAK"] == nil ? 120 : 2_500
    try await withTemporaryStore([Player.self]) { store in
      var numbers = SeededNumbers(salt: 3_000 + UInt64(run))
      let plain = Self.queries.map { Turner(store.updates(of: $0)) }
      let sectioned = [
        Turner(store.updates(of: Self.queries[0], sectionedBy: \.score)),
        Turner(store.updates(of: Self.queries[4], sectionedBy: \.score)),
      ]
      let byLevel = Turner(store.updates(of: Self.queries[2], sectionedBy: \.level))
      var lists: [ListFollower] = []
      var values: [[Player]] = []
      for turner in plain {
        _ = try await within { try await turner.next() }
        lists.append(ListFollower([[]]))
        values.append([])
      }
      var sections: [ListFollower] = []
      for turner in sectioned {
        _ = try await within { try await turner.next() }
        sections.append(ListFollower([]))
      }
      _ = try await within { try await byLevel.next() }
      var levels = ListFollower([])
      var levelValues: [Player] = []
      var next = 0
      for _ in 0..<rounds {
        try Self.change(store, &numbers, &next)
        for (index, turner) in plain.enumerated() {
          let fresh = try Self.fetch(store, Self.queries[index])
          guard fresh != values[index] else { continue }
          while values[index] != fresh {
            let news = try await within { try await turner.next() }
            let update = try #require(news)
            try lists[index].apply(update.difference ?? ResultDifference()) {
              update.items[$0].id.rawValue
            }
            values[index] = Array(update.items)
          }
          #expect(lists[index].sections == [fresh.map(\.id.rawValue)])
        }
        for (index, turner) in sectioned.enumerated() {
          let fresh = try Self.sections(store, Self.queries[index == 0 ? 0 : 4])
          let isSame = sections[index].sections == fresh
          guard !isSame else { continue }
          var last: [ClosedRange<Int>] = []
          while sections[index].sections != fresh {
            let news = try await within { try await turner.next() }
            let update = try #require(news)
            try sections[index].apply(update.difference ?? ResultDifference()) {
              update.items[$0].id.rawValue
            }
            last = update.sections.map { $0.range.lowerBound...$0.range.upperBound }
          }
          #expect(last.map(\.count) == fresh.map { $0.count + 1 })
        }
        let fresh = try Self.fetch(store, Self.queries[2])
        while levelValues != fresh {
          let news = try await within { try await byLevel.next() }
          let update = try #require(news)
          try levels.apply(update.difference ?? ResultDifference()) { update.items[$0].id.rawValue }
          levelValues = Array(update.items)
          #expect(update.sections.map(\.count) == levels.sections.map(\.count))
          for section in update.sections {
            #expect(section.range.allSatisfy { update.items[$0].level == section.key })
          }
        }
      }
    }
  }

  private static func fetch(_ store: Store, _ query: Query<Player>) throws -> [Player] {
    try store.fetch(query)
  }

  private static func sections(_ store: Store, _ query: Query<Player>) throws -> [[UInt64]] {
    try store.read { try $0.sections(query, by: \.score).map { $0.items.map(\.id.rawValue) } }
  }
}
