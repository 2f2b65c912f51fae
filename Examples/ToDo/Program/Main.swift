import Foundation
import Terminal
import ToDo

/// `todo COMMAND`: see ``usage``.
@main
enum Main {
  static let usage = """
    todo                        shows everything, with a list of its own
    todo fill [N]               adds N items, 1,000,000 by default
    todo fetch                  reads all of them, the oldest first
    todo list [--page N]        the endless list, the newest first, page by page
    todo watch                  the newest items and what becomes of them, by any program
    todo add TITLE              adds an item
    todo finish [--older-than DAYS]   ticks off what is older
    todo clear                  deletes what is done
    todo undo                   takes back your last change; again, and it is made again
    options: --store FILE (todo.lodestore), --author NAME, --items N (of the tour)
    """

  static func main() async { await runProgram("todo", run) }

  private static func run(_ arguments: Arguments) async throws {
    let command = arguments.words.first ?? "tour"
    let rest = arguments.words.dropFirst()
    guard command != "tour" else {
      return try await Tour.run(count: arguments.number("items") ?? 1_000_000)
    }
    guard command != "help" else { return print(usage) }
    let author = arguments.options["author"] ?? NSUserName()
    let path = arguments.options["store"] ?? "todo.lodestore"
    let screen = Screen(list: try ToDoList(at: path, author: author))
    switch command {
    case "fill": try await screen.fill(rest.first.flatMap { Int($0) } ?? 1_000_000)
    case "fetch": try await screen.fetch()
    case "list":
      let rows = arguments.number("page") ?? max(screen.terminal.height - 2, 1)
      try await screen.pages(of: rows, asks: screen.terminal.isInteractive)
    case "watch": try await screen.watch(max(screen.terminal.height - 2, 1))
    case "add": try await screen.add(rest.joined(separator: " "))
    case "finish":
      try await screen.finish(olderThan: arguments.options["older-than"].flatMap(Double.init) ?? 30)
    case "clear": try await screen.clear()
    case "undo": try await screen.undo()
    case "answer": try await screen.answer(until: arguments.options["until"] ?? "")
    default: throw UnknownCommand(name: command)
    }
  }
}

/// An error for an unknown command.
struct UnknownCommand: Error, CustomStringConvertible {
  let name: String
  var description: String { "there is no command '\(name)'\n\(Main.usage)" }
}
