import Foundation
import Testing

@testable import EntityStore

/// Every function of a transaction also exists on the store, as a transaction of one call.
@Suite struct `One call on a store` {
  /// The functions whose closure needs a transaction, or that concern the running transaction.
  private static let onlyInTransactions: Set<String> = [
    "forEach(_:_:)", "forEach(_:onUnreadable:_:)", "forEach(in:prefix:_:)",
    "forEachWrite(_:_:)", "forEachTransaction(_:_:)",
    "forEachView(_:_:)", "withView(_:_:)",
    "insert(_:onConflict:matching:returning:fillingDictionary:)",
    "insert(_:onConflict:matching:returning:fillingRecord:)", "savepoint(_:)", "ownHistoryToken()",
  ]

  /// The list of public declarations contains each function with its labels.
  ///
  /// Each function of a transaction needs a blocking and an asynchronous one on a store.
  @Test func `every method of a transaction has a one-call method on a store`() throws {
    let declarations = try Declarations()
    let wanted = declarations.functions(of: ["ReadableTransaction", "WriteTransaction"])
      .subtracting(Self.onlyInTransactions)
    let plain = declarations.functions(of: ["ReadableStore", "Store"], isAsynchronous: false)
    let asynchronous = declarations.functions(of: ["Store"], isAsynchronous: true)
    #expect(wanted.count > 40)
    // Functions that make one look-up, so that asynchronous code may call them without `await`.
    let onlyPlain: Set<String> = ["historyToken()"]
    for function in wanted.sorted() {
      #expect(
        plain.contains { Declarations.covers($0, function) }, "a store has no \(function)")
      #expect(
        onlyPlain.contains(function)
          || asynchronous.contains { Declarations.covers($0, function) },
        "a store has no asynchronous \(function)")
    }
    for function in Self.onlyInTransactions {
      #expect(
        declarations.functions(of: ["ReadableTransaction", "WriteTransaction"]).contains(function),
        "\(function) is gone")
    }
  }

  @Test func `one-call reads agree with reads of a transaction`() throws {
    try withLibrary { store, author, shelf throws in
      let byTitle = Book.all.sorted(by: \.title)
      let pinned = try store.snapshot()
      for source in [store, pinned] as [any ReadableStore] {
        #expect(try source.fetch(byTitle).map(\.title) == ["a", "b", "c"])
        #expect(try source.page(byTitle.limit(2)).items.map(\.title) == ["a", "b"])
        #expect(try source.ids(byTitle).map(\.rawValue) == [1, 2, 3])
        #expect(try source.values(byTitle, \.title) == ["a", "b", "c"])
        #expect(try source.values(byTitle, \.title, \.pages).map(\.1) == [10, 20, 30])
        #expect(try source.groups(Book.all, by: \.author, .sum(\.pages)).map(\.values) == [30, 30])
        #expect(
          try source.groups(Book.all, by: \.author, .sum(\.pages), .maximum(\.pages)).map(\.count)
            == [1, 2])
        let pages: Int? = try source.aggregate(Book.all, .sum(\.pages))
        #expect(pages == 60)
        #expect(try source.sections(byTitle, by: \.title).map(\.key) == ["a", "b", "c"])
        #expect(try source.sectionRanges(byTitle, by: \.title).count == 3)
        #expect(try source.explain(Book.all).isScan)
        #expect(try source.related(Author.books, of: author).map(\.title) == ["a", "b"])
        #expect(try source.related(Author.books, of: [author])[author].count == 2)
        #expect(try source.relatedIDs(Shelf.books, of: shelf).map(\.rawValue) == [3])
        #expect(try source.relatedCount(Author.books, of: author) == 2)
        #expect(
          try source.relatedPage(Author.books, of: author, Book.all.limit(1)).items.count == 1)
        #expect(try source.fetch(Author.all, including: Author.books)[0].related.count == 2)
        #expect(try source.fetch(Book.all, including: \.author).last?.related == nil)
        #expect(try source.data(for: "k", in: "settings") == Data([1]))
        #expect(try source.value(Int.self, for: "n", in: "settings") == 7)
        #expect(try source.bucketNames() == ["settings"])
        #expect(try source.importNames() == [])
        #expect(
          try source.dictionaries(byTitle.limit(1), attributes: ["title"])[0]["title"] as? String
            == "a")
      }
      pinned.end()
    }
  }

  @Test func `one-call writes agree with writes of a transaction, and are separate writes`() throws
  {
    try withLibrary { store, author, shelf throws in
      let ids = try store.ids(Book.all)
      #expect(try store.add(ids[0], to: Shelf.books, of: shelf))
      #expect(try store.add(ids, to: Shelf.books, of: shelf) == 1)
      #expect(try store.remove(ids[0], from: Shelf.books, of: shelf))
      #expect(try store.remove(ids, from: Shelf.books, of: shelf) == 2)
      try store.set(Shelf.books, of: shelf, to: [ids[1]])
      #expect(try store.relatedIDs(Shelf.books, of: shelf) == [ids[1]])
      #expect(try store.link([(shelf, ids[2])], by: Shelf.books) == 1)
      #expect(try store.unlink([(shelf, ids[2])], by: Shelf.books) == 1)
      #expect(try store.deleteReturning(Book.where { $0.title == "c" }).map(\.title) == ["c"])
      #expect(try store.delete([ids[0], ids[2]]) == 1)
      try store.put(Data([2]), for: "k", in: "settings")
      #expect(try store.delete(key: "k", in: "settings"))
      #expect(try store.insert(Book(title: "d"), onConflict: .fail).title == "d")
      _ = author
    }
  }

  @Test func `one-call methods take keys, and undo a write`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert((1...3).map { Film(title: "film \($0)", episode: $0) })
      let key = Film.index(\.episode).key(2)
      #expect(try store.modify(key) { $0.title = "x" }?.title == "x")
      #expect(try store.modify(Film.index(\.episode).key(9)) { $0.title = "y" } == nil)
      #expect(try store.exists(key))
      #expect(try store.delete(key))
      #expect(try !store.delete(key) && !store.exists(key))
    }
  }

  @Test func `a one-call method in asynchronous code runs on a thread of the store`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      let author = try await store.insert(Author(name: "A")).id
      let books = try await store.insert(
        [10, 20, 30].map { Book(title: "b\($0)", pages: $0, author: author) })
      let shelf = try await store.insert(Shelf(name: "s")).id
      #expect(try await store.add(Array(books.ids), to: Shelf.books, of: shelf) == 3)
      #expect(try await store.related(Shelf.books, of: shelf).count == 3)
      #expect(try await store.values(Book.all, \.title, \.pages).map(\.1) == [10, 20, 30])
      let (total, least) = try await store.aggregate(Book.all, .sum(\.pages), .minimum(\.pages))
      #expect(total == 60 && least == 10)
      let groups = try await store.groups(Book.all, by: \.pages, .sum(\.pages)) { $0.key > 10 }
      #expect(groups.map(\.key) == [20, 30])
      #expect(
        try await store.page(Book.all.limit(2), \.title, \.pages).items.map(\.0) == ["b10", "b20"])
      #expect(try await store.sections(Book.all.sorted(by: \.pages), by: \.pages).count == 3)
      let included = try await store.fetch(
        Author.all, including: .many(Author.books), .many(Author.books))
      #expect(included[0].1.count == 3 && included[0].2.count == 3)
      let page = try await store.page(Book.all.limit(2), including: .one(\.author))
      #expect(page.items.map(\.1?.name) == ["A", "A"] && page.next != nil)
      try await store.set(Shelf.books, of: shelf, to: [books.ids[1]])
      #expect(try await store.relatedIDs(Shelf.books, of: shelf) == [books.ids[1]])
      #expect(try await store.delete(Array(books.ids)) == 3)
      #expect(try await store.explain(Book.all).isScan)
    }
  }

  private func withLibrary(
    _ body: (Store, RecordID<Author>, RecordID<Shelf>) throws -> Void
  ) throws {
    try withTemporaryStore(Library.entities) { store in
      let (author, shelf) = try store.write { tx in
        let author = try tx.insert(Author(name: "A")).id
        let shelf = try tx.insert(Shelf(name: "S")).id
        try tx.insert(Book(title: "a", pages: 10, author: author))
        try tx.insert(Book(title: "b", pages: 20, author: author))
        let last = try tx.insert(Book(title: "c", pages: 30)).id
        try tx.add(last, to: Shelf.books, of: shelf)
        try tx.put(Data([1]), for: "k", in: "settings")
        try tx.put(7, for: "n", in: "settings")
        return (author, shelf)
      }
      try body(store, author, shelf)
    }
  }
}

