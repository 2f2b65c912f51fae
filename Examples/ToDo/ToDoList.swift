import Foundation
public import Lodestore

/// A to-do list in a file, which any number of programs may have open at once.
public struct ToDoList: Sendable {
  /// The store, for operations that this type does not offer.
  public let store: Store
  /// The author of this list's writes.
  ///
  /// ``undo()`` undoes the last write of this author.
  public let author: String

  /// Opens the list at `path`, and makes it if it does not exist.
  public init(at path: String, author: String) throws {
    self.author = author
    store = try Store(at: path, entities: [ToDoItem.self], options: Self.options(author))
    try store.purgeHistory(before: .now.addingTimeInterval(-7 * 86_400))
  }

  private init(inMemoryBy author: String) throws {
    self.author = author
    store = try .inMemory(entities: [ToDoItem.self], options: Self.options(author))
  }

  /// Makes a list in memory for tests and previews; it is deleted with its last reference.
  public static func inMemory(author: String = "preview") throws -> ToDoList {
    try ToDoList(inMemoryBy: author)
  }

  private static func options(_ author: String) -> StoreOptions {
    var options = StoreOptions()
    options.author = author
    return options
  }

  // MARK: Reading

  /// Reads all items, the oldest first.
  ///
  /// If the task is cancelled, the fetch throws `CancellationError`.
  ///
  /// - Parameter onProgress: The closure for the progress, called on a thread of the store.
  public func items(
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> [ToDoItem] {
    try await store.fetch(ToDoItem.oldestFirst, onProgress: onProgress)
  }

  /// Returns a page of the list, and the token of the next page.
  ///
  /// A page costs the same at any depth. If others add or delete items between two pages, no item
  /// is left out or repeated.
  public func page(
    _ query: Query<ToDoItem> = ToDoItem.newestFirst, of size: Int,
    after token: ContinuationToken? = nil
  ) async throws -> Page<ToDoItem> {
    try await store.read { try $0.page(query.limit(size).continuing(after: token)) }
  }

  /// Returns updates of the newest items, one after each change by any program.
  public func newest(_ count: Int) -> ResultUpdates<ToDoItem> {
    store.updates(of: ToDoItem.newestFirst.limit(count))
  }

  /// Returns updates of the number of items and of finished items.
  public func counts() -> ValueUpdates<Counts> {
    store.updates { snapshot in
      Counts(
        all: try snapshot.count(ToDoItem.all), done: try snapshot.count(ToDoItem.finished))
    }
  }

  /// The number of items, and the number of items that are done.
  public struct Counts: Sendable, Equatable {
    /// All items.
    public var all: Int
    /// The number of items that are done.
    public var done: Int
  }
}
