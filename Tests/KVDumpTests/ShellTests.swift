// Whole Foundation: attributes of files are not in FoundationEssentials.
import Foundation
import Testing

@testable import KVDumpCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The prompt")
struct ShellTests {
  /// A prompt for the store of a folder, which has shown its first line.
  private func prompt(
    _ folder: StoreFolder, _ arguments: String..., environment: [String: String] = [:]
  ) throws -> PseudoTerminal? {
    guard let tool = ToolProcess.path, PseudoTerminal.hasEditor else { return nil }
    let state = ["XDG_STATE_HOME": folder.path + "/state"].merging(environment) { $1 }
    let terminal = try PseudoTerminal(
      [tool, folder.store, "--color", "never"] + arguments, environment: state)
    terminal?.expect("1 entity, 5 records. 'help' lists the commands, Control-D leaves.")
    terminal?.expectPrompt()
    return terminal
  }

  @Test func `commands run at a prompt, and leaving it leaves only the file of lines`()
    async throws
  {
    let folder = try await QueriedStore.make()
    await folder.run("count", "Pod")
    let before = try folder.files()
    guard let terminal = try prompt(folder) else { return }
    terminal.enter("count Pod stars > 20")
    terminal.expect("count  2")
    terminal.expectPrompt()
    terminal.enter("query Pod name == \"école\" --fields name --format jsonl")
    terminal.expect("{\"name\":\"école\"}")
    terminal.expectPrompt()
    // A waiting prompt has no file of the store open.
    let held = try FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(try #require(terminal.processes.first))/fd")
    #expect(!held.isEmpty)
    for number in held {
      let file = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(terminal.processes[0])/fd/\(number)")
      #expect(file?.contains("lodestore") != true)
    }
    #expect(terminal.end(typing: "\u{4}") == 0)
    #expect(terminal.isInUsualMode)
    #expect(try folder.files() == before + ["state"])
    let history = folder.path + "/state/kvdump/history"
    let text = String(decoding: try folder.bytes(history), as: UTF8.self)
    #expect(
      text == "count Pod stars > 20\nquery Pod name == \"école\" --fields name --format jsonl\n")
    let mode = try FileManager.default.attributesOfItem(atPath: history)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `an error in words does not end the prompt`() async throws {
    let folder = try await QueriedStore.make()
    guard let terminal = try prompt(folder) else { return }
    for (line, message) in [
      ("qurey Pod", "did you mean \"query\""), ("query Pods", "did you mean \"Pod\""),
      ("query Pod stars >> 3", "^"), ("restore x", "no such command"),
      ("count Pod --nonsense", "unknown option"),
    ] {
      terminal.enter(line)
      terminal.expect(message)
      terminal.expectPrompt()
    }
    terminal.enter("quit")
    #expect(terminal.end() == 0)
  }

  @Test func `a condition continues on the next line until it is complete`() async throws {
    let folder = try await QueriedStore.make()
    guard let terminal = try prompt(folder) else { return }
    terminal.enter("query Pod license == \"MIT\" AND")
    terminal.expectPrompt(".> ")
    terminal.enter("(stars > 20 OR")
    terminal.expectPrompt(".> ")
    terminal.enter("name == \"Ecole\") --sort name --fields version --format csv")
    terminal.expect("version\r\r\n2.0.0\r\r\n0.9\r\r\n")
    terminal.expectPrompt()
    // The lines are one in the recall.
    terminal.type("\u{1b}[A\r")
    terminal.expect("version\r\r\n2.0.0\r\r\n0.9\r\r\n")
    terminal.expectPrompt()
    terminal.enter("exit")
    #expect(terminal.end() == 0)
  }

  @Test func `the tab key completes commands, entities, paths, operators and options`()
    async throws
  {
    let folder = try await QueriedStore.make()
    guard let terminal = try prompt(folder) else { return }
    // libedit moves the cursor between the typed and the completed characters.
    terminal.type("que\tP\tlicense.t\tBEG\t\"M\" A\tsta\t> 20 --li\t5 --fo\tcs\t--fie\tnam\t\r")
    terminal.expect("name\r\r\nAFNetworking\r\r\n")
    terminal.expectPrompt()
    terminal.type("query Pod na\t== \"Ec\t--format csv --fields version\r")
    terminal.expect("version\r\r\n0.9\r\r\n")
    terminal.expectPrompt()
    #expect(terminal.end(typing: "\u{4}") == 0)
    let history = try folder.bytes(folder.path + "/state/kvdump/history")
    #expect(
      String(decoding: history, as: UTF8.self).hasPrefix(
        "query Pod license.type BEGINSWITH[cd] \"M\" AND stars > 20 --limit 5 --format csv "
          + "--fields name"))
  }

