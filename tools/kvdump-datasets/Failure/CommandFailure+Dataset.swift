import EntityStore
import KVDumpCommands
import LodestoreDatasets

extension CommandFailure {
  /// The failure for an error of a command that worked on the dataset or file at `path`.
  static func dataset(_ error: any Error, at path: String) -> CommandFailure {
    guard let error = error as? DatasetError else { return translated(error, store: path) }
    return CommandFailure(
      code: kebab(error.code.description), message: error.message, status: status(of: error.code),
      details: [Detail(name: "path", value: .text(path))])
  }

  /// The exit status for every known code.
  ///
  /// A code added later is an unspecified fault.
  private static func status(of code: DatasetError.Code) -> ExitStatus {
    switch code {
    case .untrusted, .malformed, .newerFormat, .otherDataset, .damaged, .notSealed: .damagedData
    case .notNewer, .badKey, .unsupported: .usage
    case .rolledBack, .mixedGenerations, .unusableStore: .damagedData
    case .busy, .network, .waiting: .tryAgain
    case .notFound, .nothingHere: .noInput
    default: .inputOutput
    }
  }

  static func badOption(_ name: String, _ reason: String) -> Self {
    CommandFailure(code: "usage", message: "--\(name): \(reason)", status: .usage)
  }
}
