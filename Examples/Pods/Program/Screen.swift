import Foundation
import Lodestore
import Pods
import Synchronization
import Terminal

/// The output of the program.
struct Screen {
  let library: PodLibrary
  let terminal = Terminal.standardOutput

  /// Loads the podspecs.
  ///
  /// Meanwhile the list is shown and other tasks read.
  func load(from service: URL) async throws {
    let list = LiveList(on: terminal)
    let head = Mutex("")
    let watch = Task {
      let updates = library.store.updates(of: PodLibrary.everything, sectionedBy: \.section)
      for try await update in updates where terminal.isInteractive {
        list.show([head.withLock { $0 }] + lines(update))
      }
    }
    let reads = Task { try await longestRead() }
    defer {
      watch.cancel()
      reads.cancel()
    }
    let progress = ProgressText()
    let report = try await library.synchronize(with: service) { step in
      head.withLock { $0 = progress.text(step) }
    }
    watch.cancel()
    reads.cancel()
    _ = await watch.result
    var updates = library.store.updates(of: PodLibrary.everything, sectionedBy: \.section)
      .makeAsyncIterator()
    if let update = try await updates.next() { list.show([progress.end] + lines(update)) }
    list.finish()
    terminal.print("\n\(report)")
    let (count, longest) = try await reads.value
    terminal.print(
      "\(count.grouped) reads of a page of the list meanwhile, the longest in \(longest.short)")
  }

  /// Returns one line for each section: its letter, the number of podspecs, the first and the last
  /// name.
  private func lines(_ update: SectionedResultUpdate<String, Podspec>) -> [String] {
    update.sections.map { section in
      let first = update.items[section.range.lowerBound].name
      let last = update.items[section.range.upperBound - 1].name
      return "\(terminal.styled(section.key, .bold))  "
        + "\(section.count.grouped.padded(to: 6, .right))  \(first)"
        + (first == last ? "" : " … \(last)")
    }
  }

  /// Reads a page of the list repeatedly until the task is cancelled.
  ///
  /// Returns the number of reads and the longest time.
  private func longestRead() async throws -> (count: Int, longest: Duration) {
    var count = 0
    var longest = Duration.zero
    while !Task.isCancelled {
      let start = ContinuousClock.now
      _ = try? await library.store.fetch(PodLibrary.everything.limit(40))
      if Task.isCancelled { break }
      longest = max(longest, ContinuousClock.now - start)
      count += 1
      try? await Task.sleep(for: .milliseconds(5))
    }
    return (count, longest)
  }

  /// Searches after each key.
  ///
  /// If the input is not a terminal, searches for each line.
  func search() async throws {
    guard terminal.isInteractive, let keyboard = Keyboard.standardInput() else {
      while let line = readLine() { try await search(line) }
      return
    }
    defer { keyboard.end() }
    await TypedSearch("Search: ", on: terminal).run(keyboard.keys) { text in
      try await found(text, limit: terminal.height - 5)
    }
  }

  func search(_ text: String) async throws {
    for line in try await found(text, limit: 10) { terminal.print(line) }
  }

  /// Returns a table of the best podspecs for a text with the words marked, and the number of all.
  ///
  /// Similar words are suggested when nothing is found.
  private func found(_ text: String, limit: Int) async throws -> [String] {
    let start = ContinuousClock.now
    let results = try await library.store.results(PodLibrary.search(text))
    let words = SearchHighlighter(text, .typing)
    var table = Table(["name", "version", "summary"])
    for spec in try results.prefix(max(limit, 1)).values() {
      let summary = spec.summary.split(whereSeparator: \.isNewline).joined(separator: " ")
      table.add(marked(spec.name, words), spec.version, marked(summary, words))
    }
    let count = "\(results.count.grouped) for \"\(text)\""
    let duration = (ContinuousClock.now - start).short
    var lines = table.lines + [terminal.styled("\(count) in \(duration)", .dim)]
    let suggestions = results.isEmpty ? try library.suggestions(for: text) : []
    if !suggestions.isEmpty { lines.append("similar: \(suggestions.joined(separator: ", "))") }
    return lines
  }

  /// Returns the text with the words of a search in bold.
  private func marked(_ text: String, _ words: SearchHighlighter) -> String {
    var result = ""
    var end = text.startIndex
    for range in words.ranges(in: text) {
      result += text[end..<range.lowerBound] + terminal.styled(String(text[range]), .bold)
      end = range.upperBound
    }
    return result + text[end...]
  }

  func show(_ name: String) async throws {
    guard let (spec, dependencies, pod) = try await library.detail(of: name) else {
      return terminal.print("There is no podspec of \"\(name)\".")
    }
    terminal.print("\(terminal.styled(spec.name, .bold)) \(spec.version)  \(spec.summary)")
    terminal.print("by \(spec.authorNames)")
    terminal.print("needs \(dependencies.map(\.name).joined(separator: ", "))")
    terminal.print("needed by \(pod.dependentCount.grouped) podspecs")
  }
}

/// The progress of the loading as text.
private final class ProgressText: Sendable {
  private let start = ContinuousClock.now
  private let last = Mutex<PodLibrary.Progress?>(nil)

  func text(_ step: PodLibrary.Progress) -> String {
    last.withLock { $0 = step }
    let seconds = (ContinuousClock.now - start).seconds
    let rate = Double(step.records) / max(seconds, 0.001)
    let pages = step.pageCount.map { "\(step.pages) of \($0)" } ?? "\(step.pages)"
    let left = step.pageCount.map { Double($0 - step.pages) * seconds / Double(step.pages) }
    return "page \(pages), \(step.records.grouped) podspecs, \(Int(rate).grouped) a second"
      + (left.map { ", \(Duration.seconds($0).short) left" } ?? "")
  }

  var end: String {
    let records = last.withLock { $0?.records } ?? 0
    return "\(records.grouped) podspecs in \((ContinuousClock.now - start).short)"
  }
}
