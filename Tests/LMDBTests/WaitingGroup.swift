import LodestoreSystem
@testable import LMDB
import Testing

/// Asynchronous writes that wait for a held writer, so that they make one group.
struct WaitingGroup: Sendable {
  let environment: Environment
  let tree: Tree

  /// Keeps the writer's thread busy until the test raises the returned number above 0.
  func holdWriter() async throws -> SharedNumber {
    let mayGo = SharedNumber()
    let isHeld = SharedNumber()
    let turn = environment.writer.enqueue(
      .alone {
        isHeld.add()
        while mayGo.value == 0 { usleep(200) }
      })
    try #require(turn != .refused)
    while isHeld.value == 0 { try? await Task.sleep(for: .microseconds(200)) }
    return mayGo
  }

  func untilWaiting(_ count: Int) async {
    while environment.writer.waitingCount.load(ordering: .relaxed) < count {
      try? await Task.sleep(for: .microseconds(200))
    }
  }

  /// Starts `count` writes, one after the other, while the writer is held.
  func ask<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int, WritingTransaction) throws -> R
  ) async throws -> [Task<R, any Error>] {
    let environment = environment
    var tasks: [Task<R, any Error>] = []
    for member in 0..<count {
      tasks.append(
        Task { try await environment.writeTogether { try body(member, $0) } })
      await untilWaiting(member + 1)
    }
    return tasks
  }

  /// Returns the results of `count` writes that wait together.
  func run<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int, WritingTransaction) throws -> R
  ) async throws -> [Result<R, any Error>] {
    let gate = try await holdWriter()
    let tasks = try await ask(count, body)
    gate.add()
    var results: [Result<R, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  func put(_ number: Int) async throws {
    let tree = tree
    try await environment.writeTogether { try $0.put(key(number), [1], in: tree) }
  }

  /// The numbers that are stored as keys.
  func keys() throws -> [Int] {
    try environment.read { transaction in
      var found: [Int] = []
      try Cursor(tree, in: transaction).walk(KeyRange()) { key, _ in
        found.append(number(key))
        return true
      }
      return found
    }
  }
}

/// Runs `body` with a new environment.
func withGroup<R>(
  _ change: (inout EnvironmentOptions) -> Void = { _ in },
  _ body: (WaitingGroup) async throws -> R
) async throws -> R {
  let directory = try TemporaryDirectory()
  let environment = try openEnvironment(directory.file("store")) { options in
    // On a busy machine, one closure may exceed the usual time limit of a group.
    options.longestGroupInSeconds = 60
    change(&options)
  }
  defer { EnvironmentRegistry.close(environment) }
  return try await body(
    WaitingGroup(environment: environment, tree: try openedTree(of: environment)))
}
