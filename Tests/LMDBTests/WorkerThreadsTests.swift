import LodestoreSystem
@testable import LMDB
import Synchronization
import Testing

@Suite struct WorkerThreadsTests {
  @Test func `one thread runs jobs in the order of their requests`() {
    let threads = WorkerThreads(threadCount: 1)
    let order = Mutex<[Int]>([])
    // The first job waits, so that the other jobs queue up.
    let mayGo = SharedNumber()
    #expect(threads.enqueue(.alone { while mayGo.value == 0 { usleep(200) } }) != .refused)
    for number in 0..<3_000 {
      #expect(threads.enqueue(.alone { order.withLock { $0.append(number) } }) != .refused)
    }
    mayGo.add()
    threads.stop()
    #expect(order.withLock { $0 } == Array(0..<3_000))
  }

  /// The release of the last reference to a store does this.
  @Test func `an object that the end of a job releases may stop the threads`() async {
    await #expect(processExitsWith: .success) {
      final class Owner: Sendable {
        let threads: WorkerThreads
        init(_ threads: WorkerThreads) { self.threads = threads }
        deinit { threads.stop(waits: false) }
      }
      alarm(60)
      let threads = WorkerThreads(threadCount: 1, extraLimit: 2)
      let (isOver, isLetGo) = (SharedNumber(), SharedNumber())
      // This job occupies the only regular thread, so that a further one takes the next job.
      threads.submit { while isOver.value == 0 { usleep(200) } }
      var owner: Owner? = Owner(threads)
      threads.submit { [owner] in
        withExtendedLifetime(owner) { while isLetGo.value == 0 { usleep(200) } }
      }
      owner = nil
      isLetGo.add()
      while threads.submit({}) { usleep(1_000) }
      isOver.add()
    }
  }

  @Test func `stopping runs the queued jobs and refuses the rest`() async throws {
    let threads = WorkerThreads(threadCount: 3)
    let ran = SharedNumber()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          _ = try? await threads.run { ran.add() }
        }
      }
    }
    threads.stop()
    #expect(ran.value == 50)
    await #expect(throws: LMDBError.self) { try await threads.run {} }
    threads.stop()
  }

  /// A caller whose job is taken at once looks for its end, but not for long.
  @Test func `successive jobs return results of any type`() async throws {
    let threads = WorkerThreads(threadCount: 2)
    defer { threads.stop() }
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<3 {
        group.addTask {
          for number in 0..<2_000 {
            let result = try? await threads.run {
              if number % 100 == 99 { usleep(1_000) }
              return task * 10_000 + number
            }
            if result != task * 10_000 + number { return false }
          }
          return true
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test func `a job may stop its own threads`() async throws {
    let threads = WorkerThreads(threadCount: 2)
    try await threads.run { threads.stop() }
    await #expect(throws: LMDBError.self) { try await threads.run {} }
  }

  /// Runs nested jobs.
  ///
  /// Each job waits until the next one has run, on a thread that asynchronous code does not use.
  private static func nest(_ depth: Int, on threads: WorkerThreads, _ done: SharedNumber) {
    let isDone = Latch()
    threads.submit {
      if depth > 0 { nest(depth - 1, on: threads, done) }
      done.add()
      isDone.set()
    }
    while !isDone.isSet { usleep(500) }
  }

  @Test func `jobs that wait for other jobs get more threads, which end with them`() {
    let threads = WorkerThreads(threadCount: 2, extraLimit: 20)
    let done = SharedNumber()
    Self.nest(7, on: threads, done)
    #expect(done.value == 8)
    while threads.count > 2 { usleep(500) }
    Self.nest(4, on: threads, done)
    #expect(done.value == 13)
    threads.stop()
    #expect(threads.count == 0)
  }

  @Test func `stopping does not wait for jobs that are stuck`() {
    let threads = WorkerThreads(threadCount: 1, extraLimit: 1)
    let ran = SharedNumber()
    for _ in 0..<20 {
      threads.submit {
        usleep(3_000)
        ran.add()
      }
    }
    threads.stop()
    #expect(ran.value == 20)
  }

  /// The long jobs never end by themselves, so a short job that waited for one would wait forever.
  @Test func `a short job does not wait for long ones, whatever their number`() {
    let threads = WorkerThreads(threadCount: 4, extraLimit: 40)
    let isOver = Latch()
    let running = SharedNumber()
    for _ in 0..<16 {
      threads.submit {
        running.add()
        while !isOver.isSet { usleep(5_000) }
      }
    }
    for _ in 0..<100 {
      let isDone = Latch()
      threads.submit { isDone.set() }
      while !isDone.isSet { usleep(100) }
    }
    #expect(running.value == 16)
    isOver.set()
    threads.stop()
  }

  @Test func `urgent jobs run before jobs that wait longer`() async throws {
    let threads = WorkerThreads(threadCount: 1)
    let order = Mutex<[Int]>([])
    let mayGo = SharedNumber()
    _ = threads.enqueue(.alone { while mayGo.value == 0 { usleep(200) } })
    for number in 0..<9 {
      let urgency = JobUrgency.allCases[2 - number % 3]
      _ = threads.enqueue(.alone { order.withLock { $0.append(number) } }, urgency)
    }
    mayGo.add()
    threads.stop()
    #expect(order.withLock { $0 } == [2, 5, 8, 1, 4, 7, 0, 3, 6])
  }

  /// Without this limit, tasks that read without a pause would block less urgent jobs as long as
  /// they read.
  @Test func `a job waits for sixteen more urgent ones at most`() {
    var queue = JobQueue()
    var order: [String] = []
    func append(_ name: String, _ urgency: JobUrgency) {
      queue.append(.alone { order.append(name) }, urgency)
    }
    append("normal", .normal)
    append("low", .low)
    for number in 0..<60 {
      append("\(number)", .high)
      let isFirst = if case .alone? = queue.first { true } else { false }
      #expect(isFirst)
      if case .alone(let body)? = queue.removeFirst() { body() }
    }
    #expect(order.firstIndex(of: "normal") == 17 && order.firstIndex(of: "low") == 16)
    #expect(order.filter { Int($0) != nil } == (0..<58).map(String.init))
    #expect(queue.count == 2)
  }

  @Test func `a job that throws passes its error to the caller`() async throws {
    struct Stop: Error {}
    let threads = WorkerThreads(threadCount: 1)
    defer { threads.stop() }
    await #expect(throws: Stop.self) { try await threads.run { throw Stop() } }
    #expect(try await threads.run { 7 } == 7)
  }

  @Test func `closing a store ends each queued write`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path)
    let tree = try openedTree(of: environment)
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        group.addTask {
          do {
            try await environment.writer.run {
              try put([key(number)], into: tree, of: environment)
              if number == 20 { EnvironmentRegistry.close(environment) }
            }
            return true
          } catch {
            return false
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count == 40)
    let again = try openEnvironment(path)
    let reopened = try openedTree(of: again)
    #expect(try again.read { try $0.count(of: reopened) } == outcomes.filter { $0 }.count)
    EnvironmentRegistry.close(again)
  }
}
