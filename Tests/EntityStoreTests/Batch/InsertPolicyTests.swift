import Foundation
import Testing

@testable import EntityStore

/// Inserts with the policies that compare attributes.
@Suite struct `Inserts with policies` {
  private static func pod(_ stars: Int, day: Double, _ summary: String?) -> Pod {
    Pod(
      name: "p", version: "1", summary: summary, stars: stars,
      updatedAt: Date(timeIntervalSinceReferenceDate: day))
  }

  /// The stored pod after an insert of `incoming` by one call, by a batch and by a dictionary.
  private func merged(_ incoming: Pod, _ policy: MergePolicy<Pod>) throws -> [Pod] {
    let row: [String: any AttributeValue] = [
      "name": incoming.name, "version": incoming.version, "summary": incoming.summary,
      "stars": incoming.stars, "updatedAt": incoming.updatedAt,
    ]
    let doors: [(inout WriteTransaction) throws -> Void] = [
      { try $0.insert(incoming, onConflict: policy) },
      { try $0.insert([incoming], onConflict: policy) },
      { try $0.insert(Pod.self, dictionaries: [row], onConflict: policy) },
    ]
    return try doors.map { door in
      try withTemporaryStore([Pod.self]) { store in
        try store.insert(Self.pod(2, day: 5, nil))
        try store.write { try door(&$0) }
        var pod = try #require(try store.fetch(Pod.all).first)
        pod.id = .unassigned
        return pod
      }
    }
  }

  @Test func `a policy gives the stored record its missing values`() throws {
    for pod in try merged(Self.pod(9, day: 9, "new"), .fillNulls) {
      #expect(pod == Self.pod(2, day: 5, "new"))
    }
  }

  @Test func `a policy gives the stored record the values with the later date`() throws {
    let policy = MergePolicy<Pod>.newest(by: \.updatedAt)
    for pod in try merged(Self.pod(9, day: 4, "old"), policy) {
      #expect(pod == Self.pod(2, day: 5, nil))
    }
    for pod in try merged(Self.pod(9, day: 6, "new"), policy) {
      #expect(pod == Self.pod(9, day: 6, "new"))
    }
  }

  @Test func `a policy merges a single attribute by a closure`() throws {
    let policy = MergePolicy<Pod>.replace.attribute(\.stars, .merge { $0 + $1 })
    for pod in try merged(Self.pod(9, day: 9, "new"), policy) {
      #expect(pod == Self.pod(11, day: 9, "new"))
    }
  }

  @Test func `a failing policy refuses a record with other values`() throws {
    try withTemporaryStore([Pod.self]) { store in
      let pod = Self.pod(2, day: 5, "same")
      try store.insert(pod)
      let same = try store.insert([pod], onConflict: .failIfDifferent)
      #expect(same.unchangedCount == 1)
      let error = try storeError(.mergeConflict) {
        try store.insert([pod, Self.pod(3, day: 5, "same")], onConflict: .failIfDifferent)
      }
      #expect(error.attribute == "stars" && error.batchPosition == 1)
      _ = try storeError(.mergeConflict) {
        try store.insert(Self.pod(3, day: 5, "same"), onConflict: .failIfDifferent)
      }
    }
  }
}
