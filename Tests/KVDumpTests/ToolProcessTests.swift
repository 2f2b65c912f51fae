// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import LMDB
import Testing

@testable import KVDumpCommands

/// The tool itself, which is built next to the tests; without it, the tests print a message and
/// pass.
enum ToolProcess {
  static var path: String? {
    let path = CommandLine.arguments.first.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/kvdump"
    }
    if let path, FileFacts.exists(path) { return path }
    print("skipped: no kvdump beside the tests")
    return nil
  }

  /// Starts a line of the shell, in which `$0` is the tool and `$1` the store.
  static func start(_ line: String, _ tool: String, _ store: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line, tool, store]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }
}

@Suite("The program")
struct ToolProcessTests {
  @Test(arguments: [">&-", ">&- 2>&-", "<&- >&-", "<&- >&- 2>&-"])
  func `kvdump writes nothing into the store through a closed stream's descriptor`(closed: String)
    async throws
  {
    guard let tool = ToolProcess.path else { return }
    let folder = try await QueriedStore.make()
    for (line, ids) in [
      (#"exec "$0" export "$1" Pod"#, "1 2 3 4 5"),
      (#"exec "$0" delete "$1" Pod 'stars > 20' --yes"#, "3 4 5"),
    ] {
      let process = try ToolProcess.start("\(line) \(closed)", tool, folder.store)
      process.waitUntilExit()
      #expect(process.terminationStatus == KVDumpCommands.ExitStatus.inputOutput.rawValue)
      #expect(await folder.ids() == ids)
      #expect(await folder.isSound())
    }
  }

  @Test func `kvdump refuses a store that another process has open by another name`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await QueriedStore.make()
    let alias = folder.path + "/alias.lodestore"
    try FileManager.default.linkItem(atPath: folder.store, toPath: alias)
    let environment = try EnvironmentRegistry.open(folder.store, options: EnvironmentOptions()) {
      _ in
    }
    for (name, status) in [
      (alias, KVDumpCommands.ExitStatus.tryAgain), (folder.store, .success),
    ] {
      for line in [
        #"exec "$0" count "$1" Pod"#, #"exec "$0" delete "$1" Pod 'stars > 1000' --yes"#,
      ] {
        let process = try ToolProcess.start(line, tool, name)
        process.waitUntilExit()
        #expect(process.terminationStatus == status.rawValue, "\(line) \(name)")
      }
    }
    EnvironmentRegistry.close(environment)
    #expect(await folder.ids() == "1 2 3 4 5")
  }

  /// The directory by another mount is the same pair of files; the data file alone has another lock
  /// file there.
  @Test(arguments: [false, true])
  func `kvdump recognizes a store through a bind mount`(isFileAlone: Bool) async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await QueriedStore.make()
    let other = folder.path + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let (source, place) =
      isFileAlone ? (folder.store, other + "/a.lodestore") : (folder.path, other)
    if isFileAlone { _ = FileManager.default.createFile(atPath: place, contents: nil) }
    let mount = #"mount --bind '\#(source)' '\#(place)'"#
    let trial = try ToolProcess.start("unshare -m sh -c \"\(mount)\"", tool, "")
    trial.waitUntilExit()
    guard trial.terminationStatus == 0 else {
      print("skipped: no bind mounts without the rights of root")
      return
    }
    let environment = try EnvironmentRegistry.open(folder.store, options: EnvironmentOptions()) {
      _ in
    }
    let status = isFileAlone ? KVDumpCommands.ExitStatus.tryAgain : .success
    for command in ["count \"$1\" Pod", "update \"$1\" Pod --all stars=7 --yes"] {
      let process = try ToolProcess.start(
        "exec unshare -m sh -c '\(mount.replacing("'", with: "")) && exec \"$0\" \(command)' \"$0\" \"$1\"",
        tool, other + "/a.lodestore")
      process.waitUntilExit()
      #expect(process.terminationStatus == status.rawValue, "\(command)")
    }
    EnvironmentRegistry.close(environment)
    let sevens = await folder.run("count", "Pod", "stars == 7").data
    #expect(sevens == (isFileAlone ? #"{"count":0}"# : #"{"count":5}"#) + "\n")
    #expect(await folder.isSound())
  }

  @Test func `kvdump asks no question through a pipe`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try await QueriedStore.make()
    let process = try ToolProcess.start(
      #"echo y | "$0" delete "$1" Pod --all"#, tool, folder.store)
    process.waitUntilExit()
    #expect(process.terminationStatus == KVDumpCommands.ExitStatus.usage.rawValue)
    #expect(await folder.ids() == "1 2 3 4 5")
  }

  @Test func `an export that is ended leaves a whole file or no file`() async throws {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    let rows = (0..<20_000).map { "{\"k\":\($0)}" }.joined(separator: "\n")
    try await folder.load(
      rows, "--entity", "E", "--unique", "k", "--infer", name: "rows.jsonl")
    let process = try ToolProcess.start(
      #"exec "$0" export "$1" E "$1.jsonl""#, tool, folder.store)
    while process.isRunning, try !folder.files().contains(where: { $0.hasPrefix(".lodestore.") }) {}
    process.terminate()
    process.waitUntilExit()
    #expect(try !folder.files().contains { $0.hasPrefix(".lodestore.") })
    // The signal may come when the file has its name already.
    if process.terminationReason == .exit || FileFacts.exists(folder.store + ".jsonl") {
      if process.terminationReason == .exit { #expect(process.terminationStatus == 0) }
      let lines = try folder.bytes(folder.store + ".jsonl").split(separator: UInt8(ascii: "\n"))
      #expect(lines.count == 20_000)
    }
  }
}
