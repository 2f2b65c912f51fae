public import Observation

/// Results of a query that follow the store, for user interfaces.
///
///     let films = LiveResults(of: Film.all.sorted(by: \.episode), in: store)
///     ForEach(films.items) { … }
///
/// An update replaces ``items`` on the main actor, where the observation framework notifies its
/// readers. The object follows the store for as long as it is referenced.
@MainActor @Observable
public final class LiveResults<E: Entity> {
  /// The records, in the query's order; empty until the first fetch.
  public private(set) var items = ResultItems<E>(rows: RowList())
  /// The changes of the last update; `nil` before the first update.
  public private(set) var difference: ResultDifference?
  /// Whether the query has run.
  public private(set) var isLoaded = false
  /// The error that ended the updates; `nil` while they continue.
  public private(set) var error: (any Error)?
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Creates results that follow `query` in a store.
  public convenience init(of query: Query<E>, in store: Store) {
    self.init(store.updates(of: query))
  }

  /// Creates results that follow `query` in stores that replace each other.
  ///
  /// The generations of a dataset are such stores.
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
