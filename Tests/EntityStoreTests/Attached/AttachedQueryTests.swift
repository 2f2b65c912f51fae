import Foundation
import Testing

@testable import EntityStore

/// Conditions that the other store decides.
@Suite struct `Conditions over a dataset` {
  @Test func `every plan of a condition over a dataset agrees with a loop over all records`() throws
  {
    var numbers = SeededNumbers(salt: 4_401)
    try withAttached(pods: 0..<120) { attached in
      try attached.store.write { tx in
        for _ in 0..<200 {
          let instead = numbers.oneIn(3) ? try Reference(pod(numbers.below(150))) : nil
          try tx.insert(
            PodNote(
              pod: try Reference(pod(numbers.below(150))), instead: instead,
              stars: numbers.below(10)))
        }
      }
      for _ in 0..<6 {
        let (stars, ownStars) = (numbers.below(8), numbers.below(11))
        let (limit, offset) = (numbers.below(30), numbers.oneIn(2) ? numbers.below(20) : 0)
        let isLimited = numbers.oneIn(2)
        for keyLimit in [0, 3, SemiJoinLimits.keys] {
          try attached.read { snapshot in
            try snapshot.withKeyLimit(keyLimit) { snapshot in
              try expectLeading(snapshot, stars, ownStars, isLimited ? (limit, offset) : nil)
              try expectReferred(snapshot, stars, ownStars, isLimited ? (limit, offset) : nil)
            }
          }
        }
      }
    }
  }

  @Test func `conditions over a dataset take an offset next to the greatest limit`() throws {
    try withAttached(pods: 0..<20) { attached in
      try attached.store.write { tx in
        for number in 0..<20 { try tx.insert(PodNote(pod: try Reference(pod(number)))) }
      }
      try attached.read { snapshot throws in
        let notes = PodNote.all.limit(.max).offset(1)
        #expect(try snapshot.count(notes.leading(by: \.pod, to: Pod.all)) == 19)
      }
    }
  }

