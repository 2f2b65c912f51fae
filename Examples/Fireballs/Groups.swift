import Lodestore

extension FireballStore {
  /// The groups that each store has, with their conditions.
  static let rules = [
    ("strong", "impactEnergy >= 10"), ("fast", "velocity >= 25"), ("deep", "altitude < 25"),
    ("northern", "latitude > 0"), ("southern", "latitude < 0"),
    ("tropical", "latitude BETWEEN {-23.4, 23.4}"),
  ]

  /// All groups, the largest first.
  package static let largestGroupsFirst = FireballGroup.all.sorted(
    by: \.fireballCount.descending, \.name.ascending)

  /// Makes a group of the fireballs that match a predicate format string.
  ///
  /// Each refresh updates the group.
  package func makeGroup(_ name: String, of condition: String) async throws {
    try await store.write { tx in
      try tx.upsert(FireballGroup(name: name, condition: condition))
      try Self.sortIntoGroups(&tx)
    }
  }

  /// Adds a fireball to a group, and makes the group if it does not exist.
  package func add(_ fireball: Fireball.ID, toGroup name: String) async throws {
    try await store.write { tx in
      let group =
        try tx.fetch(FireballGroup.key(name: name)) ?? tx.insert(FireballGroup(name: name))
      try tx.add(fireball, to: FireballGroup.fireballs, of: group.id)
    }
  }

  /// Updates the groups that have a condition.
  package func sortIntoGroups() async throws {
    try await store.write { tx in try Self.sortIntoGroups(&tx) }
  }

  static func sortIntoGroups(_ tx: inout WriteTransaction) throws {
    try tx.insert(
      rules.map { FireballGroup(name: $0.0, condition: $0.1) }, onConflict: .ignore)
    for group in try tx.fetch(FireballGroup.where { $0.condition != nil }) {
      guard let condition = group.condition else { continue }
      let ids = try tx.ids(Fireball.where(format: condition))
      try tx.set(FireballGroup.fireballs, of: group.id, to: ids)
    }
  }
}
