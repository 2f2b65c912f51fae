import Foundation
import Lodestore
import Synchronization
import TestSupport
import Testing
@testable import ToDo

@Suite struct ToDoListTests {
  private static let end = Date(timeIntervalSince1970: 1_750_000_000)

  /// Runs `body` with a list of `count` items, and verifies the file of the list afterwards.
  private func withList(_ count: Int, _ body: (ToDoList) async throws -> Void) async throws {
    try await withStorePath { path in
      let list = try ToDoList(at: path, author: "me")
      defer { list.store.close() }
      try await list.add(SampleItems(count, until: Self.end))
      try await body(list)
    }
  }

  @Test func `a fetch is sorted and reports its progress`() async throws {
    try await withList(20_000) { list in
      let told = Mutex<[WorkProgress]>([])
      let items = try await list.items { step in told.withLock { $0.append(step) } }
      #expect(items.count == 20_000)
      #expect(items.map(\.createdAt) == items.map(\.createdAt).sorted())
      let steps = told.withLock { $0 }
      #expect(steps.last == WorkProgress(completed: 20_000, total: 20_000))
      #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
    }
  }

  @Test func `a fetch ends in its midst when its task is cancelled`() async throws {
    try await withList(50_000) { list in
      let (steps, report) = AsyncStream.makeStream(of: WorkProgress.self)
      let isCancelled = DispatchSemaphore(value: 0)
      let task = Task {
        try await list.items { step in
          report.yield(step)
          // The fetch continues only after the task has been cancelled.
          isCancelled.wait()
          isCancelled.signal()
        }
      }
      var iterator = steps.makeAsyncIterator()
      let first = await iterator.next()
      task.cancel()
      isCancelled.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(first?.total == 50_000)
      #expect(first.map { $0.completed < 50_000 } == true)
    }
  }

  @Test func `pages form the whole list, also while others add and delete`() async throws {
    try await withList(1_000) { list in
      let expected = try await list.items().map(\.id).reversed()
      var ids: [ToDoItem.ID] = []
      var token: ContinuationToken?
      repeat {
        let page = try await list.page(of: 64, after: token)
        ids += page.items.map(\.id)
        token = page.next
        if let first = ids.first { try await list.store.delete(first) }
        try await list.add("comes on top", at: Self.end.addingTimeInterval(60))
      } while token != nil
      #expect(ids == Array(expected))
    }
  }

  @Test func `batches tick off and delete by an index`() async throws {
    try await withList(1_000) { list in
      let half = Self.end.addingTimeInterval(-500 * 60)
      #expect(try await list.finish(createdBefore: half) == 500)
      #expect(try await list.finish(createdBefore: half) == 0)
      #expect(try await list.deleteFinished() == 500)
      #expect(try await list.items().first?.createdAt == half)
      let plan = try await list.store.read {
        try $0.explain(ToDoItem.open.where { $0.createdAt < half }, for: .update)
      }
      #expect(!plan.isScan, "\(plan)")
    }
  }

  @Test func `an undo takes back a batch, and a second undo restores it`() async throws {
    try await withList(1_000) { list in
      let before = try await list.items()
      try await list.finish(createdBefore: Self.end)
      #expect(try await list.undo() == 1_000)
      #expect(try await list.items() == before)
      #expect(try await list.undo() == 1_000)
      try await list.deleteFinished()
      #expect(try await list.items().isEmpty)
      #expect(try await list.undo() == 1_000)
      #expect(try await list.items().map(\.id) == before.map(\.id))
    }
  }

  @Test func `an undo keeps the changes of others`() async throws {
    try await withList(10) { list in
      try await list.finish(createdBefore: Self.end)
      try await list.store.write(author: "somebody") { tx in
        let item = ToDoItem(title: "by somebody", createdAt: Self.end)
        return try tx.insert(item)
      }
      #expect(try await list.undo() == 10)
      #expect(try await list.items().map(\.title).contains("by somebody"))
    }
  }

  @Test func `an undo is refused if others changed its items`() async throws {
    try await withList(10) { list in
      try await list.finish(createdBefore: Self.end)
      try await list.store.write(author: "somebody") { tx in
        _ = try tx.delete(ToDoItem.finished.sorted(by: \.createdAt).limit(1))
      }
      let error = await #expect(throws: StoreError.self) { try await list.undo() }
      #expect(error?.code == .cannotUndo)
    }
  }

  @Test func `a new list has no change to undo`() async throws {
    #expect(try await ToDoList.inMemory().undo() == nil)
  }

  @Test func `the newest items follow each change`() async throws {
    try await withList(100) { list in
      var updates = list.newest(3).makeAsyncIterator()
      #expect(try await updates.next()?.items.count == 3)
      try await list.add("new", at: Self.end)
      let update = try await updates.next()
      #expect(update?.items.first?.title == "new")
      #expect(update?.difference?.inserted.map(\.index) == [0])
      #expect(update?.difference?.deleted.map(\.index) == [2])
    }
  }

  @Test func `the counts of a list follow each change`() async throws {
    try await withList(10) { list in
      var counts = list.counts().makeAsyncIterator()
      #expect(try await counts.next() == .init(all: 10, done: 0))
      try await list.finish(createdBefore: Self.end)
      #expect(try await counts.next() == .init(all: 10, done: 10))
    }
  }
}
