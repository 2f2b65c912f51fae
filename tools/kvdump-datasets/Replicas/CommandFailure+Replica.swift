import KVDumpCommands
import LodestoreReplicas

extension CommandFailure {
  /// The failure for an error of a command that worked on the replica or store at `path`.
  static func replica(_ error: any Error, at path: String) -> CommandFailure {
    guard let error = error as? ReplicaError else { return translated(error, store: path) }
    var details = [Detail(name: "path", value: .text(path))]
    if let slot = error.slot { details.append(Detail(name: "slot", value: .unsigned(slot))) }
    if let writes = error.divergedWrites {
      details.append(Detail(name: "firstWrite", value: .unsigned(writes.lowerBound)))
      details.append(Detail(name: "lastWrite", value: .unsigned(writes.upperBound)))
    }
    return CommandFailure(
      code: kebab(error.code.description), message: error.message, status: status(of: error),
      details: details)
  }

  /// The exit status for every known code.
  private static func status(of error: ReplicaError) -> ExitStatus {
    switch error.code {
    case .behind, .fenced, .diverged, .otherStore, .otherReplica, .damaged, .newerFormat:
      .damagedData
    case .noBase, .notKept: .noInput
    case .untrustworthyStorage, .unsuitableStore, .unsupported: .usage
    case .unsuitablePath: .cannotCreate
    case .busy: .tryAgain
    case .storage: (error.cause as? StorageError).map(status) ?? .tryAgain
    default: .inputOutput
    }
  }

  private static func status(of error: StorageError) -> ExitStatus {
    switch error.kind {
    case .notFound, .noBucket: .noInput
    case .denied: .notPermitted
    case .conflictAgain, .throttled, .unavailable, .cut: .tryAgain
    case .unsupported, .badRequest: .usage
    case .system(let code): CommandFailure.system(code, thing: error.key).status
    case .conditionFailed, .badAnswer, .tooLarge, .badRange, .cancelled: .inputOutput
    }
  }
}