/// The public functions of the list that `The public declarations` compares with the compiler's.
private struct Declarations {
  /// The functions of each owner: the name as `name(labels:)`, and whether it is asynchronous.
  private var found: [String: [(name: String, isAsynchronous: Bool)]] = [:]

  init() throws {
    let list = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Surface/PublicDeclarations.txt")
    for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n") {
      guard let (owner, text) = Self.parts(of: line), let name = Self.name(in: text) else {
        continue
      }
      found[owner, default: []].append((name, text.contains(") async throws")))
    }
  }

  func functions(of owners: [String], isAsynchronous: Bool? = nil) -> Set<String> {
    Set(
      owners.flatMap { found[$0] ?? [] }
        .filter { isAsynchronous == nil || $0.isAsynchronous == isAsynchronous }.map(\.name))
  }

  /// Returns whether a function `name` is `wanted`, with or without a further parameter that has a
  /// default value.
  static func covers(_ name: String, _ wanted: String) -> Bool {
    func plain(_ name: String) -> String { name.replacing("onProgress:", with: "") }
    return plain(name) == plain(wanted) || name.replacing("onUnreadable:", with: "") == wanted
  }

  /// Splits a line such as `EntityStore Store: func …` into the owner and the declaration; `nil`
  /// for other lines.
  private static func parts(of line: Substring) -> (String, Substring)? {
    guard let colon = line.firstRange(of: ": "), line.hasPrefix("EntityStore ") else { return nil }
    let owner = line[..<colon.lowerBound].dropFirst("EntityStore ".count)
    let text = line[colon.upperBound...]
    guard !owner.contains(" "), text.contains("func "), !text.contains("static func ") else {
      return nil
    }
    return (String(owner), text)
  }

  /// The function's name with its labels; `nil` if the text declares no function.
  private static func name(in text: Substring) -> String? {
    guard let function = text.firstRange(of: "func ") else { return nil }
    let rest = text[function.upperBound...]
    guard let nameEnd = rest.firstIndex(where: { $0 == "<" || $0 == "(" }) else { return nil }
    var labels = ""
    var depth = 0
    var angles = 0
    var isAtLabel = false
    var index = nameEnd
    while index < rest.endIndex {
      let character = rest[index]
      switch character {
      case "<": angles += 1
      case ">" where rest[..<index].last != "-": angles -= 1
      case "(" where angles == 0:
        depth += 1
        isAtLabel = depth == 1
      case "[" where angles == 0: depth += 1
      case "]" where angles == 0: depth -= 1
      case ")" where angles == 0:
        depth -= 1
        if depth == 0 { return "\(rest[..<nameEnd])(\(labels))" }
      case "," where angles == 0 && depth == 1: isAtLabel = true
      case " ": break
      default:
        if isAtLabel {
          let label = rest[index...].prefix { $0 != " " && $0 != ":" }
          labels += "\(label):"
          index = rest.index(index, offsetBy: label.count)
          isAtLabel = false
          continue
        }
      }
      index = rest.index(after: index)
    }
    return nil
  }
}