  @Test func `conditions over a dataset hold at most a few megabytes of keys in memory`() throws {
    typealias Long = Keyed<String>
    let dataset = try Store.inMemory(entities: [Long.self])
    let store = try Store.inMemory(entities: [Pointing<Long>.self])
    defer {
      dataset.close()
      store.close()
    }
    let text = String(repeating: "k", count: 16_384)
    let records = (0..<1_100).map { Long(key: "\(text)\($0)") }
    try dataset.write { tx in _ = try tx.insert(records) }
    try store.write { tx in
      for record in records.prefix(3) { try tx.insert(Pointing(target: try Reference(record))) }
    }
    let pointing = Pointing<Long>.all
    try store.attach(dataset).read { snapshot throws in
      #expect(try snapshot.count(pointing.leading(by: \.target, to: Long.all)) == 3)
      let some = Long.all.limit(900)
      #expect(try snapshot.count(pointing.leading(by: \.target, to: some)) == 3)
      let error = #expect(throws: StoreError.self) {
        try snapshot.count(pointing.leading(by: \.target, to: Long.all.limit(1_100)))
      }
      #expect(error?.code == .invalidQuery && error?.message.contains("16 MiB") == true)
    }
  }

  private func expectLeading(
    _ snapshot: borrowing AttachedSnapshot, _ stars: Int, _ ownStars: Int,
    _ window: (limit: Int, offset: Int)?
  ) throws {
    let pods = Pod.where { $0.stars < stars }
    let all = try snapshot.fetch(PodNote.all)
      .filter { $0.stars < ownStars }.sorted {
        ($0.stars, $0.id.rawValue) > ($1.stars, $1.id.rawValue)
      }
    var query = PodNote.where { $0.stars < ownStars }.sorted(by: \.stars.descending)
    if let window { query = query.limit(window.limit).offset(window.offset) }
    func expected(_ isKept: (PodNote) throws -> Bool) rethrows -> [PodNote] {
      let kept = try all.filter(isKept)
      return window.map { Array(kept.dropFirst($0.offset).prefix($0.limit)) } ?? kept
    }
    func isLow(_ reference: Reference<Pod>?) throws -> Bool {
      (try snapshot.resolve(reference)?.stars ?? .max) < stars
    }
    let cases = try [
      (query.leading(by: \.pod, to: pods), expected { try isLow($0.pod) }),
      (query.notLeading(by: \.pod, to: pods), expected { try !isLow($0.pod) }),
      (query.leading(by: \.instead, to: pods), expected { try isLow($0.instead) }),
      (query.notLeading(by: \.instead, to: pods), expected { try !isLow($0.instead) }),
      (
        query.leading(by: \.pod, to: pods).notLeading(by: \.instead, to: Pod.all),
        expected { try isLow($0.pod) && snapshot.resolve($0.instead) == nil }
      ),
    ]
    for (query, expected) in cases {
      #expect(try snapshot.fetch(query) == expected, "\(SeededNumbers.replay)")
      #expect(try snapshot.count(query) == expected.count)
      #expect(try snapshot.ids(query) == expected.map(\.id))
      #expect(try snapshot.first(query) == expected.first)
      #expect(try snapshot.fetch(query, resolving: \.pod).map(\.record) == expected)
    }
  }

  private func expectReferred(
    _ snapshot: borrowing AttachedSnapshot, _ stars: Int, _ ownStars: Int,
    _ window: (limit: Int, offset: Int)?
  ) throws {
    let notes = PodNote.where { $0.stars < ownStars }
    let found = try snapshot.fetch(notes)
    let (byPod, byInstead) = (Set(found.map(\.pod)), Set(found.compactMap(\.instead)))
    let all = try snapshot.dataset.fetch(Pod.all).filter { $0.stars < stars }
      .sorted { ($0.name, $0.id.rawValue) < ($1.name, $1.id.rawValue) }
    var query = Pod.where { $0.stars < stars }.sorted(by: \.name)
    if let window { query = query.limit(window.limit).offset(window.offset) }
    func expected(_ isKept: (Pod) throws -> Bool) rethrows -> [Pod] {
      let kept = try all.filter(isKept)
      return window.map { Array(kept.dropFirst($0.offset).prefix($0.limit)) } ?? kept
    }
    let cases = try [
      (query.referred(by: \.pod, of: notes), expected { byPod.contains(try Reference($0)) }),
      (query.notReferred(by: \.pod, of: notes), expected { !byPod.contains(try Reference($0)) }),
      (
        query.referred(by: \.instead, of: notes), expected { byInstead.contains(try Reference($0)) }
      ),
      (
        query.notReferred(by: \.instead, of: notes),
        expected { !byInstead.contains(try Reference($0)) }
      ),
    ]
    for (query, expected) in cases {
      #expect(try snapshot.fetch(query) == expected, "\(SeededNumbers.replay)")
      #expect(try snapshot.count(query) == expected.count)
      #expect(try snapshot.ids(query) == expected.map(\.id))
    }
  }

  @Test func `a limit of the other query counts before the condition`() throws {
    try withAttached(pods: 0..<50) { attached in
      try attached.store.insert(
        try (0..<50).map { PodNote(pod: try Reference(pod($0)), stars: $0) })
      try attached.read { snapshot in
        for keyLimit in [0, SemiJoinLimits.keys] {
          try snapshot.withKeyLimit(keyLimit) { snapshot in
            let best = Pod.all.sorted(by: \.stars.descending, \.name.ascending).limit(3)
            let notes = try snapshot.fetch(PodNote.all.leading(by: \.pod, to: best))
            #expect(notes.map(\.stars) == [13, 20, 27])
            let newest = PodNote.all.sorted(by: \.stars.descending).limit(2)
            let pods = try snapshot.fetch(Pod.all.referred(by: \.pod, of: newest))
            #expect(pods.map(\.name) == ["pod48", "pod49"])
          }
        }
      }
    }
  }

  @Test func `a query with a limit that finds too many keys is refused`() throws {
    try withAttached(pods: 0..<50) { attached in
      try attached.store.insert(
        try (0..<50).map { PodNote(pod: try Reference(pod($0)), stars: $0) })
      try attached.read { snapshot in
        var snapshot = AttachedSnapshot(snapshot.core, snapshot.dataset.core)
        snapshot.boundedKeyLimit = 10
        let fitting = Pod.all.sorted(by: \.name).limit(10)
        #expect(try snapshot.count(PodNote.all.leading(by: \.pod, to: fitting)) == 10)
        for tooMany in [Pod.all.limit(11), Pod.all.offset(5)] {
          let error = try storeError(.invalidQuery) {
            try snapshot.fetch(PodNote.all.leading(by: \.pod, to: tooMany))
          }
          #expect(error.message.contains("finds more than 10 keys"))
        }
        _ = try storeError(.invalidQuery) {
          try snapshot.fetch(Pod.all.referred(by: \.pod, of: PodNote.all.limit(11)))
        }
      }
    }
  }

  @Test func `the cheaper side is read first, and the plan names that side`() throws {
    try withAttached(pods: 0..<5_000) { attached in
      try attached.store.write { tx in
        for number in 0..<3_000 { try tx.insert(PodNote(pod: try Reference(pod(number)))) }
      }
      let first = try Reference(pod(1))
      try attached.read { snapshot in
        let one = Pod.where { $0.name == "pod7" }
        let keys = try snapshot.explain(PodNote.all.leading(by: \.pod, to: one))
        #expect(keys.checkCount == 0 && keys.query.index == "PodNote.pod")
        #expect(keys.description.contains("keys    by PodNote.pod: about 1 of Pod asked for first"))
        // The condition finds all pods except a few, among them the pods of the first notes.
        let most = Pod.where { $0.stars > 0 }
        let checks = try snapshot.explain(PodNote.all.limit(5).leading(by: \.pod, to: most))
        #expect(checks.checkCount == 1)
        #expect(
          checks.description.contains(
            "checks  by PodNote.pod: on 1024 records at a time, looked up in Pod"))
        let referred = try snapshot.explain(
          Pod.all.referred(by: \.pod, of: PodNote.where { $0.pod.isIn([first]) }))
        #expect(referred.checkCount == 0)
        #expect(try snapshot.count(Pod.all.notReferred(by: \.pod, of: PodNote.all)) == 2_000)
      }
    }
  }

  @Test
  func `conditions over a dataset have the errors of queries, and pass on those of a closure`()
    throws
  {
    struct Own: Error {}
    try withAttached(pods: 0..<5) { attached in
      try attached.store.insert(PodNote(pod: try Reference(pod(1))))
      try attached.read { snapshot in
        for keyLimit in [0, 10] {
          try snapshot.withKeyLimit(keyLimit) { snapshot in
            let query = PodNote.all.leading(by: \.pod, to: Pod.all)
            #expect(throws: Own.self) { try snapshot.forEach(query) { _ in throw Own() } }
            let negative = PodNote.all.limit(-1).leading(by: \.pod, to: Pod.all)
            _ = try storeError(.invalidQuery) { try snapshot.fetch(negative) }
          }
        }
      }
    }
  }
}

extension AttachedSnapshot {
  /// Runs `body` with `limit` as the maximum number of keys that a query holds in memory.
  fileprivate func withKeyLimit(
    _ limit: Int, _ body: (borrowing AttachedSnapshot) throws -> Void
  ) throws {
    var snapshot = AttachedSnapshot(core, dataset.core)
    snapshot.keyLimit = limit
    try body(snapshot)
  }
}
