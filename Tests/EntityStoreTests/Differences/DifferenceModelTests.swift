import Foundation
import Testing

@testable import EntityStore

/// Random stores, compared with a plain comparison of their records.
@Suite struct `Differences against a model` {
  private typealias Films = [UInt64: Film]

  /// One difference as a line of text.
  private static func line(
    _ kind: HistoryChange.Kind, _ id: UInt64, _ old: Film?, _ new: Film?, _ names: [String]
  ) -> String {
    func text(_ film: Film?) -> String {
      film.map { "\($0.title)/\($0.episode)/\($0.code ?? "-")/\($0.released?.description ?? "-")" }
        ?? "none"
    }
    return "\(kind) \(id) \(text(old)) \(text(new)) \(names)"
  }

  private static func expected(_ older: Films, _ newer: Films) -> [String] {
    Set(older.keys).union(newer.keys).sorted().compactMap { id in
      switch (older[id], newer[id]) {
      case (let old?, let new?):
        var names: [String] = []
        if old.title != new.title { names.append("title") }
        if old.episode != new.episode { names.append("episode") }
        if old.code != new.code { names.append("code") }
        if old.released != new.released { names.append("released") }
        return names.isEmpty ? nil : line(.updated, id, old, new, names)
      case (let old?, nil): return line(.deleted, id, old, nil, [])
      case (nil, let new?): return line(.inserted, id, nil, new, [])
      case (nil, nil): return nil
      }
    }
  }

  private static func found(_ differences: RecordDifferences<Film>) throws -> [String] {
    var lines: [String] = []
    try differences.forEach {
      lines.append(line($0.kind, $0.id.rawValue, $0.old, $0.new, $0.attributes))
      return true
    }
    return lines
  }

  /// Changes some records in one write of `store`, and likewise in `films`.
  private static func change(
    _ store: Store, _ films: inout Films, _ numbers: inout SeededNumbers
  ) throws {
    var (changed, next) = (films, numbers)
    try store.write { tx in
      (changed, next) = (films, numbers)
      for _ in 0...next.below(12) {
        let ids = changed.keys.sorted()
        switch next.below(ids.isEmpty ? 1 : 4) {
        case 0:
          var episode = next.below(1 << 40)
          while changed.values.contains(where: { $0.episode == episode }) { episode += 1 }
          let film = try tx.insert(Film(title: "t\(next.below(5))", episode: episode))
          changed[film.id.rawValue] = film
        case 1:
          let id = ids[next.below(ids.count)]
          try tx.delete(Film.ID(rawValue: id))
          changed[id] = nil
        default:
          let id = ids[next.below(ids.count)]
          guard var film = changed[id] else { continue }
          if next.oneIn(2) { film.title = "t\(next.below(5))" }
          if next.oneIn(3) { film.code = next.oneIn(2) ? nil : "\(id)" }
          if next.oneIn(3) {
            film.released = next.oneIn(2) ? nil : Date(timeIntervalSinceReferenceDate: 1)
          }
          try tx.update(film)
          changed[id] = film
        }
      }
    }
    (films, numbers) = (changed, next)
  }

  @Test func `differences are those of random stores, and of each store since each of its writes`()
    throws
  {
    var numbers = SeededNumbers(salt: 0xd1f2)
    for _ in 0..<(SeededNumbers.environmentNumber("LODESTORE_DIFFERENCE_ROUNDS") ?? 6) {
      try withTemporaryStore([Film.self], options: .history(.images)) { older in
        try withTemporaryStore([Film.self], options: .history(.images)) { newer in
          var states: [Films] = [[:], [:]]
          // Both stores get the same changes, because both generators start from the same state.
          var twin = numbers
          for _ in 0..<4 {
            try Self.change(older, &states[0], &numbers)
            try Self.change(newer, &states[1], &twin)
          }
          #expect(states[0] == states[1], "\(SeededNumbers.replay)")
          var places: [(token: HistoryToken, films: Films)] = []
          for _ in 0..<12 {
            if numbers.oneIn(3) { try Self.change(older, &states[0], &numbers) }
            places.append((try newer.read { try $0.historyToken() }, states[1]))
            try Self.change(newer, &states[1], &numbers)
            #expect(
              try Self.found(newer.differences(from: older, of: Film.self))
                == Self.expected(states[0], states[1]), "\(SeededNumbers.replay)")
          }
          #expect(
            try Self.found(older.differences(from: newer, of: Film.self))
              == Self.expected(states[1], states[0]), "\(SeededNumbers.replay)")
          for place in places {
            #expect(
              try Self.found(newer.differences(since: place.token, of: Film.self))
                == Self.expected(place.films, states[1]), "\(SeededNumbers.replay)")
          }
          let byKey = try newer.differences(from: older, of: Film.self, matchingBy: .uniqueKey)
          #expect(
            try Self.found(byKey).sorted()
              == Self.expectedByKey(states[0], states[1]).sorted(), "\(SeededNumbers.replay)")
        }
      }
    }
  }

  /// The differences as in ``expected(_:_:)``, but with records matched by their episode.
  private static func expectedByKey(_ older: Films, _ newer: Films) -> [String] {
    let old = Dictionary(uniqueKeysWithValues: older.values.map { ($0.episode, $0) })
    let new = Dictionary(uniqueKeysWithValues: newer.values.map { ($0.episode, $0) })
    return Set(old.keys).union(new.keys).flatMap { episode -> [String] in
      let id = (new[episode] ?? old[episode])?.id.rawValue ?? 0
      var films: [Films] = [[:], [:]]
      if let film = old[episode] { films[0][id] = film }
      if let film = new[episode] { films[1][id] = film }
      return expected(films[0], films[1])
    }
  }

  /// Each store has a million records, of which ten thousand differ.
  ///
  /// The comparison must not take more memory than one of a hundred thousand records.
  @Test(.enabled(if: SeededNumbers.environmentNumber("LODESTORE_DIFFERENCE_RECORDS") != nil))
  func `differences of many records take no memory for them`() throws {
    let count = SeededNumbers.environmentNumber("LODESTORE_DIFFERENCE_RECORDS") ?? 1_000_000
    try withTemporaryStore([Film.self]) { older in
      try withTemporaryStore([Film.self]) { newer in
        for store in [older, newer] {
          for start in stride(from: 0, to: count, by: 100_000) {
            try store.write { tx in
              try tx.insert(
                (start..<min(count, start + 100_000)).map { Film(title: "Film \($0)", episode: $0) }
              )
            }
          }
        }
        try newer.write { tx in
          for id in stride(from: 1, through: count, by: 100) {
            try tx.modify(Film.ID(rawValue: UInt64(id))) { $0.title = "Other" }
          }
        }
        let before = allocatedBytes()
        var (found, most) = (0, 0)
        let start = ContinuousClock.now
        try newer.differences(from: older, of: Film.self).forEach { _ in
          found += 1
          if found % 1_000 == 0 { most = max(most, allocatedBytes() - before) }
          return true
        }
        print("\(count) records compared in \(start.duration(to: .now)), \(most) bytes more")
        #expect(found == (count + 99) / 100)
        #expect(most < 16 << 20)
      }
    }
  }
}

/// The private memory of this process in bytes, without mapped pages of files.
private func allocatedBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
    let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon") }),
    let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
  else { return 0 }
  return number << 10
}
