public import Foundation
public import Lodestore

/// Something to be done.
@Entity
public struct ToDoItem: Sendable, Hashable {
  #Index<ToDoItem>([\.createdAt], [\.done, \.createdAt])

  /// What is to be done.
  public var title: String
  /// Whether it is.
  public var done: Bool = false
  /// By which lists are ordered.
  public var createdAt: Date

  /// Each write is told in the file, with the items as they were: so one can be taken back.
  public static let history = HistoryPolicy<ToDoItem>.kept(images: true)
}

extension ToDoItem {
  /// All items, the oldest first.
  public static let oldestFirst = all.sorted(by: \.createdAt)
  /// All items, the newest first.
  public static let newestFirst = all.sorted(by: \.createdAt.descending)
  /// What is still to be done.
  public static let open = ToDoItem.where { !$0.done }
  /// What is done.
  public static let finished = ToDoItem.where { $0.done }
}
