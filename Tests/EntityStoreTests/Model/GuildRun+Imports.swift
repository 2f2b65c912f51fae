import EntityStore
import Foundation

// Imports of programs with all declarations and with a part of them.

extension GuildRun {
  private func run<E>(_ importer: Importer<E>, _ pages: [String]) async throws -> ImportReport {
    let stream = AsyncStream { continuation in
      for page in pages { continuation.yield(Data(page.utf8)) }
      continuation.finish()
    }
    return try await importer.run(stream, renaming: [:])
  }

  /// Imports records with different names and without numbers, so that none can be refused.
  mutating func importArtisans() async throws -> String {
    let isPart = numbers.oneIn(2)
    let numbersOfPages = numbers.below(3) + 1
    let names = Array((0..<60).map { "a\($0)" }.shuffled(using: &numbers).prefix(6))
    var wanted: [GuildState.ArtisanRow] = []
    var texts: [String] = []
    var next = state
    var updated = 0, unchanged = 0, inserted = 0, unresolved = 0
    for name in names {
      let stored = state.artisans.first { $0.value.name == name }
      // Records without a number cannot collide.
      var row = stored?.value ?? .init(name: name)
      var text = "{\"name\": \"\(name)\""
      if !isPart || numbers.oneIn(2) {
        row.isActive = numbers.oneIn(2)
        text += ", \"isActive\": \(row.isActive)"
      }
      text += ", \"number\": null"
      row.number = nil
      if !isPart || numbers.oneIn(2) {
        let number = numbers.below(14)
        let guild = state.guilds.first { $0.value.name == "g\(number)" }?.key
        let isFull = guild.map { next.members[$0]?.count ?? 0 >= Guild.most } ?? false
        if numbers.oneIn(4) || isFull {
          text += ", \"guild\": null"
          row.guild = nil
        } else {
          text += ", \"guild\": \"g\(number)\""
          row.guild = guild
          if guild == nil { unresolved += 1 }
        }
      }
      texts.append(text + "}")
      wanted.append(row)
      if let stored {
        if row == stored.value { unchanged += 1 } else { updated += 1 }
        next.setGuild(row.guild, of: stored.key)
        next.artisans[stored.key] = row
      } else {
        inserted += 1
        // The ids of new records are not known yet, so the highest id stands for them. Members are
        // compared as sets.
        if let guild = row.guild { next.edit(&next.members, guild) { $0.append(.max) } }
      }
    }
    guard next.lateViolations.isEmpty else { return "no import" }
    var importer = Importer(
      into: store, Artisan.self, matching: .unique(\.name),
      onConflict: isPart ? .patch() : .replace)
    importer.links = [.init("guild", \.guild, by: \.name)]
    importer.options.groupRecordLimit = 1 + numbers.below(8)
    let size = (texts.count + numbersOfPages - 1) / numbersOfPages
    let pages = stride(from: 0, to: texts.count, by: size).map { start in
      "[\(texts[start..<min(texts.count, start + size)].joined(separator: ", "))]"
    }
    log.append("import \(isPart ? "of parts " : "")\(pages)")
    let report = try await run(importer, pages)
    guard report.rejected == 0, report.inserted == inserted, report.updated == updated,
      report.unchanged == unchanged, report.links?.unresolved ?? 0 == unresolved
    else {
      throw Disagreement(
        "\(log): \(report), the model \([inserted, updated, unchanged, unresolved])")
    }
    let found = try read()
    for row in wanted {
      guard let id = found.artisans.first(where: { $0.value.name == row.name })?.key else {
        throw Disagreement("\(log): no \(row.name)")
      }
      if state.artisans[id] == nil {
        next.artisans[id] = row
        if let guild = row.guild {
          next.edit(&next.members, guild) { list in
            if let index = list.firstIndex(of: .max) { list[index] = id }
          }
        }
      }
    }
    guard found.unordered == next.unordered else {
      throw Disagreement(log, found, next)
    }
    state = found
    return "import"
  }

