public import Foundation
public import Lodestore

extension ToDoList {
  /// Adds an item.
  @discardableResult
  public func add(_ title: String, at time: Date = .now) async throws -> ToDoItem {
    try await store.insert(ToDoItem(title: title, createdAt: time))
  }

  /// Adds many items in chunks, between which other programs can write.
  public func add(
    _ items: some Sequence<ToDoItem> & Sendable,
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws {
    try await store.insert(
      items, inChunksOf: 50_000, returning: .counts, onProgress: onProgress)
  }

  /// Marks the items from before `date` as done in one write, and returns their number.
  @discardableResult
  public func finish(createdBefore date: Date) async throws -> Int {
    let query = ToDoItem.open.where { $0.createdAt < date }
    return try await store.update(query) { $0.done = true }
  }

  /// Deletes the finished items in one write, and returns their number.
  @discardableResult
  public func deleteFinished() async throws -> Int {
    try await store.delete(ToDoItem.finished)
  }

  /// Undoes the last write of this list's author; a second call undoes the first call.
  ///
  /// - Returns: The number of changed items; `nil` if there is nothing to undo.
  /// - Throws: ``StoreError/Code/cannotUndo`` if another author has changed the same items since.
  @discardableResult
  public func undo() async throws -> Int? {
    try await store.write { [author] tx in
      var last: HistoryToken?
      try tx.forEachWrite(.all.by(authors: author).withoutChanges()) { write, _ in
        last = write.token
      }
      return try last.map { try tx.undo($0) }
    }
  }
}
