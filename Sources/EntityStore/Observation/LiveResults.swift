public import Observation

/// Results of a query that follow the store, for user interfaces.
///
///     let films = LiveResults(of: Film.all.sorted(by: \.episode), in: store)
///     ForEach(films.items) { … }
///
/// An update replaces ``items`` on the main actor, which tells whoever has read them there. It
/// follows for as long as it is referenced.
@MainActor @Observable
public final class LiveResults<E: Entity> {
  /// The records, in the query's order; empty until the first fetch.
  public private(set) var items = ResultItems<E>(rows: RowList())
  /// What the last update has changed; `nil` before there was one.
  public private(set) var difference: ResultDifference?
  /// Whether the query has been run.
  public private(set) var isLoaded = false
  /// What has ended it; `nil` while it follows.
  public private(set) var error: (any Error)?
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Follows the results of `query`.
  public convenience init(of query: Query<E>, in store: Store) {
    self.init(store.updates(of: query))
  }

  /// Follows the results of `query` in stores that replace each other, as the generations of a
  /// dataset do.
  public convenience init<Stores: AsyncSequence & Sendable>(
    of query: Query<E>, in stores: Stores
  ) where Stores.Element == Store {
    self.init(stores.updates(of: query))
  }

  private init(_ updates: ResultUpdates<E>) {
    task = Task { [weak self] in
      do {
        for try await update in updates {
          guard let self else { return }
          self.items = update.items
          self.difference = update.difference
          self.isLoaded = true
        }
      } catch {
        self?.error = error
      }
    }
  }

  isolated deinit { task?.cancel() }

  /// Stops following; the items stay.
  public func stop() { task?.cancel() }
}
