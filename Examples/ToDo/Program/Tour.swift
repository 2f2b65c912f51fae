import Foundation
import Terminal
import ToDo

/// Shows all commands one after the other, on a list that is deleted at the end.
enum Tour {
  static func run(count: Int) async throws {
    let path = NSTemporaryDirectory() + "todo-\(UUID().uuidString).lodestore"
    defer {
      for file in [path, path + "-lock"] { try? FileManager.default.removeItem(atPath: file) }
    }
    let screen = Screen(list: try ToDoList(at: path, author: "tour"))
    let terminal = screen.terminal

    terminal.heading("A list of \(count.grouped) items")
    try await screen.fill(count)
    terminal.heading("Fetched by createdAt, the task never blocked; and cancelled at 40 %")
    try await screen.fetch()
    try await screen.fetch(cancelledAt: 0.4)
    terminal.heading("The endless list: two pages of four, each by the token of the one before")
    try await screen.pages(of: 4, count: 2)
    terminal.heading("Batches, each one write, and each taken back by undo")
    try await screen.finish(olderThan: Double(count) / 1_440 / 2)
    try await screen.counts()
    try await screen.clear()
    try await screen.undo()
    try await screen.counts()
    terminal.heading("Two processes with one list: this one asks, the other answers")
    try await twoProcesses(screen, path)
  }

  private static func twoProcesses(_ screen: Screen, _ path: String) async throws {
    guard let program = Bundle.main.executableURL else { return }
    let other = Process()
    other.executableURL = program
    other.arguments = ["answer", "--store", path, "--author", "other", "--until", "Ready?"]
    try other.run()
    async let watching: Void = screen.watch(4) { items in
      items.contains { $0.title == "Yes, Ready!" }
    }
    try await screen.list.add("Ready?")
    try await watching
    other.waitUntilExit()
  }
}
