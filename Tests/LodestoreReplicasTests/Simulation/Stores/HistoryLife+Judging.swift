#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import LodestoreVerifier

  @testable import LodestoreReplicas

  extension HistoryLife {
    /// Restores the replica, takes over, writes, and restores again.
    func judge() async {
      do {
        let restored = try await restored("restored")
        defer { restored.close() }
        let digests = try HistoryContent.digests(of: restored)
        try history.observe(restored, "the restored store")
        check(try HistoryContent.serials(of: restored), digests)
        for _ in 0..<2 where history.keepsConditions { try await judgePointInTime() }
        var options = ReplicaRestoreOptions()
        options.ignoresLease = true
        let taken = try await Replica.takeOver(storage, at: storePath, options: options)
        let store = try Store(at: taken.path, entities: [Note.self], options: Note.options)
        defer { store.close() }
        if try HistoryContent.digests(of: store) != digests {
          history.fail("the store of the last takeover is not the restored one")
        }
        let writer = try await Replica.writer(store, to: storage, options: newWriterOptions())
        var serials: [Int] = []
        for _ in 0..<3 { try commit(store, &serials) }
        try await writer.stop()
        let again = try await self.restored("restored-again")
        defer { again.close() }
        if try HistoryContent.digests(of: again) != HistoryContent.digests(of: store) {
          history.fail("the second restored store is not the writer's")
        }
      } catch {
        if history.isHonest {
          history.fail("at the end: \((error as? ReplicaError)?.message ?? "\(error)")")
        }
        history.hasReport = true
      }
    }

    private func restored(_ file: String) async throws -> Store {
      let path = "\(folder)/\(file).lodestore"
      let report = try await Replica.restore(storage, at: path)
      let last = history.oracle.last
      if history.isHonest, report.slot != last?.slot {
        history.fail(
          "restored to slot \(report.slot) of \(last?.slot ?? 0): \(report.incompleteReason ?? "")")
      }
      history.verify(path, "the restored store")
      return try Store(at: path, entities: [Note.self], options: .readOnly)
    }

    private func check(_ serials: [Int], _ digests: ReplayDigests) {
      if history.isHonest, let last = history.oracle.last,
        let expected = history.oracle.digests(after: last.slot), digests.contentDigests != expected
      {
        history.fail("the restored store has other digests than the last entry")
      }
      let lost = history.acknowledged.subtracting(serials)
      if let first = lost.min(), history.keepsConditions || !history.hasReport {
        history.fail("write \(first) was reported as replicated, and is lost")
      }
      for (name, writes) in history.fencedWrites where history.keepsConditions {
        guard let first = writes.subtracting(serials).min() else { continue }
        history.fail("write \(first) of \(name) is in no replica, and was not exported")
      }
    }

    /// Restores an earlier state, if the replica keeps it.
    private func judgePointInTime() async throws {
      let entries = history.oracle.entries
      let index = history.below(entries.count)
      let (entry, slot) = (entries[index], UInt64(index) + 1)
      let lastWrite = history.oracle.last?.entry.lastWrite ?? 0
      let target: ReplicaRestoreTarget =
        switch history.below(3) {
        case 0: .slot(slot)
        case 1: .write(UInt64(history.below(Int(lastWrite) + 1)))
        default: .time(Date(timeIntervalSinceReferenceDate: entry.time))
        }
      let path = "\(folder)/earlier.lodestore"
      defer { for end in ["", "-lock"] { HistoryFiles.remove(path + end) } }
      let report: ReplicaRestoreReport
      do {
        report = try await Replica.restore(storage, to: target, at: path)
      } catch let error as ReplicaError where error.code == .notKept || error.code == .noBase {
        return history.note("\(target): \(error.message)")
      }
      history.count(.pointsInTime)
      let store = try Store(at: path, entities: [Note.self], options: .readOnly)
      defer { store.close() }
      let isWhole = if case .slot = target { true } else { false }
      try history.observe(store, "the store restored to \(target)", hasBuckets: isWhole)
      let digests = try HistoryContent.digests(of: store).contentDigests
      let isWanted =
        switch target {
        case .slot(let slot):
          report.slot == slot
            && history.oracle.digests(after: slot).map { $0 == digests } ?? true
        case .write(let number): report.lastWrite == number
        default: report.time.map { $0.timeIntervalSinceReferenceDate <= entry.time } ?? true
        }
      if !isWanted { history.fail("the store restored to \(target) is another state: \(report)") }
    }
  }

  extension StoreHistory {
    /// Checks a file that nobody has open.
    func verify(_ path: String, _ name: String) {
      do {
        let report = try Verifier.verify(path: path)
        if !report.isSound { fail("\(name) is damaged: \(report.findings.prefix(3))") }
      } catch { fail("\(name) cannot be verified: \(error)") }
    }
  }
#endif
