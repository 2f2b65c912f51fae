public import Foundation
public import Lodestore

/// Something to be done.
@Entity
public struct ToDoItem: Sendable, Hashable {
  #Index<ToDoItem>([\.createdAt], [\.done, \.createdAt])

  /// The task.
  public var title: String
  /// Whether the task is done.
  public var done: Bool = false
  /// The time of creation, which lists are sorted by.
  public var createdAt: Date

  /// The history records each write with the previous items, so that a write can be undone.
  public static let history = HistoryPolicy<ToDoItem>.kept(images: true)
}

extension ToDoItem {
  /// All items, the oldest first.
  public static let oldestFirst = all.sorted(by: \.createdAt)
  /// All items, the newest first.
  public static let newestFirst = all.sorted(by: \.createdAt.descending)
  /// The items that are not done.
  public static let open = ToDoItem.where { !$0.done }
  /// The items that are done.
  public static let finished = ToDoItem.where { $0.done }
}
