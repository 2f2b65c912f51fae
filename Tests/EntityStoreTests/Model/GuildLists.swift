import Testing

@testable import EntityStore

/// Lists of guilds, artisans and works that follow the differences of updates.
struct GuildLists {
  private var guilds: FollowedList<Guild>
  private var artisans: FollowedList<Artisan>
  private var works: FollowedList<Work>

  init(_ store: Store) {
    guilds = FollowedList(store, Guild.all.sorted(by: \.size.descending, \.name.ascending))
    artisans = FollowedList(
      store, Artisan.where { $0.guildName != nil }.sorted(by: \.guildName, \.name))
    works = FollowedList(store, Work.where { $0.price > 3 }.sorted(by: \.price).limit(9))
  }

  /// Reads updates until each list equals a fetch.
  mutating func follow(_ store: Store) async throws {
    try await guilds.follow(store)
    try await artisans.follow(store)
    try await works.follow(store)
  }
}

private struct FollowedList<E: Entity & Equatable> {
  private let query: Query<E>
  private let turner: Turner<ResultUpdates<E>>
  private var list = ListFollower([[]])
  private var values: [E]?

  init(_ store: Store, _ query: Query<E>) {
    self.query = query
    turner = Turner(store.updates(of: query))
  }

  mutating func follow(_ store: Store) async throws {
    let fresh = try await store.fetch(query)
    while values != fresh {
      let turner = turner
      guard let update = try await within({ try await turner.next() }) else {
        throw Disagreement("\(query) has ended")
      }
      if values != nil {
        try list.apply(update.difference ?? ResultDifference()) { update.items[$0].id.rawValue }
      } else {
        list = ListFollower([update.items.map(\.id.rawValue)])
      }
      values = Array(update.items)
    }
    guard list.sections == [fresh.map(\.id.rawValue)] else {
      throw Disagreement("\(query): kept \(list.sections), fetched \(fresh.map(\.id.rawValue))")
    }
  }
}
