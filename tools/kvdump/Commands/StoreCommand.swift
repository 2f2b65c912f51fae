import ArgumentParser
import EntityStore

/// A command of kvdump or of kvdump-datasets.
///
/// A command writes only through the given console, so that tests can run it in memory. A command
/// opens and closes its own files. When `run` has returned, the console is finished and the pager
/// is shown.
package protocol ToolCommand: ParsableCommand {
  var output: OutputOptions { get }

  /// Does the work. Returns `success` or `negative`. Throws every other result as a
  /// `CommandFailure`, or as another error that `failure(for:)` translates.
  func run(on console: Console) async throws -> ExitStatus

  /// Returns the failure to report for an error that `run` threw.
  func failure(for error: any Error) -> CommandFailure
}

/// A command that works on one store.
protocol StoreCommand: ToolCommand {
  var store: StoreArgument { get }

  /// The format string of the command line. A failure shows the position of a fault in it.
  var formatString: String? { get }
}

extension StoreCommand {
  var formatString: String? { nil }

  func failure(for error: any Error) -> CommandFailure {
    let failure = CommandFailure.translated(error, store: store.path)
    guard let error = error as? StoreError, error.code == .invalidQuery, let formatString,
      let fault = QueryFault(error)
    else { return failure }
    return failure.located(fault, in: formatString)
  }
}

/// A command that reads the records of one entity.
protocol EntityCommand: StoreCommand {
  var entity: String { get }
}

extension EntityCommand {
  /// Calls `body` with the newest commit and its entity.
  func read(
    checksRecords: Bool = true, on console: Console,
    _ body: (DynamicSnapshot, DynamicEntity) throws -> ExitStatus
  ) throws -> ExitStatus {
    try ReadStore.read(store.path, checksRecords: checksRecords, on: console) { snapshot in
      try body(snapshot, try snapshot.entity(entity))
    }
  }
}