  @Test func `Control-C drops a line and ends a running command, and the prompt stays`()
    async throws
  {
    let folder = try await QueriedStore.make()
    guard let terminal = try prompt(folder) else { return }
    terminal.type("delete Pod stars > 0 --yes\u{3}")
    terminal.expectPrompt()
    terminal.enter("query Pod (stars > 1 AND")
    terminal.expectPrompt(".> ")
    terminal.type("\u{3}")
    terminal.expectPrompt()
    terminal.enter("watch Pod")
    terminal.expectCommand("watch")
    #expect(terminal.isInUsualMode)
    terminal.type("\u{3}")
    terminal.expectPrompt()
    terminal.enter("count Pod")
    terminal.expect("count  5")
    terminal.expectPrompt()
    #expect(terminal.end(typing: "\u{4}") == 0)
  }

  @Test(arguments: [SIGSEGV, SIGKILL])
  func `a crash of a command ends neither the prompt nor the terminal's mode`(signal: Int32)
    async throws
  {
    let folder = try await QueriedStore.make()
    guard let terminal = try prompt(folder) else { return }
    terminal.enter("watch Pod")
    terminal.expectCommand("watch")
    kill(try #require(terminal.processes.last), signal)
    terminal.expectPrompt()
    terminal.enter("count Pod")
    terminal.expect("count  5")
    terminal.expectPrompt()
    // A signal that ends the prompt itself restores the mode too.
    #expect(!terminal.isInUsualMode)
    kill(try #require(terminal.processes.first), SIGTERM)
    #expect(terminal.end() != 0)
    #expect(terminal.isInUsualMode)
  }

  @Test func `a terminal that cannot move its cursor edits the lines itself`() async throws {
    let folder = try await QueriedStore.make()
    guard let tool = ToolProcess.path,
      let terminal = try PseudoTerminal(
        [tool, folder.store, "--no-history"],
        environment: ["TERM": "dumb", "HOME": folder.path])
    else { return }
    terminal.expect("no libedit")
    terminal.expect("a> ")
    terminal.type("nonsense\u{3}")
    terminal.expect("a> ")
    terminal.enter("count Pod stars ==")
    terminal.expect(".> ")
    terminal.enter("20")
    terminal.expect("count  2")
    terminal.expect("a> ")
    #expect(terminal.end(typing: "\u{4}") == 0)
    #expect(!FileFacts.exists(folder.path + "/.local"))
  }

  @Test func `earlier lines are recalled by the arrow keys in a later prompt`() async throws {
    let folder = try await QueriedStore.make()
    for _ in 0..<2 {
      guard let terminal = try prompt(folder) else { return }
      if try !folder.files().contains("state") {
        terminal.enter("count Pod stars == 31")
      } else {
        terminal.type("\u{1b}[A\r")
      }
      terminal.expect("count  1")
      terminal.expectPrompt()
      #expect(terminal.end(typing: "\u{4}") == 0)
    }
  }

  /// Runs the commands of a text without a terminal.
  private func runFile(_ folder: StoreFolder, _ text: String) throws -> (
    status: Int32, data: String
  )? {
    guard let tool = ToolProcess.path else { return nil }
    let input = try folder.file("commands.txt", text)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = [folder.store]
    process.standardInput = FileHandle(forReadingAtPath: input)
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test func `commands from a file run until the first error`() async throws {
    let folder = try await QueriedStore.make()
    let text = """
      # A comment, and a condition over two lines.
      count Pod stars > 20 OR
        stars == 20

      query Pod stars == 1 --exists
      count Pod
      """
    guard let whole = try runFile(folder, text) else { return }
    #expect(whole.status == 0)
    #expect(whole.data == "{\"count\":4}\n{\"count\":5}\n")
    let cut = try #require(try runFile(folder, "count Pod\ncount Nothing\ncount Pod\n"))
    #expect(cut.status == KVDumpCommands.ExitStatus.usage.rawValue)
    #expect(cut.data == "{\"count\":5}\n")
    // A command cannot take the next lines for its own input.
    let asking = try #require(
      try runFile(folder, "import - --entity Pod\ndelete Pod --all --yes\n"))
    #expect(asking.status == 0 && asking.data.contains(#""found":5,"deleted":5"#))
    #expect(try #require(try runFile(folder, "")).status == 0)
  }

  @Test func `a path that is no store is refused as before`() async throws {
    let console = MemoryConsole()
    #expect(await console.run("nonsense") == .usage)
    #expect(console.messages.text.contains("no such command"))
    let other = MemoryConsole()
    #expect(await other.run("/nowhere/x.lodestore") == .noInput)
  }
}
