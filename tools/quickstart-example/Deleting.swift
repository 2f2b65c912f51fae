import EntityStore

extension QuickstartExample {
  /// Deletes the films with these episodes, which are found by their unique keys in one pass.
  static func deleteFilms(episodes: [Int], from path: String) throws {
    let store = try Store(at: path, entities: [Film.self], options: existing)
    let deletedCount = try store.write { tx in
      try tx.delete(Film.where { $0.episode.isIn(episodes) })
    }
    print("films: \(deletedCount) deleted")
  }

  /// Deletes the pods under a license, which are a range of an index, without reading a record.
  static func deletePods(license: String, from path: String) throws {
    let store = try Store(at: path, entities: [Pod.self], options: existing)
    let deletedCount = try store.write { tx in try tx.delete(Pod.where { $0.license == license }) }
    print("pods: \(deletedCount) deleted")
  }

  /// Deletes the fireballs that were seen before `year`.
  static func deleteFireballs(before year: Int, from path: String) throws {
    let store = try Store(at: path, entities: [Fireball.self], options: existing)
    let start = try Date("\(year)-01-01T00:00:00Z", strategy: .iso8601)
    let deletedCount = try store.write { tx in try tx.delete(Fireball.where { $0.date < start }) }
    print("fireballs: \(deletedCount) deleted")
  }

  private static var existing: StoreOptions {
    var options = StoreOptions()
    options.access = .existing
    return options
  }
}
