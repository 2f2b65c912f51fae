import ArgumentParser
import EntityStore

/// A command of kvdump or of kvdump-datasets.
///
/// It writes through the console it is given and nowhere else, so that tests can run it in memory.
/// It opens and closes its files itself: the console is finished, and the pager shown, when `run`
/// has returned.
package protocol ToolCommand: ParsableCommand {
  var output: OutputOptions { get }

  /// Does the work. The status is `success` or `negative`; everything else is thrown, as a
  /// `CommandFailure` or as another error, which `failure(for:)` translates.
  func run(on console: Console) async throws -> ExitStatus

  /// Returns the failure to report for an error that `run` threw.
  func failure(for error: any Error) -> CommandFailure
}

/// A command that works on one store.
protocol StoreCommand: ToolCommand {
  var store: StoreArgument { get }

  /// The format string of the command line: a failure shows where in it a fault is.
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
  /// Calls `body` with the newest commit and the entity in it.
  func read(
    checksRecords: Bool = true, on console: Console,
    _ body: (DynamicSnapshot, DynamicEntity) throws -> ExitStatus
  ) throws -> ExitStatus {
    try ReadStore.read(store.path, checksRecords: checksRecords, on: console) { snapshot in
      try body(snapshot, try snapshot.entity(entity))
    }
  }
}
