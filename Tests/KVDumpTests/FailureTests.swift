import LodestoreSystem
import Testing

@testable import KVDumpCommands

@Suite("Exit status")
struct ExitStatusTests {
  @Test func `the exit statuses are those of the documented table`() {
    let numbers = KVDumpCommands.ExitStatus.allCases.map(\.rawValue)
    #expect(numbers == [0, 1, 64, 65, 66, 70, 73, 74, 75, 77, 130, 141])
  }

  @Test(arguments: [
    (ENOENT, false, KVDumpCommands.ExitStatus.noInput), (ENOENT, true, .cannotCreate),
    (EEXIST, true, .cannotCreate),
    (EACCES, false, .notPermitted), (EROFS, true, .notPermitted), (ENOSPC, true, .inputOutput),
    (EIO, false, .inputOutput), (EAGAIN, false, .tryAgain), (EPIPE, false, .brokenPipe),
    (EINTR, false, .interrupted), (EISDIR, false, .inputOutput),
  ])
  func `the exit status follows from the system's error`(
    code: Int32, creating: Bool, expected: KVDumpCommands.ExitStatus
  ) {
    #expect(KVDumpCommands.ExitStatus(errno: code, creating: creating) == expected)
  }
}

@Suite("Command failure")
struct CommandFailureTests {
  private let failure = CommandFailure.unknown(
    UnknownName(kind: .entity, name: "Pods", known: ["Pod", "Film"]), in: "c.store")

  @Test func `a failure names the thing, the reason and the next step`() {
    #expect(
      failure.line == "kvdump: c.store: has no entity \"Pods\"; did you mean \"Pod\"? "
        + "see 'kvdump schema c.store'")
    #expect(failure.status == .usage)
  }

  @Test func `a failure is one JSON object with the facts`() {
    #expect(
      failure.json
        == #"{"error":{"code":"no-such-entity","message":"c.store: has no entity \"Pods\"; "#
        + #"did you mean \"Pod\"? see 'kvdump schema c.store'","entity":"Pods","didYouMean":"Pod","#
        + #""status":64}}"#)
  }

  @Test func `a failure shows its excerpt to people without control characters`() throws {
    var failure = failure
    failure.excerpt = ["  stars = > 3\u{1b}[2J", "          ^"]
    for (arguments, expected) in [
      ([], failure.line + "\n  stars = > 3\\u{1b}[2J\n          ^\n"),
      (["--quiet"], failure.line + "\n"), (["--format", "json"], failure.json + "\n"),
    ] {
      let memory = MemoryConsole()
      memory.console.apply(try OutputOptions.parse(arguments))
      memory.console.report(failure)
      #expect(memory.messages.text == expected)
    }
  }

  @Test(arguments: [
    ("noSuchStore", "no-such-store"), ("notAStore", "not-a-store"), ("invalidID", "invalid-id"),
    ("busy", "busy"),
  ])
  func `a failure writes its code in lower case`(name: String, code: String) {
    #expect(CommandFailure.kebab(name) == code)
  }

  @Test func `a failure prints a name without control characters`() {
    #expect(CommandFailure.noStore(at: "a\u{1b}[2J\n").line.contains("a\\u{1b}[2J\\n: no store"))
  }
}
