import Foundation
import Testing

@testable import EntityStore

@Suite(.serialized) struct `Readers beside a writer` {
  @Test func `processes never see a part of a write, and commits only go forward`() async throws {
    let folder = try TemporaryFolder()
    try Accounts.prepare(folder.storePath)
    let path = folder.storePath
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          try Accounts.transfer(at: path, seconds: 2)
        }
      }
      for _ in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            try Accounts.watch(at: path, seconds: 2)
          }
        }
      }
    }
    try expectSound(path)
  }
}

/// A hundred pods whose stars always add up to the same.
enum Accounts {
  static let count = 100
  static let sum = 100_000

  static func prepare(_ path: String) throws {
    let store = try Store(at: path, entities: [Pod.self])
    try store.write { transaction in
      try transaction.insert(
        (0..<count).map { Pod(name: "\($0)", version: "", stars: sum / count) })
    }
    store.close()
  }

  static func transfer(at path: String, seconds: Double) throws {
    let store = try Store(at: path, entities: [Pod.self])
    var numbers = SeededNumbers(salt: 6)
    let end = Date(timeIntervalSinceNow: seconds)
    var writes = 0
    while Date() < end || writes <= 10 {
      try store.write { transaction in
        for _ in 0..<3 {
          let ids = [numbers.below(count), numbers.below(count)].map {
            RecordID<Pod>(rawValue: UInt64($0 + 1))
          }
          for (id, amount) in zip(ids, [-7, 7]) {
            guard var pod = try transaction.fetch(id) else { continue }
            pod.stars += amount
            pod.updatedAt = Date(timeIntervalSinceReferenceDate: Double(numbers.below(1000)))
            try transaction.update(pod)
          }
        }
      }
      writes += 1
    }
  }

  static func watch(at path: String, seconds: Double) throws {
    let store = try Store(at: path, entities: [Pod.self], options: .readOnly)
    let end = Date(timeIntervalSinceNow: seconds)
    var generation = CommitNumber(0)
    while Date() < end {
      try store.read { snapshot in
        precondition(snapshot.generation >= generation, "a commit went back")
        generation = snapshot.generation
        let pods = try snapshot.fetch(Pod.all)
        precondition(pods.count == count && pods.reduce(0) { $0 + $1.stars } == sum)
        let walked = try snapshot.fetch(Pod.byDate)
        precondition(Set(walked) == Set(pods), "index and records are of different commits")
      }
    }
  }
}
