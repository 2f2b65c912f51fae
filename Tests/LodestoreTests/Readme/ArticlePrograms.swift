#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation

  // The Swift of the articles in EntityStore.docc, compiled here. `ReadmeTests` checks that the
  // articles say the same.

  enum BatchesArticle {
    @Entity
    struct Pod {
      #Unique<Pod>([\.name, \.version])
      #Index<Pod>([\.stars])

      var name: String
      var version: String
      var stars: Int = 0
      var isRare: Bool = false
    }

    struct Line {
      var name: String
      var version: String
      var stars: Int
    }

    static func inserting(
      _ tx: inout WriteTransaction, _ pods: [Pod], _ lines: inout IndexingIterator<[Line]>
    ) throws {
      let result = try tx.insert(pods, onConflict: .replace)
      print(result.insertedCount, result.updatedCount, result.unchangedCount)

      let rows: [[String: any AttributeValue]] = [["name": "A", "version": "1.0", "stars": 5]]
      try tx.insert(Pod.self, dictionaries: rows, onConflict: .patch())

      try tx.insert(Pod.self, onConflict: .patch()) { draft in
        guard let line = lines.next() else { return true }
        draft.name = line.name
        draft.version = line.version
        draft.stars = line.stars
        return false
      }
    }

    static func filling(
      _ tx: inout WriteTransaction, _ people: [Person], _ texts: [String]
    ) throws {
      let ids = try tx.insert(people).ids
      let notes = zip(ids, texts).map { Note(text: $1, person: $0) }
      try tx.insert(notes)
    }

    static func matching(_ tx: inout WriteTransaction, _ pod: Pod, _ pods: [Pod]) throws {
      try tx.upsert(pod, matching: .unique(\.name, \.version))
      try tx.insert(pods, onConflict: .replace, matching: .unique(\.name, \.version))
    }

    static func failing(_ store: Store, _ pods: [Pod]) throws {
      do {
        try store.insert(pods)
      } catch let error as StoreError where error.code == .uniqueViolation {
        // cannot store Pod: the values 3 and 7 of the batch have the same 'Pod.name+version'
        print(error.message, error.batchPosition ?? 0)
      }
    }

    static func changing(
      _ tx: inout WriteTransaction, _ names: [String], _ ids: [Pod.ID]
    ) throws -> [Pod] {
      try tx.update(Pod.where { $0.stars < 10 }) {
        $0.isRare = true
        $0.stars.add(1)
      }
      try tx.update(Pod.all) {
        $0.name = $0.version
        $0.set(\.stars, format: "stars * 2 + 1")
      }
      try tx.delete(
        Pod.where {
          $0.isRare
          $0.stars == 0
        })
      try tx.delete(Pod.all.sorted(by: \.stars).limit(1_000))
      try tx.delete(Pod.where { $0.name.isIn(names) })
      try tx.delete(ids)
      let removed = try tx.deleteReturning(Pod.where { $0.stars < 10 })

      return removed
    }

    static func chunks(_ store: Store) async throws -> Int {
      let changed = try await store.write { tx in
        try tx.update(Pod.all, onProgress: { print($0.fraction ?? 0) }) { $0.stars.add(1) }
      }

      print(changed)

      let count = try await store.delete(Pod.where { $0.stars == 0 }, inChunksOf: 10_000) {
        progress in
        print(progress.fraction ?? 0)
      }

      return count
    }
  }

  enum ImportsArticle {
    @Entity
    struct Pod {
      #Unique<Pod>([\.name, \.version])

      var name: String
      var version: String
      var summary: String?
      var rating: Int?
      var stars: Int = 0
      var updatedAt: Date
    }

    struct PodSpec: Decodable {
      var name: String
      var version: String
    }

    static func importingFiles(_ importer: Importer<Pod>) async throws {
      var options = CSVOptions()
      options.delimiter = .semicolon
      options.nullValues = ["NA", "\\N"]
      let pages = FilePages.csv(["2023.csv.gz", "2024.csv"], options)
      let report = try await importer.run(pages, renaming: [:])
      for reject in report.rejects { print(reject.file ?? "", reject.line ?? 0, reject.reason) }
    }

    static func importing(_ store: Store, _ pages: FilePages) async throws {
      let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      let report = try await importer.run(pages, records: "result") { (spec: PodSpec) in
        Pod(name: spec.name, version: spec.version, updatedAt: .now)
      }
      print(report)  // 11028 inserted, 0 updated, 0 unchanged, 0 rejected

      let direct = try await importer.run(
        pages, records: "result", renaming: ["summary_text": "summary"])

      print(direct)

      var formulae = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      formulae.keyName = "name"
      let named = try await formulae.run(pages, records: "formulae", renaming: [:])

      print(named)

      let ratings = Importer(
        into: store, Pod.self, matching: .unique(\.name, \.version), onConflict: .patch())
      let patched = try await ratings.run(pages, records: "result", renaming: [:])

      print(patched)

      let policy = MergePolicy<Pod>.newest(by: \.updatedAt)
        .attribute(\.rating, .fillNulls)
        .attribute(\.stars, .merge { max($0, $1) })
      let mirror = Importer(
        into: store, Pod.self, matching: .unique(\.name, \.version), strategy: .mirror,
        onConflict: policy)

      _ = mirror

      for try await event in ImportEvent.stream({ onEvent in
        try await importer.run(pages, records: "result", onEvent: onEvent) { (spec: PodSpec) in
          Pod(name: spec.name, version: spec.version, updatedAt: .now)
        }
      }) {
        if case .committed(let progress) = event {
          print(progress.committed, progress.recordsPerSecond)
        }
      }
      let reports = try await store.read { try $0.importReports(of: "Pod") }

      print(reports)
    }
  }

  // Entities that lead to each other are usually at the top of a file.

  @Entity struct Club {
    #Unique<Club>([\.name])
    var name: String
    static let members = ToMany<Club, Person>()  // many to many
  }

  @Entity struct Person {
    #Unique<Person>([\.email])
    var email: String
    var name: String
    var age: Int
    @Relationship var partner: Person.ID?  // to one, of the same entity
    static let clubs = ToMany<Person, Club>(inverse: Club.members)  // its other side
    static let notes = ToMany<Person, Note>(inverse: \.person, onDelete: .cascade)
  }

  @Entity struct Note {
    var text: String
    @Relationship var person: Person.ID?
  }

  @Entity struct Playlist {
    var name: String
    static let pieces = ToMany<Playlist, Piece>(ordered: true)
  }

  @Entity struct Piece {
    var title: String
  }

  @Entity struct Member {
    var name: String
    static let loans = ToMany<Member, Loan>(
      inverse: \.member, onDelete: .cascade, deniesDeleteWhere: { $0.returnedOn == nil })
    @Derived(.count(Member.loans, where: "returnedOn == NULL")) private(set) var openLoans = 0
  }

  @Entity struct Loan {
    var title: String
    var returnedOn: Date?
    @Relationship var member: Member.ID
  }

  enum RelationshipsArticle {
    static func linking(_ store: Store) throws {
      try store.write { tx in
        let ann = try tx.insert(Person(email: "ann@example.org", name: "Ann", age: 41))
        let choir = try tx.insert(Club(name: "Choir"))
        try tx.add(ann.id, to: Club.members, of: choir.id)
        try tx.insert(Note(text: "alto", person: ann.id))
        try tx.set(Person.clubs, of: ann.id, to: [choir.id])
        try tx.remove(ann.id, from: Club.members, of: choir.id)
      }
    }

    static func order(
      _ store: Store, _ list: Playlist.ID, opening: Piece.ID, encore: Piece.ID
    ) throws -> [Piece] {
      try store.write { tx in
        try tx.add(opening, to: Playlist.pieces, of: list, at: .first)
        try tx.move(encore, in: Playlist.pieces, of: list, to: .after(opening))
      }
      let pieces = try store.read { try $0.related(Playlist.pieces, of: list) }
      return pieces
    }

    static func reading(_ store: Store, _ club: Club.ID) throws -> Int {
      let (members, byClub) = try store.read { snapshot in
        let young = Person.where { $0.age < 30 }.sorted(by: \.name).limit(20)
        let members = try snapshot.related(Club.members, of: club, young)
        // Each related record once, in one pass, however many clubs there are.
        let byClub = try snapshot.fetch(Club.all.limit(50), including: Club.members, young)
        for (note, person) in try snapshot.fetch(Note.all, including: \.person) {
          print(note.text, person?.name ?? "nobody")
        }
        // Several relationships at once, also page by page.
        let page = try snapshot.page(
          Person.all.sorted(by: \.name).limit(20), including: .many(Person.clubs),
          .many(Person.notes))
        for (person, clubs, notes) in page.items { print(person.name, clubs.count, notes.count) }
        return (members, byClub)
      }
      return members.count + byClub.count
    }

    /// Compiles the articles' queries, one a line.
    @resultBuilder
    enum Queries {
      static func buildBlock(_ notes: Query<Note>, _ persons: Query<Person>...) -> Int {
        1 + persons.count
      }
    }

    static func count(@Queries _ queries: () -> Int) -> Int { queries() }

    static func orders() -> Int {
      count {
        Note.all.sorted { [$0.person[\.name].ascending, $0.text.ascending] }
        Person.all.sorted { [$0.notes.count.descending] }
        Person.all.sorted { [$0.clubs.maximum(\.name).descending(nulls: .last)] }
      }
    }

    static func conditions() throws -> ([Query<Person>], Query<Club>) {
      let alto = Person.where {
        $0.notes.any { $0.text == "alto" }
        $0.clubs.count >= 2
        $0.partner[\.name] != "Bob"
      }
      let old = Club.where {
        $0.members.all { $0.age > 60 }
        !$0.members.isEmpty
      }
      let same = try Person.where(
        format: "ANY notes.text == 'alto' AND clubs.@count >= 2 AND partner.name != 'Bob'")
      return ([alto, same], old)
    }

    static func importing(
      _ store: Store, _ pages: AsyncStream<Data>
    ) async throws {
      var importer = Importer(into: store, Person.self, matching: .unique(\.email))
      importer.links = [
        .init("clubs", Person.clubs, by: \.name, makesMissing: true),
        .init("partner", \.partner, by: \.email),
      ]
      let report = try await importer.run(pages, records: "people", renaming: [:])
      print(report)  // 2 inserted, …, 3 links added, 0 removed, 2 records made
    }
  }
#endif
