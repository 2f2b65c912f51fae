#if Macros
  import Foundation
  import Lodestore
  import LodestoreFoundation

  /// The Swift of the article on queries; see `ArticlePrograms.swift`.
  enum QueriesArticle {
    @Entity
    struct Pod {
      #Index<Pod>([\.license, \.name])

      var name: String
      var version: String
      var license: String
      var authors: JSONValue?
      var stars: Int
      var downloads: Int
      var rating: Int?
      var updatedAt: Date
    }

    @Entity
    struct Item {
      var createdAt: Date
    }

    /// Compiles the articles' expressions, one a line.
    @resultBuilder
    enum Queries {
      static func buildBlock(_ queries: Query<Pod>...) -> [Query<Pod>] { queries }
    }

    static func list(@Queries _ queries: () throws -> [Query<Pod>]) rethrows -> [Query<Pod>] {
      try queries()
    }

    static func show(_ pods: [Pod]) {}
    static func observe(_ progress: Progress) {}

    static let newest = Pod.all.sorted(by: \.updatedAt.descending)

    static func conditions() throws -> [Query<Pod>] {
      try list {
        Pod.where {
          $0.stars > 3
          $0.name.hasPrefix("AF")
        }
        Pod.where(#Predicate<Pod> { $0.stars > 3 && $0.name.starts(with: "AF") })
        try Pod.where(format: "stars > 3 AND name BEGINSWITH %@", "AF")
      }
    }

    static func lines(license: String?, names: [String]) -> Query<Pod> {
      Pod.where {
        if let license { $0.license == license }
        anyOf($0.stars > 3, $0.rating == nil, allOf($0.downloads > 1_000, $0.name.hasPrefix("AF")))
        !$0.name.isIn(names)
      }
    }

    static func orders() -> [Query<Pod>] {
      list {
        Pod.all.sorted(by: \.license, \.name)  // both ascending
        Pod.all.sorted(by: \.updatedAt.descending, \.name.ascending)
        Pod.all.sorted {
          [$0.rating.descending(nulls: .first), $0.name.ascending(ignoring: .caseInsensitive)]
        }
        Pod.all.sorted { [$0.authors["name"].ascending] }  // in JSON
      }
    }

    static func dates(_ snapshot: borrowing Snapshot) throws {
      let recent = Pod.where { $0.updatedAt[.year] >= 2024 }
      let early = Pod.where { $0.updatedAt[.hour, in: .offset(hours: 2)] < 12 }
      let years = try snapshot.groups(Pod.all, by: \.updatedAt[.year], .sum(\.downloads))
      let byMonth = Pod.all.sorted(by: \.updatedAt[startOf: .month].descending, \.name.ascending)
      let months = try snapshot.sections(byMonth, by: \.updatedAt[startOf: .month])

      print(recent, early, years, months)
    }

    static func fetching(_ store: Store) throws {
      let first = try store.read { try $0.first(newest) }
      let ids = try store.read { try $0.ids(newest) }
      try store.read { snapshot in
        try snapshot.forEach(newest) { pod in  // one record in memory at a time
          print(pod.name)
        }
        try snapshot.forEach(newest) { pod, stop in
          if pod.stars == 0 { stop = true }
        }
      }

      print(first as Any, ids)
    }

    static func values(_ snapshot: borrowing Snapshot) throws {
      let names: [String] = try snapshot.values(Pod.all, \.license, distinct: true)
      let pairs = try snapshot.values(newest, \.name, \.version)  // [(String, String)]
      let rows = try snapshot.dictionaries(newest, attributes: ["name", "authors.name"])

      print(names, pairs, rows)
    }

    static func pages(_ store: Store) throws {
      var token: ContinuationToken?
      repeat {
        let page = try store.read { try $0.page(newest.limit(50).continuing(after: token)) }
        show(page.items)
        token = page.next
      } while token != nil
    }

    static func results(_ store: Store) async throws {
      let results = try await store.results(newest)
      print(results.count, try results[5].value.name)
      for try await batch in store.batches(of: 500, newest) { show(batch) }  // [Pod]
    }

    static func sections(_ snapshot: borrowing Snapshot) throws {
      let byLicense = Pod.all.sorted(by: \.license, \.name)
      for section in try snapshot.sections(byLicense, by: \.license) {
        print(section.key, section.count, section.items.first?.name ?? "")
      }
      let headings = try snapshot.sectionRanges(byLicense, by: \.license)  // keys and ranges alone

      print(headings)
    }

    static func groups(_ snapshot: borrowing Snapshot) throws {
      let groups = try snapshot.groups(
        Pod.all, by: \.license, .sum(\.downloads), .maximum(\.updatedAt),
        having: { $0.count > 10 })
      for group in groups { print(group.key, group.count, group.values.0 ?? 0) }
      let (total, newest) = try snapshot.aggregate(
        Pod.all, .sum(\.downloads), .maximum(\.updatedAt))

      print(total as Any, newest as Any)
    }

    static func asynchronously(_ store: Store) async throws {
      let items = try await store.fetch(Item.all.sorted(by: \.createdAt)) {
        progress in
        print(progress.completed, progress.total ?? 0)
      }
      let fetch = store.asynchronousFetch(Item.all)  // import LodestoreFoundation
      observe(fetch.progress)
      let all = try await fetch.value

      print(items, all)
    }

    final class Button {
      var onPress: () -> Void = {}
    }

    static func cancelled(_ store: Store, _ cancelButton: Button) async throws {
      @Sendable func show(_ progress: WorkProgress) {}

      let search = Task {
        try await store.fetch(Item.all.sorted(by: \.createdAt)) { progress in
          show(progress)
        }
      }
      cancelButton.onPress = { search.cancel() }
      let found = try await search.value  // or CancellationError

      print(found)
    }
  }
#endif
