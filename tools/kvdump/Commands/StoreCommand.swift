import ArgumentParser

/// A command of kvdump.
///
/// It writes through the console it is given and nowhere else, so that tests can run it in memory.
/// It opens and closes the store itself: the console is finished, and the pager shown, when `run`
/// has returned.
protocol StoreCommand: ParsableCommand {
  var store: StoreArgument { get }
  var output: OutputOptions { get }

  /// Does the work. The status is `success` or `negative`; everything else is thrown, as a
  /// `CommandFailure` or as what the store threw, which the caller translates.
  func run(on console: Console) async throws -> ExitStatus
}
