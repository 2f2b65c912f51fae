import ArgumentParser

/// A command-line program: `kvdump`, or `kvdump-datasets`, which kvdump starts for some of its
/// commands.
package protocol CommandTool: ParsableCommand {
  /// Returns the command line to parse for the given one.
  static func completed(_ arguments: [String]) -> [String]
}

extension CommandTool {
  package static func completed(_ arguments: [String]) -> [String] { arguments }

  /// The names of the commands.
  private static var commandNames: [String] {
    commands.compactMap { $0.configuration.commandName }
  }

  private static var commands: [any ParsableCommand.Type] {
    configuration.groupedSubcommands.flatMap(\.subcommands)
  }

  /// Whether the word is a command, of the tool or of the parser.
  static func isCommand(_ word: String) -> Bool { word == "help" || commandNames.contains(word) }
}

/// Runs command lines and returns their exit status.
extension CommandTool {
  /// Runs a command line, given without the program's name, and reports every failure.
  package static func execute(_ arguments: [String], on console: Console) async -> ExitStatus {
    await finish(on: console) { try await run(completed(arguments), on: console) }
  }

  /// Runs a parsed command, as `execute(_:on:)` runs a command line.
  ///
  /// In a debug build the parser takes up to 60 ms for one command line, longer than most commands
  /// run. Tests that run one command many times parse its command line once.
  static func execute(parsed command: any ToolCommand, on console: Console) async -> ExitStatus {
    await finish(on: console) { try await run(command, on: console) }
  }

  private static func finish(
    on console: Console, after body: () async throws -> ExitStatus
  ) async -> ExitStatus {
    do {
      let status = try await body()
      try console.finish()
      return status
    } catch {
      let failure = error as? CommandFailure ?? .unexpected(error)
      // The rows before the failure are valid, and notes about them may explain it. If this fails
      // too, the first failure is reported.
      try? console.finish()
      console.report(failure)
      return failure.status
    }
  }

  private static func run(_ arguments: [String], on console: Console) async throws -> ExitStatus {
    let command: any ParsableCommand
    do {
      command = try parsed(arguments)
    } catch {
      return try finishParsing(arguments, after: error, on: console)
    }
    if let command = command as? any SiblingCommand {
      throw type(of: command).program.start([command.name] + command.arguments)
    }
    guard let command = command as? any ToolCommand else {
      return try runBuiltIn(command, arguments, on: console)
    }
    return try await run(command, on: console)
  }

  /// Parses a command line.
  ///
  /// The command's own type parses the words after its name, which takes half the time. In a debug
  /// build a parse by the whole program takes up to 60 ms. If the type refuses the words, the
  /// program parses the line and makes the messages.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let command = commands.first { $0.configuration.commandName == arguments.first }
    if let command = command as? any ToolCommand.Type,
      let parsed = try? command.parseAsRoot(Array(arguments.dropFirst())) as? any ToolCommand
    {
      return parsed
    }
    return try parseAsRoot(arguments)
  }

  private static func run(
    _ command: any ToolCommand, on console: Console
  ) async throws -> ExitStatus {
    console.apply(command.output)
    do {
      return try await command.run(on: console)
    } catch {
      throw command.failure(for: error)
    }
  }

  /// Runs commands of the parser itself: `help`, and an empty command line.
  private static func runBuiltIn(
    _ command: any ParsableCommand, _ arguments: [String], on console: Console
  ) throws -> ExitStatus {
    var command = command
    do {
      try command.run()
      return .success
    } catch {
      return try finishParsing(arguments, after: error, on: console)
    }
  }

  /// Handles an error of the parser: a page of help, the version, a completion script, or wrong
  /// use.
  private static func finishParsing(
    _ arguments: [String], after error: any Error, on console: Console
  ) throws -> ExitStatus {
    let known = commandNames
    guard exitCode(for: error) != .success else {
      // For `help` with an unknown command, the parser would show the general help.
      let words = arguments.filter { !$0.hasPrefix("-") }
      if words.first == "help", let name = words.dropFirst().first, name != "help",
        !known.contains(name)
      {
        throw CommandFailure.unknownCommand(name, known: known)
      }
      try console.output.write(fullMessage(for: error) + "\n")
      return .success
    }
    if FormatChoice.named(in: arguments)?.isJSON == true { console.useJSONForErrors() }
    guard let name = arguments.first(where: { !$0.hasPrefix("-") }) else {
      throw CommandFailure.wrongUse(wrongUse(error, arguments), command: nil)
    }
    guard isCommand(name) else {
      throw CommandFailure.unknownCommand(name, known: known)
    }
    throw CommandFailure.wrongUse(wrongUse(error, arguments), command: name)
  }

  /// Returns the parser's message.
  ///
  /// The parser takes a negative number for an option, and reports that the option before it lacks
  /// a value. This message names the value.
  private static func wrongUse(_ error: any Error, _ arguments: [String]) -> String {
    let text = message(for: error)
    guard let match = text.wholeMatch(of: /Missing value for '(--[a-z-]+)(.*)'/),
      let place = arguments.firstIndex(of: String(match.1)), place + 1 < arguments.count,
      Double(arguments[place + 1]) != nil
    else { return text }
    return "The value '\(arguments[place + 1])' is invalid for '\(match.1)\(match.2)'"
  }
}
