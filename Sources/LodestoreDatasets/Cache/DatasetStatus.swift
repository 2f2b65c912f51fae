public import Foundation

/// The facts about a dataset on this machine.
public struct DatasetStatus: Sendable {
  /// A failed refresh, if none has succeeded since.
  public struct Failure: Sendable, Hashable {
    /// The code of the error, as in ``DatasetError/Code/description``.
    public let code: String
    /// The error's message.
    public let message: String
    /// The time when the refresh began.
    public let date: Date
  }

  /// The dataset's name.
  public let name: String
  /// The number of the current generation; `nil` if there is none.
  public let generation: UInt64?
  /// The way in which the current generation arrived.
  public let source: DatasetGeneration.Source?
  /// The age of the data; `nil` if there is none.
  public let age: DatasetAge?
  /// The lowest number that the origin's next generation may have.
  ///
  /// The value is the highest number that the cache has held under the publisher's key set, or the
  /// seed's number if that is higher.
  public let highestSeen: UInt64
  /// The address that answered the last successful check.
  public let place: String?
  /// The last failed refresh; `nil` if one has succeeded since.
  public let lastFailure: Failure?
  /// The number of consecutive failed refreshes.
  public let failureCount: Int
  /// The time before which no refresh begins automatically, because of earlier failures; `nil`
  /// without such a wait.
  public let nextAttempt: Date?
  /// The reason why an available generation with a higher number cannot be used; otherwise `nil`.
  public let unusable: DatasetError?
  /// The time when the state was rebuilt from the sealed files because its file was damaged; `nil`
  /// if it never was.
  ///
  /// A rebuilt state lacks the dates of checks and failures, but no data is lost.
  public let rebuiltAt: Date?
  /// Whether the machine's clock now shows an earlier time than at an earlier refresh, so that it
  /// was probably set back.
  public let isClockBehind: Bool
}

extension CachedDataset {
  /// The names of the datasets that have a folder in `folder`, in order.
  package static func names(in folder: String) -> [String] {
    SystemFile.names(in: folder).filter { name in
      PublishedNames.isDatasetName(name)
        && SystemFile.stamp(of: DatasetFolder(path: "\(folder)/\(name)").state) != nil
    }.sorted()
  }

  /// The facts about the dataset on this machine, without a connection.
  ///
  /// - Throws: ``DatasetError`` if the folder cannot be used.
  public var status: DatasetStatus {
    get throws {
      let (known, choice) = try loaded()
      let state = memory.completed(known)
      return DatasetStatus(
        name: name, generation: choice.open?.number, source: choice.open?.source,
        age: choice.open.map { state.age(of: $0) },
        highestSeen: content.highest(state, choice), place: state.lastPlace,
        lastFailure: state.lastFailure.map {
          DatasetStatus.Failure(code: $0.code, message: $0.message, date: $0.date)
        }, failureCount: state.failureCount, nextAttempt: state.nextAttempt,
        unusable: choice.unusable, rebuiltAt: state.rebuiltAt,
        isClockBehind: state.latestTime.map { $0 > options.clock() } ?? false)
    }
  }
}
