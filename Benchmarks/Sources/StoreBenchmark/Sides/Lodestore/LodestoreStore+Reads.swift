import Foundation
import Lodestore

extension LodestoreStore {
  func reads(_ operation: Operation) -> Work? {
    switch operation {
    case .getUnique: found { try self.getUnique($0) }
    case .getID: found { try self.getIDs($0) }
    case .multiGet: found { try self.multiGet($0) }
    case .fetchAll: found { try $0.fetch(Pod.all) }
    case .fetchTwo:
      timed {
        try self.store.read { try self.sumOfTwo($0) }
      } check: {
        $0
      }
    case .dateRanges: found { try self.fetchRanges($0) }
    case .itemsByDate:
      timed { () throws in
        try self.store.read { try $0.fetch(ToDo.all.sorted(by: \.createdAt.ascending)) }
      } check: {
        Answer($0)
      }
    case .scanNumbers:
      // The dates have an index, which does not serve `!=`, so the scan is measured.
      counted(
        Condition {
          $0.downloads > workload.downloads
          $0.updatedAt != workload.noDate
        })
    case .scanText: counted(Condition { $0.license == workload.license })
    case .countDates: counted(Condition { $0.updatedAt.isIn(workload.tenth) })
    case .idsIn:
      timed { [workload] in
        let names = workload.inNames
        return try self.store.read { try $0.ids(Pod.where { $0.name.isIn(names) }).count }
      } check: {
        Answer(count: $0)
      }
    case .namesIn:
      found { [workload] snapshot in
        let names = workload.inNames
        return try snapshot.fetch(Pod.where { $0.name.isIn(names) })
      }
    case .top:
      found { try $0.fetch(Pod.all.sorted(by: \.downloads.descending).limit(50)) }
    case .firstPages: found { try self.firstPages($0) }
    case .plans:
      timed {
        try self.store.read { try self.plans($0) }
      } check: {
        Answer(count: $0)
      }
    default: nil
    }
  }

  /// A read whose records stay in memory until they are checked.
  private func found(_ body: @escaping (borrowing Snapshot) throws -> [Pod]) -> Work {
    timed {
      try self.store.read { try body($0) }
    } check: {
      Answer($0)
    }
  }

  private func counted(_ condition: Condition<Pod>) -> Work {
    timed {
      try self.store.read { try $0.count(Pod.where(condition)) }
    } check: {
      Answer(count: $0)
    }
  }

  // MARK: By keys

  private func getUnique(_ snapshot: borrowing Snapshot) throws -> [Pod] {
    let index = Pod.index(\.name, \.version)
    var found: [Pod] = []
    found.reserveCapacity(workload.wanted.count)
    for place in workload.wanted {
      let wanted = workload.pods[Int(place)]
      if let pod = try snapshot.fetch(index.key(wanted.name, wanted.version)) {
        found.append(pod)
      }
    }
    return found
  }

  private func getIDs(_ snapshot: borrowing Snapshot) throws -> [Pod] {
    var found: [Pod] = []
    found.reserveCapacity(workload.wanted.count)
    for place in workload.wanted {
      if let pod = try snapshot.fetch(RecordID<Pod>(rawValue: UInt64(place) + 1)) {
        found.append(pod)
      }
    }
    return found
  }

  private func multiGet(_ snapshot: borrowing Snapshot) throws -> [Pod] {
    let keys = workload.manyPlaces.map { place in
      let pod = workload.pods[Int(place)]
      return (pod.name, pod.version)
    }
    return try snapshot.fetch(Pod.index(\.name, \.version), keys: keys).compactMap { $0 }
  }

  // MARK: Scans and dates

  private func sumOfTwo(_ snapshot: borrowing Snapshot) throws -> Answer {
    var count = 0
    var sum: UInt64 = 0
    try snapshot.forEachView(Pod.all) { pod in
      let name = pod.name.bytes
      let first = name.withUnsafeBytes { $0.first ?? 0 }
      sum &+= UInt64(truncatingIfNeeded: pod.downloads) &+ UInt64(name.byteCount) &+ UInt64(first)
      count &+= 1
    }
    return Answer(count: count, hash: sum)
  }

  private func fetchRanges(_ snapshot: borrowing Snapshot) throws -> [Pod] {
    var found: [Pod] = []
    for dates in workload.ranges {
      found += try snapshot.fetch(
        Pod.where { $0.updatedAt.isIn(dates) }.sorted(by: \.updatedAt.ascending))
    }
    return found
  }

  private func firstPages(_ snapshot: borrowing Snapshot) throws -> [Pod] {
    let newest = Pod.all.sorted(by: \.updatedAt.descending).limit(50)
    var page: [Pod] = []
    for _ in 0..<Amounts.firstPages { page = try snapshot.fetch(newest) }
    return page
  }

  private func plans(_ snapshot: borrowing Snapshot) throws -> Int {
    let date = workload.tenth.lowerBound
    // The limit of 0 leaves only the binding to the schema and the planning. Each condition is
    // different, because the store reuses plans.
    for number in 0..<1_000 {
      let three = Pod.where {
        $0.license == "MIT"
        $0.downloads > 1_000_000 + Int64(number)
        $0.updatedAt < date
      }
      _ = try snapshot.fetch(three.limit(0))
    }
    return 1_000
  }
}
