import Lodestore

/// The extra cost of an asynchronous call over the same call on the calling thread, in
/// microseconds.
extension LodestoreStore {
  func calls(_ operation: Operation) -> Work? {
    switch operation {
    case .asyncRead:
      .figure {
        let direct = try Sample.wallSeconds { try self.readDirectly() }
        let start = ContinuousClock.now
        for place in 0..<Amounts.calls {
          let id = self.id(place)
          _ = try await self.store.read { try $0.fetch(id) }
        }
        return (Sample.seconds(since: start) - direct) / Double(Amounts.calls) * 1e6
      }
    case .asyncWrite:
      // The writes change nothing, so the figure does not include the disk.
      .figure {
        let direct = try Sample.wallSeconds { try self.writeDirectly() }
        let start = ContinuousClock.now
        for _ in 0..<Amounts.calls { try await self.store.write { _ in } }
        return (Sample.seconds(since: start) - direct) / Double(Amounts.calls) * 1e6
      }
    case .fetchAsync:
      .timed {
        let pods = try await self.store.fetch(Pod.all) { _ in }
        return { Answer(pods) }
      }
    case .fetchBatches:
      .timed {
        var batches: [[Pod]] = []
        for try await batch in self.store.batches(of: Amounts.batch, Pod.all) {
          batches.append(batch)
        }
        let found = batches
        return { Answer(found.flatMap { $0 }) }
      }
    default: nil
    }
  }

  private func id(_ place: Int) -> RecordID<Pod> {
    RecordID(rawValue: UInt64(workload.wanted[place % workload.wanted.count]) + 1)
  }

  private func readDirectly() throws {
    for place in 0..<Amounts.calls {
      let id = id(place)
      _ = try store.read { try $0.fetch(id) }
    }
  }

  private func writeDirectly() throws {
    for _ in 0..<Amounts.calls { try store.write { _ in } }
  }
}
