// Whole Foundation: the folder's `Process` is not in FoundationEssentials.
import Foundation
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

@Suite(.serialized) struct `A killed command` {
  /// The variable `LODESTORE_KILLS` sets the total number of kills.
  @Test func `a killed command leaves whole commits, and no file but its own`() async throws {
    try await KilledTrial.run("LODESTORE_KILLS", by: [SIGKILL], salt: 41)
  }
}

@Suite(.serialized) struct `A command that a signal ends` {
  /// The variable `LODESTORE_SIGNALS` sets the total number of signals.
  @Test func `a command that a signal ends leaves whole commits, and no temporary file`()
    async throws
  {
    try await KilledTrial.run("LODESTORE_SIGNALS", by: [SIGTERM, SIGINT], salt: 43)
  }
}

private struct KilledTrial {
  let command: KilledCommand
  let folder: KilledFolder
  let signal: Int32
  let replay: String

  /// Makes the number of trials that the variable states, over all commands in turn.
  static func run(_ variable: String, by signals: [Int32], salt: UInt64) async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await KilledFolder(tool: tool)
    var commands = KilledCommand.all
    for index in commands.indices { try await folder.prepare(&commands[index]) }
    let kills = DamageGenerator.number(variable).map { Int(clamping: $0) } ?? commands.count
    var random = DamageGenerator(salt: salt)
    var results = commands.map { _ in KillResults() }
    for round in 0..<kills {
      let index = round % commands.count
      let command = commands[index]
      // Some signals come after the end of the command, which must then have done its work.
      let delay = Int.random(in: 0...(command.microseconds * 13 / 10), using: &random)
      let signal = signals[round / commands.count % signals.count]
      let trial = KilledTrial(
        command: command, folder: folder, signal: signal,
        replay: "\(command.name) ended by \(signal) after \(delay) µs, \(DamageGenerator.replay)")
      try await trial.run(after: delay, &results[index])
    }
    for (command, results) in zip(commands, results) where results.kills + results.ends > 0 {
      print(
        "\(command.name): \(results.kills) killed in \(command.microseconds) µs, \(results.ends) got to their end, "
          + "\(results.changed) had committed, opened again in at most \(results.slowest) µs")
    }
    print("kills: \(results.reduce(0) { $0 + $1.kills }) (\(DamageGenerator.replay))")
  }

  private func run(after delay: Int, _ results: inout KillResults) async throws {
    try folder.reset(for: command)
    let (isKilled, said) = try folder.kill(command, after: delay, by: signal)
    if signal != SIGKILL {
      #expect(try !folder.victim.files().contains { $0.hasPrefix(".lodestore.") }, "\(replay)")
    }
    results.kills += isKilled ? 1 : 0
    results.ends += isKilled ? 0 : 1
    // The command prints a complete line only when its result is safe on the disk.
    let isAcknowledged = !isKilled || said.hasSuffix("\n")
    let slowest = try expectFastOpening()
    results.slowest = max(results.slowest, slowest)
    let content = await KilledFolder.content(of: folder.victim.store)
    let state = command.contents.firstIndex(of: content)
    #expect(state != nil, "a part of a commit, \(replay)")
    var isMade = false
    if command.output == nil {
      #expect(!isAcknowledged || state == command.contents.count - 1, "lost, \(replay)")
    } else {
      isMade = try await expectOutput(isAcknowledged: isAcknowledged)
    }
    if isMade || state != 0 { results.changed += 1 }
    try expectSound(folder.victim.store)
    // A second run removes the files of a killed one.
    if isMade, !command.isReplacing, !command.isImport {
      try FileManager.default.removeItem(atPath: folder.path(of: command))
    }
    try await folder.run(command)
    let after = await KilledFolder.content(of: folder.victim.store)
    #expect(after == command.contents.last, "\(replay)")
    try expectSound(folder.victim.store)
    let expected = ["a.lodestore", "a.lodestore-lock", command.output].compactMap { $0 }
    #expect(
      try folder.victim.files().filter { $0 != (command.output ?? "") + "-lock" } == expected,
      "\(replay)")
  }

  private func expectSound(_ path: String) throws {
    let report = try Verifier.verify(path: path)
    #expect(report.isSound && report.findings == [], "\(replay)")
  }

  /// Expects the output file to be complete, missing, or the file from before the command.
  ///
  /// Returns whether it exists.
  private func expectOutput(isAcknowledged: Bool) async throws -> Bool {
    let path = folder.path(of: command)
    guard FileFacts.exists(path) else {
      #expect(!isAcknowledged && !command.isReplacing, "lost, \(replay)")
      return false
    }
    if let bytes = command.outputBytes {
      let found = try folder.victim.bytes(path)
      let isBefore = command.isReplacing && found == KilledFolder.replaced
      #expect(isBefore ? !isAcknowledged : found == bytes, "\(replay)")
      return !isBefore
    }
    let content = await KilledFolder.content(of: path, mayBeEmpty: command.isImport)
    let possible = isAcknowledged ? command.outputContents.suffix(1) : command.outputContents[...]
    #expect(possible.contains(content), "lost, \(replay)")
    try expectSound(path)
    return true
  }

  /// Expects the store to open after a kill without a wait or a check; returns the time in
  /// microseconds.
  private func expectFastOpening() throws -> Int {
    let (start, waitedBefore) = (DispatchTime.now(), Self.waitedNanoseconds)
    let count = try ReadStore.read(folder.victim.store, on: MemoryConsole().console) { snapshot in
      try snapshot.count(of: snapshot.entity("E"))
    }
    let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
    let microseconds = Int(elapsed) / 1_000 - (Self.waitedNanoseconds - waitedBefore) / 1_000
    #expect(count > 0 && microseconds < 100_000, "\(microseconds) µs, \(replay)")
    return microseconds
  }

  /// The time that this thread waited for a processor, in nanoseconds; 0 if the system does not
  /// report it.
  private static var waitedNanoseconds: Int {
    guard let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)
    else { return 0 }
    let numbers = text.split(separator: " ")
    return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
  }
}

/// The results of the trials of a command.
struct KillResults {
  var kills = 0
  var ends = 0
  /// The number of killed commands that had committed or made something.
  var changed = 0
  /// The longest opening afterwards, in microseconds.
  var slowest = 0
}
