#if Datasets
  import EntityStore
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  @Suite("Merged packs")
  struct PackMergeTests {
    /// The state of a store as dictionaries.
    struct Model: Equatable {
      var records: [EntityNumber: [UInt64: [UInt8]]] = [:]
      var links: [UInt32: Set<LinkPair>] = [:]
      var nextIDs: [EntityNumber: UInt64] = [:]

      mutating func apply(_ step: ReplayStep) {
        for deleted in step.deleted {
          for id in deleted.ids { records[deleted.entity, default: [:]][id] = nil }
        }
        for put in step.records {
          for (index, id) in put.ids.enumerated() {
            records[put.entity, default: [:]][id] = Array(put.bytes[put.range(at: index)])
          }
        }
        for links in step.links {
          for pair in links.pairs {
            if links.kind == .added {
              self.links[links.relationship, default: []].insert(pair)
            } else {
              self.links[links.relationship, default: []].remove(pair)
            }
          }
        }
        nextIDs.merge(step.nextIDs) { max($0, $1) }
      }

      func applying(_ steps: [ReplayStep]) -> Model {
        var model = self
        for step in steps { model.apply(step) }
        model.records = model.records.filter { !$0.value.isEmpty }
        model.links = model.links.filter { !$0.value.isEmpty }
        return model
      }
    }

    @Test func `merged packs lead to the state of the packs one after the other`() throws {
      for round in 0..<SeededChanges.caseCount(byDefault: 40) {
        var changes = SeededChanges(salt: 500 + UInt64(round))
        let shape = SeededChanges.Shape(ids: 30, hasPlaces: round % 2 == 0)
        let base = Model().applying(changes.steps(10, shape))
        let steps = changes.steps(.random(in: 1...80, using: &changes), shape)
        // A small limit makes a run of every few changes.
        let merged = try Self.merged(steps, memoryLimit: round % 3 == 0 ? 4_000 : 64 << 20)
        #expect(base.applying(merged) == base.applying(steps), "\(round) \(SeededChanges.replay)")
        #expect(merged.flatMap(\.places).count >= steps.flatMap(\.places).count)
        if !shape.hasPlaces { #expect(Self.repeats(merged) == 0) }
      }
    }

    @Test func `merged merges lead to the same state`() throws {
      var changes = SeededChanges(salt: 900)
      let shape = SeededChanges.Shape(ids: 50, continues: false)
      let steps = changes.steps(200, shape)
      let parts = try stride(from: 0, to: 200, by: 25).flatMap { start in
        try Self.merged(Array(steps[start..<start + 25]))
      }
      #expect(Model().applying(try Self.merged(parts)) == Model().applying(steps))
    }

    @Test func `a record that no base can have is left out when it is deleted again`() throws {
      var put = ReplayStep(writes: 1...1, time: 0, author: "a", context: nil)
      var records = ReplayStep.Records(of: 1)
      for id in [4, 5, 6] as [UInt64] { records.append(id, [1, 2, 3, 4, 5, 6]) }
      put.records = [records]
      var delete = ReplayStep(writes: 2...2, time: 1, author: "b", context: nil)
      delete.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([4..<6]))]
      var merge = try PackMerge(nextIDsBefore: [1: 5])
      try merge.add([put, delete])
      let steps = try LogEntry(Entries.head(2), try merge.finish()).content().steps
      #expect(steps.count == 1)
      #expect(steps[0].writes == 1...2 && steps[0].time == 1 && steps[0].author == nil)
      #expect(steps[0].records.map(\.ids) == [[6]])
      #expect(steps[0].deleted.map { Array($0.ids) } == [[4]])
    }

    @Test func `a unit ends before a change of a record that a place refers to`() throws {
      var place = ReplayStep(writes: 1...1, time: 0, author: nil, context: nil)
      place.links = [
        HistoryPart.Links(relationship: 1, kind: .added, pairs: [LinkPair(from: 1, to: 8)])
      ]
      place.places = [
        ReplayStep.Places(
          relationship: 1, side: .from,
          places: [ReplayStep.Place(owner: 1, other: 8, previous: 7)])
      ]
      var other = ReplayStep(writes: 2...2, time: 0, author: nil, context: nil)
      other.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([9..<10]))]
      var removed = ReplayStep(writes: 3...3, time: 0, author: nil, context: nil)
      removed.links = [
        HistoryPart.Links(relationship: 1, kind: .removed, pairs: [LinkPair(from: 1, to: 7)])
      ]
      let merged = try Self.merged([place, other, removed])
      #expect(merged.map(\.writes) == [1...2, 3...3])
      #expect(merged.map(\.continues) == [false, false])
      #expect(merged.map(\.places.count) == [1, 0])
    }

    @Test func `buckets of a merge are those that the caller adds`() throws {
      var changes = SeededChanges(salt: 901)
      let bucket = changes.bucket("settings")
      let steps = changes.steps(5)
      var merge = try PackMerge()
      try merge.add(steps)
      try merge.add(bucket)
      let entry = try LogEntry(Entries.head(steps[4].writes.upperBound), try merge.finish())
      #expect(try entry.content().buckets == [bucket])
    }

    @Test func `runs beyond their limit end the merge`() throws {
      var changes = SeededChanges(salt: 902)
      let steps = changes.steps(200)
      let error = try #require(throws: PackError.self) {
        var merge = try PackMerge(memoryLimit: 2_000, runLimit: 5_000)
        try merge.add(steps)
        _ = try merge.finish()
      }
      #expect(error.code == .tooLarge)
    }

    static func merged(
      _ steps: [ReplayStep], memoryLimit: Int = 64 << 20
    ) throws -> [ReplayStep] {
      var merge = try PackMerge(memoryLimit: memoryLimit)
      try merge.add(steps)
      return try LogEntry(
        Entries.head(steps.last?.writes.upperBound ?? 1), try merge.finish()
      ).content().steps
    }

    /// How many records are in the steps more than once.
    static func repeats(_ steps: [ReplayStep]) -> Int {
      var seen: Set<[UInt64]> = []
      var count = 0
      for step in steps {
        let ids =
          step.records.flatMap { put in put.ids.map { [UInt64(put.entity.rawValue), $0] } }
          + step.deleted.flatMap { gone in gone.ids.map { [UInt64(gone.entity.rawValue), $0] } }
        for id in ids where !seen.insert(id).inserted { count += 1 }
      }
      return count
    }
  }
#endif
