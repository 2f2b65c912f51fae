import Fireballs
import Foundation
import Lodestore
import Service
import Terminal

/// `fireballs`: see ``usage``.
@main
enum Main {
  static let usage = """
    fireballs              imports two snapshots of a service, and shows what has changed
    options: --url URL     of the service; by default one is started in this process
             --count N     how many fireballs each batch form inserts (100000)
             --svg FILE    writes the plot there
             --near PLACE  the middle of the map (54.8,61.1)
             --map FILE    writes the map there
    """

  static func main() async { await runProgram("fireballs", run) }

  private static func run(_ arguments: Arguments) async throws {
    guard arguments.words.isEmpty else { return print(usage) }
    if let url = arguments.options["url"].flatMap({ URL(string: $0) }) {
      return try await tour(of: url, arguments)
    }
    let service = try await Service.start(try .standard())
    try await tour(of: service.url, arguments)
    await service.stop()
  }

  private static func tour(of service: URL, _ arguments: Arguments) async throws {
    func snapshot(_ year: Int) -> URL {
      service.appending(path: "fireballs")
        .appending(queryItems: [URLQueryItem(name: "snapshot", value: "\(year)")])
    }
    let terminal = Terminal.standardOutput
    let fireballs = try FireballStore.inMemory()

    terminal.heading("Refreshed by two snapshots, without duplicates")
    terminal.print("2024: \(try await fireballs.refresh(from: snapshot(2024)))")
    let kept = try fireballs.store.snapshot()
    _ = try await fireballs.news(of: "terminal")
    var list = try FireballList(fireballs)
    terminal.print("2026: \(try await fireballs.refresh(from: snapshot(2026)))")
    terminal.print("again: \(try await fireballs.refresh(from: snapshot(2026)))")

    terminal.heading("The list takes over what the history tells since its token")
    let merge = try list.merge(from: fireballs)
    terminal.print(
      "\(merge.inserted.count) came, \(merge.updated.count) changed, \(merge.deleted.count) went; "
        + "\(list.items.count.grouped) in the list")
    for news in try await fireballs.news(of: "terminal") {
      terminal.print(
        "author \(news.author ?? "unknown"): \(news.inserted) inserted, \(news.updated) updated, "
          + "\(news.deleted) deleted")
    }

    terminal.heading("A kept generation beside now")
    let generations = try Generations(kept, in: fireballs)
    var table = Table(["", "fireballs", "kilotons"], [.left, .right, .right])
    for (name, summary) in [("then", generations.then), ("now", generations.now)] {
      table.add(name, summary.count.grouped, Int(summary.impactEnergy).grouped)
    }
    table.show(on: terminal)

    terminal.heading("Groups, with counts and sums that the store keeps")
    var groups = Table(["group", "fireballs", "kilotons"], [.left, .right, .right])
    for group in try await fireballs.store.fetch(FireballStore.largestGroupsFirst) {
      groups.add(group.name, group.fireballCount.grouped, Int(group.impactEnergy).grouped)
    }
    groups.show(on: terminal)

    try map(fireballs, arguments, terminal)

    let count = arguments.number("count") ?? 100_000
    terminal.heading("Batch insert in three forms, \(count.grouped) fireballs each")
    try speed(list.items, count, terminal)

    terminal.heading("Kilotons of TNT by year")
    let energies = try EnergyByYear(fireballs)
    energies.lines().forEach(terminal.print)
    if let file = arguments.options["svg"] {
      try Data(energies.svg().utf8).write(to: URL(filePath: file))
      terminal.print("\nThe plot is in \(file).")
    }
  }

  private static func map(
    _ fireballs: FireballStore, _ arguments: Arguments, _ terminal: Terminal
  ) throws {
    let numbers = (arguments.options["near"] ?? "54.8,61.1").split(separator: ",").compactMap {
      Double($0)
    }
    guard numbers.count == 2 else { return terminal.print(usage) }
    let place = Coordinate(latitude: numbers[0], longitude: numbers[1])
    let nearby = try Nearby(fireballs, to: place, radius: 2_000_000)
    let title = "Within 2,000 km of \(place.latitude), \(place.longitude)"
    terminal.heading(title)
    nearby.lines().forEach(terminal.print)
    var table = Table(["km", "fireball", "kilotons"], [.right, .left, .right])
    for mark in nearby.marks.prefix(5) {
      table.add(
        Int(mark.distance / 1000).grouped,
        mark.fireball.dateTimeStamp.formatted(.iso8601.year().month().day()),
        "\(mark.fireball.impactEnergy)")
    }
    table.show(on: terminal)
    if let file = arguments.options["map"] {
      try Data(nearby.svg(title: title).utf8).write(to: URL(filePath: file))
      terminal.print("\nThe map is in \(file).")
    }
  }

  private static func speed(
    _ items: [Fireball], _ count: Int, _ terminal: Terminal
  ) throws {
    let rows = Fireball.repeated(items, to: count)
    var table = Table(["form", "time", "a second"], [.left, .right, .right])
    for form in BatchForm.allCases {
      let fireballs = try FireballStore.inMemory()
      let start = ContinuousClock.now
      try form.insert(rows, into: fireballs.store)
      let time = ContinuousClock.now - start
      table.add(form.rawValue, time.short, Int(Double(rows.count) / time.seconds).grouped)
    }
    table.show(on: terminal)
  }
}
