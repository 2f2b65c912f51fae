import ArgumentParser

/// `kvdump verify`: every rule of the format; status 1 and a list when anything is wrong.
struct VerifyCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check every record, index and checksum; status 1 if wrong.",
    discussion: "Example: kvdump verify catalog.lodestore && echo sound")

  @OptionGroup var store: StoreArgument

  @Option(help: ArgumentHelp("Stop after so many problems; 0 is all.", valueName: "n"))
  var limit = 100

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit: \(limit) is below 0; 0 is all") }
  }

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "verify")
  }
}
