import ArgumentParser

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
}

extension StoreCommand {
  func failure(for error: any Error) -> CommandFailure { .translated(error, store: store.path) }
}
