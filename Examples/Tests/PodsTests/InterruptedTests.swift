import Foundation
import Lodestore
import Pods
import Service
import Testing

/// The program as a process that is killed.
@Suite struct `An interrupted import of pods` {
  @Test(.timeLimit(.minutes(2)))
  func `goes on behind the last page that was committed, wherever it is killed`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pods-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "pods.lodestore").path
    // Seven pages, 150 milliseconds each, so that a kill falls between commits.
    let service = try await Service.start(
      try .samples(), faults: Faults(delay: .milliseconds(150)))
    var kills = 0
    for wait in [250, 400, 550] {
      let process = try program(path, service.url)
      try await Task.sleep(for: .milliseconds(wait))
      if process.isRunning {
        kill(process.processIdentifier, SIGKILL)
        kills += 1
      }
      process.waitUntilExit()
    }
    #expect(kills > 0)
    let last = try program(path, service.url)
    last.waitUntilExit()
    #expect(last.terminationStatus == 0)
    await service.stop()

    let library = try PodLibrary(at: path)
    let specs = try await library.store.fetch(PodLibrary.everything)
    #expect(specs.count == 63)
    #expect(Set(specs.map { "\($0.name) \($0.version)" }).count == 63)
    let reference = try await reference()
    #expect(specs.map(\.name) == reference.names)
    let needed = try await library.store.fetch(PodLibrary.mostNeeded).map(\.dependentCount)
    #expect(needed == reference.dependentCounts)
  }

  /// What is there when nothing interrupts.
  private func reference() async throws -> (names: [String], dependentCounts: [Int]) {
    let library = try PodLibrary()
    let service = try await Service.start(try .samples())
    _ = try await library.synchronize(with: service.url)
    await service.stop()
    return (
      try await library.store.fetch(PodLibrary.everything).map(\.name),
      try await library.store.fetch(PodLibrary.mostNeeded).map(\.dependentCount)
    )
  }

  /// The program that is built beside the tests, loading from a service.
  private func program(_ store: String, _ service: URL) throws -> Process {
    let tests = URL(filePath: CommandLine.arguments[0])
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appending(path: "pods")
    process.arguments = ["--store", store, "--url", service.absoluteString]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }
}
