public import EntityStore
public import Foundation

/// The source of a dataset's generations.
public struct DatasetOrigin: Sendable {
  enum Form: Sendable {
    case none
    case published([URL], TrustedKeys)
    case service(@Sendable (ServiceRefresh) async throws -> Void)
  }

  let form: Form

  /// The keys that the program carries; `nil` without a publisher.
  var keys: TrustedKeys? {
    if case .published(_, let keys) = form { return keys }
    return nil
  }

  /// No origin: generations are bundled or installed by hand.
  public static let none = DatasetOrigin(form: .none)

  /// A dataset that a publisher puts on web servers, in the form that `kvdump publish` makes.
  ///
  /// - Parameters:
  ///   - mirrors: The addresses of folders with the same files. If a mirror fails, the next one in
  ///     this order is requested.
  ///   - keys: The publisher's keys. A manifest is accepted only if one of these keys signed it,
  ///     whichever server sends it.
  public static func published(at mirrors: [URL], trusting keys: TrustedKeys) -> DatasetOrigin {
    DatasetOrigin(form: .published(mirrors, keys))
  }

  /// A dataset that a publisher puts on one web server.
  public static func published(at url: URL, trusting keys: TrustedKeys) -> DatasetOrigin {
    published(at: [url], trusting: keys)
  }

  /// A web service whose records an importer writes into a store.
  ///
  ///     .service { refresh in
  ///       _ = try await Importer(into: refresh.store, Pod.self, matching: .unique(\.name))
  ///         .run(pages, records: "result") { (record: PodRecord) in Pod(record) }
  ///     }
  ///
  /// The importer writes to a separate store, which begins with the records of the seed or of the
  /// current generation. Import by a unique key, so that these records are updated. Records that
  /// the service does not send stay, including those of the seed; `ImportStrategy.mirror` deletes
  /// them. The store keeps entity tags and positions of pages between refreshes. Unchanged pages
  /// are therefore not sent again, and an interrupted import continues.
  ///
  /// Readers do not see that store. When `fetch` has returned and the content has changed, a sealed
  /// copy becomes the next generation.
  ///
  /// The number of such a generation is the number of seconds from 1970 to the refresh, or one more
  /// than the highest number that the cache has held if that is higher. A seed made in the same way
  /// is therefore compared by its time.
  ///
  /// - Parameter fetch: Imports the service's records into the store. If it throws, the refresh
  ///   ends and the current generation stays. Only one process calls it at a time.
  public static func service(
    _ fetch: @escaping @Sendable (_ refresh: ServiceRefresh) async throws -> Void
  ) -> DatasetOrigin {
    DatasetOrigin(form: .service(fetch))
  }
}

/// One refresh of a dataset from a web service.
public struct ServiceRefresh: Sendable {
  /// The store to import into, opened with the entities of the dataset.
  public let store: Store
  /// The time when the refresh began.
  ///
  /// The data has this date, unless ``setDataAsOf(_:)`` names another.
  public let startedAt: Date
  let date: DataDate
  let report: @Sendable (RefreshProgress) -> Void

  /// Sets the date up to which the service's data is complete.
  public func setDataAsOf(_ date: Date) { self.date.set(date) }

  /// Reports the progress of the import to the progress closure of the refresh.
  public func report(completed: Int, of total: Int?) {
    report(RefreshProgress(step: .importing, completed: completed, total: total))
  }
}
