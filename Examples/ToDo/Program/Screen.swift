import Foundation
import Lodestore
import Terminal
import ToDo

/// The commands of the program and their output.
struct Screen {
  let list: ToDoList
  let terminal = Terminal.standardOutput

  func fill(_ count: Int) async throws {
    let progress = ProgressLine("Adding", unit: "items", on: terminal)
    try await list.add(SampleItems(count)) { progress.show($0.completed, of: count) }
    progress.finish()
  }

  /// Reads all items, the oldest first.
  ///
  /// - Parameter share: The fraction after which the fetch is cancelled; `nil` to read all.
  func fetch(cancelledAt share: Double? = nil) async throws {
    let progress = ProgressLine("Fetching", unit: "items", on: terminal)
    let (steps, report) = AsyncStream.makeStream(
      of: WorkProgress.self, bufferingPolicy: .bufferingNewest(1))
    let fetch = Task {
      defer { report.finish() }
      return try await list.items { report.yield($0) }
    }
    for await step in steps {
      progress.show(step.completed, of: step.total)
      if let share, step.fraction ?? 0 >= share { fetch.cancel() }
    }
    do {
      let items = try await fetch.value
      progress.show(items.count, of: items.count)
      progress.finish()
    } catch is CancellationError {
      progress.finish("cancelled")
    }
  }

  /// Shows the list page by page.
  ///
  /// - Parameters:
  ///   - pages: The number of pages; `nil` for all.
  ///   - asks: Whether to wait for a key before each further page.
  func pages(of size: Int, count pages: Int? = nil, asks: Bool = false) async throws {
    var token: ContinuationToken?
    var number = 0
    repeat {
      if number > 0, asks, !isMoreWanted() { return }
      let page = try await list.page(of: size, after: token)
      for item in page.items { terminal.print(line(item)) }
      token = page.next
      number += 1
    } while token != nil && number < pages ?? .max
  }

  private func isMoreWanted() -> Bool {
    terminal.write(terminal.styled("Enter for more, q to end ", .dim))
    return readLine().map { !$0.hasPrefix("q") } ?? false
  }

  func add(_ title: String) async throws {
    let item = try await list.add(title)
    terminal.print("Added: \(item.title)")
  }

  func finish(olderThan days: Double) async throws {
    try await timed("Ticked off") {
      try await list.finish(createdBefore: .now.addingTimeInterval(-days * 86_400))
    }
  }

  func clear() async throws { try await timed("Deleted") { try await list.deleteFinished() } }

  func undo() async throws {
    try await timed("Taken back:") { try await list.undo() ?? 0 }
  }

  private func timed(_ what: String, _ work: () async throws -> Int) async throws {
    let start = ContinuousClock.now
    let count = try await work()
    terminal.print("\(what) \(count.grouped) items in \((ContinuousClock.now - start).short)")
  }

  /// Shows the newest items and their changes until `isEnough` returns true.
  func watch(_ rows: Int, until isEnough: @Sendable ([ToDoItem]) -> Bool = { _ in false })
    async throws
  {
    let window = LiveList(on: terminal)
    for try await update in list.newest(rows) {
      window.show(update.items.map(line))
      if isEnough(Array(update.items)) { break }
    }
    window.finish()
  }

  /// Answers each question, which is an item that ends in a question mark.
  ///
  /// The tour starts a second process with this command.
  ///
  /// - Parameter title: The item after which the command ends.
  func answer(until title: String) async throws {
    var seen: Set<ToDoItem.ID> = []
    for try await update in list.newest(20) {
      for item in update.items.reversed()
      where item.title.hasSuffix("?") && seen.insert(item.id).inserted {
        try await list.add("Yes, \(item.title.dropLast())!")
        if item.title == title { return }
      }
    }
  }

  func counts() async throws {
    guard let counts = try await list.counts().first(where: { _ in true }) else { return }
    terminal.print("\(counts.all.grouped) items, \(counts.done.grouped) of them done")
  }

  func line(_ item: ToDoItem) -> String {
    let box = item.done ? terminal.styled("✔", .green) : terminal.styled("○", .yellow)
    let format = Date.ISO8601FormatStyle.iso8601.year().month().day()
      .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
    let time = item.createdAt.formatted(format)
    return "\(box) \(terminal.styled(time, .dim))  \(item.title)"
  }
}
