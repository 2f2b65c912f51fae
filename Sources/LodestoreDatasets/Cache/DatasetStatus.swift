public import Foundation

/// The facts about a dataset on this machine.
public struct DatasetStatus: Sendable {
  /// A refresh that failed, since which none has succeeded.
  public struct Failure: Sendable, Hashable {
    /// The code of the error, as ``DatasetError/Code/description`` has it.
    public let code: String
    /// The error's message.
    public let message: String
    /// When the refresh began.
    public let date: Date
  }

  /// The dataset's name.
  public let name: String
  /// The number of the current generation; `nil` when nothing is here.
  public let generation: UInt64?
  /// How the current generation came here.
  public let source: DatasetGeneration.Source?
  /// How old the data is; `nil` when nothing is here.
  public let age: DatasetAge?
  /// The number that the origin's next generation may not be below: the highest one that was here
  /// under the publisher's key set, or that of the seed.
  public let highestSeen: UInt64
  /// The address that answered the last successful check.
  public let place: String?
  /// The last refresh that failed; `nil` when one has succeeded since.
  public let lastFailure: Failure?
  /// How many refreshes in a row have failed.
  public let failureCount: Int
  /// Before this time no refresh begins by itself; `nil` when nothing failed.
  public let nextAttempt: Date?
  /// Why a generation with a higher number that is here cannot be used.
  public let unusable: DatasetError?
  /// When the state was rebuilt of the sealed files, because its file was damaged; `nil` when it
  /// never was.
  ///
  /// Dates of checks and failures are lost by that, the data is not.
  public let rebuiltAt: Date?
  /// Whether the clock is behind the time of an earlier refresh.
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
  /// - Throws: ``DatasetError`` when the folder cannot be used.
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
