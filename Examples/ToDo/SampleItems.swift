import Foundation

/// Items for trying the program.
///
/// Their times are one minute apart, and the last one is at `end`.
public struct SampleItems: Sequence, IteratorProtocol, Sendable {
  private static let verbs = ["Water", "Call", "Repair", "Read", "Pay", "Sort", "Paint", "Return"]
  private static let objects = [
    "the plants", "the bank", "the bicycle", "the manual", "the rent", "the photos", "the fence",
    "the books", "the keys",
  ]
  private let count: Int
  private let start: Date
  private var number = 0

  /// A sequence of `count` items, one a minute, the last of them at `end`.
  public init(_ count: Int, until end: Date = .now) {
    self.count = count
    start = end.addingTimeInterval(-60 * Double(count))
  }

  /// The next item.
  ///
  /// Older items come first.
  public mutating func next() -> ToDoItem? {
    guard number < count else { return nil }
    defer { number += 1 }
    let verb = Self.verbs[number % Self.verbs.count]
    let object = Self.objects[number % Self.objects.count]
    return ToDoItem(
      title: "\(verb) \(object)", createdAt: start.addingTimeInterval(60 * Double(number)))
  }
}