  /// Imports any members by any policy.
  ///
  /// The model does not predict the result, which must be sound.
  mutating func importAnything() async throws -> String {
    let policies: [MergePolicy<Artisan>] = [
      .replace, .patch(), .fillNulls, .ignore, .failIfDifferent,
    ]
    let texts = (0..<numbers.below(10) + 1).map { _ in
      var text = "{\"name\": \"a\(numbers.below(60))\""
      if numbers.oneIn(2) { text += ", \"isActive\": \(numbers.oneIn(2))" }
      if numbers.oneIn(2) {
        text += ", \"number\": \(numbers.oneIn(4) ? "null" : "\(numbers.below(9))")"
      }
      if !numbers.oneIn(3) {
        text += ", \"guild\": \(numbers.oneIn(6) ? "null" : "\"g\(numbers.below(16))\"")"
      }
      if numbers.oneIn(4) {
        let board = (0..<numbers.below(3)).map { _ in "\"g\(numbers.below(14))\"" }
        text += ", \"board\": [\(board.joined(separator: ", "))]"
      }
      return text + "}"
    }
    let isMirror = numbers.oneIn(12)
    var importer = Importer(
      into: store, Artisan.self, matching: .unique(\.name),
      strategy: isMirror ? .mirror : numbers.oneIn(8) ? .replaceMatching : .upsert,
      onConflict: policies[numbers.below(policies.count)])
    importer.links = [
      .init("guild", \.guild, by: \.name, makesMissing: numbers.oneIn(4)),
      .init("board", Artisan.boards, by: \.name),
    ]
    importer.options.groupRecordLimit = 1 + numbers.below(12)
    let size = 1 + numbers.below(6)
    let pages = stride(from: 0, to: texts.count, by: size).map { start in
      "[\(texts[start..<min(texts.count, start + size)].joined(separator: ", "))]"
    }
    log.append("\(isMirror ? "mirror" : "import") of anything \(pages)")
    let report: ImportReport
    do {
      report = try await run(importer, pages)
    } catch let error as StoreError where [.deleteDenied, .invalidValue].contains(error.code) {
      log.append("\(error)")
      state = try read()
      return "stopped import"
    }
    let counts = [
      report.inserted, report.updated, report.unchanged, report.ignored, report.rejected,
    ]
    let found = try read()
    guard counts.reduce(0, +) == texts.count, found.violations.isEmpty,
      found.lateViolations.isEmpty
    else { throw Disagreement("\(log): \(report)", found, state) }
    state = found
    return "import of anything"
  }

  /// Imports works through a program with another declaration, some of them new, and sometimes as a
  /// mirror.
  mutating func importLaterWorks() async throws -> String {
    let isMirror = numbers.oneIn(6)
    var next = state
    var seen: Set<String> = []
    var texts: [String] = []
    var new: [GuildState.WorkRow] = []
    for _ in 0..<numbers.below(8) + 1 {
      let title = "w\(numbers.below(90))"
      guard seen.insert(title).inserted else { continue }
      let grade = numbers.below(9)
      let price = numbers.below(10)
      texts.append("{\"title\": \"\(title)\", \"grade\": \(grade), \"price\": \(price)}")
      if let id = state.works.first(where: { $0.value.title == title })?.key {
        next.works[id]?.grade = grade
        next.works[id]?.price = price
      } else {
        new.append(.init(title: title, price: price, grade: grade))
      }
    }
    // A mirror in which no stored record occurred deletes nothing.
    if isMirror, new.count < texts.count {
      next.works = next.works.filter { seen.contains($0.value.title) }
    }
    let importer = Importer(
      into: later, LaterWork.self, matching: .unique(\.title),
      strategy: isMirror ? .mirror : .upsert, onConflict: .patch())
    log.append("later import\(isMirror ? " as a mirror" : "") of \(texts)")
    let report = try await run(importer, ["[\(texts.joined(separator: ", "))]"])
    // New works are rejected, because the page does not give the tags that a new record needs.
    guard report.rejected == new.count else { throw Disagreement("\(log): \(report)") }
    state = next
    return "later import"
  }
}
