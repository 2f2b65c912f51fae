import Testing

@testable import LodestoreFormat

@Suite struct `Units of replayed changes` {
  private func step(_ write: UInt64, _ change: (inout ReplayStep) -> Void) -> ReplayStep {
    var step = ReplayStep(writes: write...write, time: 0, author: nil, context: nil)
    change(&step)
    return step
  }

  private func records(_ records: [UInt64: [UInt8]]) -> ReplayStep.Records {
    var result = ReplayStep.Records(of: 1)
    for (id, bytes) in records.sorted(by: { $0.key < $1.key }) { result.append(id, bytes) }
    return result
  }

  private func unit(
    _ steps: [ReplayStep], after: UInt64 = 0, _ places: [ReplayPlaces] = []
  ) -> ReplayUnit {
    var end = ReplayEnd(
      storeID: [], after: after, last: steps.last?.writes.upperBound ?? after, schema: [],
      digests: nil)
    end.places = places
    return ReplayUnit(steps: steps, end: end)
  }

  private func links(_ kind: HistoryPart.Links.Kind, _ ids: [UInt64]) -> HistoryPart.Links {
    HistoryPart.Links(
      relationship: 1, kind: kind, pairs: ids.map { LinkPair(from: 1, to: $0) })
  }

  private func places(_ others: [UInt64], after first: UInt64 = 0) -> ReplayPlaces {
    var previous = first
    return ReplayPlaces(
      relationship: 1, side: .from, holder: nil,
      places: others.map { other in
        defer { previous = other }
        return ReplayPlace(owner: 1, other: other, previous: previous)
      })
  }

  @Test
  func `net changes have the last change of each record, and all records of a replaced entity`()
    throws
  {
    let first = step(1) { $0.records = [records([1: [1], 2: [2], 3: [3]])] }
    let second = step(2) {
      $0.records = [records([2: [20]])]
      $0.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([3..<4, 9..<10]))]
    }
    let net = try #require(ReplayUnit.merged([unit([first, second]), unit([], after: 2)]).first)
    #expect(net.steps.map(\.writes) == [1...2] && net.writes == 1..<3)
    #expect(net.steps[0].records == [records([1: [1], 2: [20]])])
    #expect(Array(net.steps[0].deleted[0].ids) == [3, 9])
    let replacing = step(3) {
      $0.replacedEntities = [1]
      $0.records = [records([2: [21], 7: [7]])]
    }
    let last = step(4) { $0.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([2..<3]))] }
    let all = ReplayUnit.merged([net, unit([replacing, last], after: 2)])
    #expect(all.count == 1 && all[0].steps[0].replacedEntities == [1])
    #expect(all[0].steps[0].records == [records([7: [7]])] && all[0].steps[0].deleted.isEmpty)
  }

  @Test
  func `a part of a unit has the places of links that are there, each after one that is there`() {
    let steps = [
      step(1) { $0.links = [links(.added, [12])] }, step(2) { $0.links = [links(.added, [11])] },
      step(3) { $0.links = [links(.moved, [13])] },
    ]
    let whole = unit(steps, [places([11, 12, 13], after: 5)])
    #expect(whole.through(1).end.places == [places([12], after: 5)])
    #expect(whole.through(2).end.places == [places([11, 12], after: 5)])
    #expect(whole.through(3) == whole)
    #expect(whole.through(0).steps.isEmpty && whole.through(0).end.last == 0)
  }

  @Test func `units are merged unless a removed link had been an anchor of a place`() {
    let first = unit([step(1) { $0.links = [links(.added, [8])] }], [places([8], after: 5)])
    func next(_ change: HistoryPart.Links) -> ReplayUnit {
      unit([step(2) { $0.links = [change] }], after: 1)
    }
    #expect(ReplayUnit.merged([first, next(links(.removed, [8]))]).count == 1)
    #expect(ReplayUnit.merged([first, next(links(.added, [9]))]).count == 1)
    #expect(ReplayUnit.merged([first, next(links(.removed, [5]))]).count == 2)
    var other = next(links(.added, [9]))
    other.end.schema = [1]
    #expect(ReplayUnit.merged([first, other]) == [first, other])
  }
}
