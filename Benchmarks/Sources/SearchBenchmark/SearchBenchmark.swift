#if Search
  import BenchmarkFigures
  import EntityStore
  import Foundation

  /// Compares searches of words with SQLite's FTS5, on the same texts in one process.
  struct SearchBenchmark {
    let arguments: Arguments
    let directory: String
    let texts: [(text: String, group: Int)]
    /// Words of the texts, as frequent as in the texts.
    let words: [String]

    init(_ arguments: Arguments, _ directory: String) throws {
      self.arguments = arguments
      self.directory = directory
      let lines = try String(contentsOfFile: arguments.texts, encoding: .utf8)
        .split(separator: "\n").map(String.init)
      guard !lines.isEmpty else { throw BenchmarkError("no texts in \(arguments.texts)") }
      texts = (0..<arguments.records).map { (lines[$0 % lines.count], $0 % 100) }
      var random = SystemRandomNumberGenerator()
      words = (0..<4_000).compactMap { _ in
        let line = lines[Int.random(in: 0..<lines.count, using: &random)]
        return line.lowercased().split { !$0.isASCII || !$0.isLetter }.map(String.init)
          .filter { $0.count > 2 }.randomElement()
      }
    }

    func run() throws {
      print("load: \(loadAverage)")
      let bytes = texts.reduce(0) { $0 + $1.text.utf8.count }
      print("\(texts.count.grouped) texts, \(megabytes(UInt64(bytes)))")
      let (plain, searched) = try insertIntoStores()
      let sqlite = try insertIntoSQLite()
      try measureWords(searched, sqlite)
      try measureTyping(searched, sqlite)
      try measureUpdates(plain, searched)
      print("load at the end: \(loadAverage)")
    }

    // MARK: Indexing

    /// The number of bytes in use: a backup has no free pages.
    private func size(_ store: Store) throws -> Int {
      let path = "\(directory)/size.lodestore"
      defer { try? FileManager.default.removeItem(atPath: path) }
      return try store.backup(to: path)
    }

    private func insertIntoStores() throws -> (Store, Store) {
      let plainPath = "\(directory)/plain.lodestore"
      let path = "\(directory)/searched.lodestore"
      let plain = try Store(at: plainPath, entities: [PlainText.self])
      try timed("insert without a search index", texts.count) {
        try plain.insert(texts.map { PlainText($0.text, group: $0.group) })
      }
      let searched = try Store(at: path, entities: [SearchedText.self])
      try timed("insert with a search index", texts.count) {
        try searched.insert(texts.map { SearchedText($0.text, group: $0.group) })
      }
      let (without, with) = (UInt64(try size(plain)), UInt64(try size(searched)))
      print(
        "  size without \(megabytes(without)), with \(megabytes(with)), "
          + "index \(megabytes(with - without))")
      return (plain, searched)
    }

    private func insertIntoSQLite() throws -> SQLiteSearch {
      let sqlite = try SQLiteSearch("\(directory)/texts.sqlite")
      try timed("SQLite: insert", texts.count) { try sqlite.insert(texts) }
      let before = try sqlite.byteCount()
      // The queries use the last table.
      for options in ["", ", prefix='1 2'"] {
        try timed("SQLite: index\(options)", texts.count) { try sqlite.index(options) }
        print("  SQLite: index \(megabytes(UInt64(try sqlite.byteCount() - before)))")
      }
      return sqlite
    }

    // MARK: Queries

    /// The processor times of runs of a body, ascending.
    private func times(_ count: Int, _ body: (Int) throws -> Int) rethrows -> [Double] {
      var times: [Double] = []
      for index in 0..<count {
        // Other programs on the machine do not change the processor time.
        let start = ProcessorTime.now
        _ = try body(index)
        times.append(ProcessorTime.now - start)
      }
      return times.sorted()
    }

    private func compare(
      _ name: String, _ group: String, store: (Int) throws -> Int, sqlite: ((Int) throws -> Int)?
    ) throws {
      if let only = arguments.only, only != group { return }
      _ = try times(20, store)
      let ours = try times(arguments.queries, store)
      func line(_ side: String, _ times: [Double]) -> String {
        "  \(name), \(side): median \(micros(times.part(0.5))), "
          + "99 % \(micros(times.part(0.99))), worst \(micros(times.last ?? 0))"
      }
      print(line("Lodestore", ours))
      guard let sqlite else { return }
      let others = try times(min(100, arguments.queries), sqlite)
      print(line("FTS5", others))
      print(String(format: "    %.1f times faster", others.part(0.5) / max(1e-9, ours.part(0.5))))
    }

    private func pair(_ index: Int) -> String {
      "\(words[index * 2 % words.count]) \(words[(index * 2 + 1) % words.count])"
    }

    private func measureWords(_ store: Store, _ sqlite: SQLiteSearch) throws {
      func fts(_ text: String) -> String {
        text.split(separator: " ").map { "\"\($0)\"" }.joined(separator: " ")
      }
      try compare(
        "two words, top 10", "words",
        store: { index in
          try store.fetch(
            SearchedText.all.where(.search(pair(index))).sortedByScore().limit(10)
          ).count
        },
        sqlite: { index in
          try sqlite.matches(fts(pair(index)), limit: 10).count
        })
      try compare(
        "one of two words, top 10", "words",
        store: { index in
          try store.fetch(
            SearchedText.all.where(.search(pair(index), .anyWord)).sortedByScore().limit(10)
          ).count
        },
        sqlite: { index in
          try sqlite.matches(
            fts(pair(index)).replacingOccurrences(of: " ", with: " OR "), limit: 10
          ).count
        })
      for count in [1, 10] {
        try compare(
          "a word in \(count) % of the texts, top 10", "condition",
          store: { index in
            try store.fetch(
              SearchedText.where { $0.group < count }.where(.search(words[index % words.count]))
                .sortedByScore().limit(10)
            ).count
          },
          sqlite: { index in
            try sqlite.matches(
              fts(words[index % words.count]), below: count, limit: 10
            ).count
          })
        try compare(
          "a word in \(count) % of the texts, all", "unordered",
          store: { index in
            try store.fetch(
              SearchedText.where { $0.group < count }.where(.search(words[index % words.count]))
            ).count
          },
          sqlite: { index in
            try sqlite.matches(fts(words[index % words.count]), below: count).count
          })
      }
    }

    /// Measures two words from the first letter to the last.
    private func measureTyping(_ store: Store, _ sqlite: SQLiteSearch) throws {
      let typed = (0..<arguments.queries).flatMap { index -> [String] in
        let text = pair(index)
        return (1...text.count).map { String(text.prefix($0)) }.filter { $0.last != " " }
      }
      for length in [1, 2, nil] {
        let texts = typed.filter { text in
          guard let length else { return true }
          return text.split(separator: " ").last?.count == length
        }
        try compare(
          "as typed\(length.map { ", last word of \($0)" } ?? ""), top 10", "typing",
          store: { index in
            try store.fetch(
              SearchedText.all.where(.search(texts[index % texts.count], .typing))
                .sortedByScore().limit(10)
            ).count
          },
          sqlite: length == nil
            ? { index in
              try sqlite.typed(texts[index % texts.count]).count
            } : nil)
      }
    }

    // MARK: Updates

    private func measureUpdates(_ plain: Store, _ searched: Store) throws {
      if let only = arguments.only, only != "updates" { return }
      let count = min(2_000, texts.count)
      let without = try times(count) { index in
        try plain.write { tx in
          guard
            var record = try tx.fetch(PlainText.where { $0.group == index % 100 }.limit(1)).first
          else { return 0 }
          record.text += " \(words[index % words.count])"
          try tx.update(record)
          return 1
        }
      }
      let with = try times(count) { index in
        try searched.write { tx in
          guard
            var record = try tx.fetch(SearchedText.where { $0.group == index % 100 }.limit(1)).first
          else { return 0 }
          record.text += " \(words[index % words.count])"
          try tx.update(record)
          return 1
        }
      }
      print(
        "  update of one record in a write, without \(micros(without.part(0.5))), "
          + "with \(micros(with.part(0.5)))")
    }
  }
#endif
