import Foundation
import Testing

@testable import EntityStore

/// The reader in Python, which was written from Format.md, reads the index of a store and finds the
/// same best matches by a plain BM25.
@Suite struct `The best matches in another language` {
  private static let program = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import lodestore
    with lodestore.open(sys.argv[2]) as store:
        [index] = store.entity("Note").search_indexes()
        for line in sys.stdin:
            mode, text = line.rstrip("\\n").split(" ", 1)
            found = index.best(text, 11, any_of=mode == "any")
            print(" ".join(f"{one}:{score!r}" for score, one in found))
    """

  /// Words with the frequencies of natural texts: word number n is 1/n as frequent as the first.
  private func text(_ random: inout SeededNumbers, _ vocabulary: Int, upTo count: Int) -> String {
    (0..<Int.random(in: 1...count, using: &random)).map { _ in
      let share = Double.random(in: 0..<1, using: &random)
      return "w\(String(Int(pow(Double(vocabulary), share)), radix: 26, uppercase: false))"
        .replacing(/[0-9]/) { _ in "q" }
    }.joined(separator: " ")
  }

  @Test func `the ten best of random queries are those of the reader in Python`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let queryCount = SeededNumbers.environmentNumber("LODESTORE_SEARCH_QUERIES") ?? 100
    let noteCount = SeededNumbers.environmentNumber("LODESTORE_SEARCH_TEXTS") ?? 2_000
    var random = SeededNumbers(salt: 4961)
    let notes = (0..<noteCount).map { _ in
      SearchedNote(
        text(&random, 5_000, upTo: 6),
        random.below(4) == 0 ? nil : text(&random, 5_000, upTo: 40),
        tags: .array([.string(text(&random, 300, upTo: 2))]))
    }
    let queries = (0..<queryCount).map { number in
      (mode: number % 2 == 0 ? SearchMode.allWords : .anyWord, text: text(&random, 500, upTo: 4))
    }
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    // Several writes leave blocks of different sizes.
    for part in 0..<10 {
      try store.insert(notes.enumerated().filter { $0.offset % 10 == part }.map(\.element))
    }
    try store.write { tx in try tx.delete(SearchedNote.all.where(.search("wb"))) }

    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-B", "-c", Self.program, root.path + "/tools/readers/python", folder.storePath,
    ]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    guard (try? process.run()) != nil else { return print("no python3: its reader was not tried") }
    let lines = queries.map { "\($0.mode == .anyWord ? "any" : "all") \($0.text)\n" }.joined()
    let writer = Thread {
      try? input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
      try? input.fileHandleForWriting.close()
    }
    writer.start()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if process.terminationStatus == 127 { return print("no python3: its reader was not tried") }
    let printed = String(decoding: data, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(printed.count == queries.count + 1)
    var matchCount = 0
    for (query, line) in zip(queries, printed) {
      let wanted = line.split(separator: " ").map { pair in
        let parts = pair.split(separator: ":")
        return (id: UInt64(parts[0]) ?? 0, score: Double(parts[1]) ?? 0)
      }
      let search = SearchedNote.all.where(.search(query.text, query.mode)).sortedByScore()
      let found = try store.fetch(search.limit(10)).map(\.id.rawValue)
      matchCount += found.count
      #expect(found.count == min(10, wanted.count), "\(query)")
      for (place, id) in found.enumerated() where id != wanted[place].id {
        // Sums in another order may differ in their last bit, so that ties are exchanged.
        let score = wanted.first { $0.id == id }?.score ?? 0
        #expect(abs(score - wanted[place].score) < 1e-9, "\(query): \(id) at \(place) of \(line)")
      }
    }
    #expect(matchCount > queries.count)
    store.close()
    try expectSound(folder.storePath)
  }
}
