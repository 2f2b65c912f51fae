import Foundation
import Lodestore
import Pods
import Service
import TestSupport
import Testing

/// The program runs as a separate process, which the test kills.
@Suite struct `An interrupted import of pods` {
  @Test(.timeLimit(.minutes(2)))
  func `an interrupted import of pods continues after the last committed page`() async throws {
    try await withStorePath { path in try await interrupt(path) }
  }

  private func interrupt(_ path: String) async throws {
    // There are seven pages. The process cannot end before the test kills it, because the fifth
    // page does not come.
    let service = try await Service.start(
      try .samples(), faults: Faults(withheld: "/pods?page=4"))
    let library = try PodLibrary(at: path)
    defer { library.store.close() }

    let process = try load(path, service.url)
    while process.isRunning, try await library.store.count(Podspec.all) == 0 {
      try await Task.sleep(for: .milliseconds(5))
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    let committed = try await library.store.count(Podspec.all)
    #expect(committed > 0 && committed < 63)

    let count = service.requests.count
    service.faults = Faults()
    let last = try load(path, service.url)
    last.waitUntilExit()
    #expect(last.terminationStatus == 0)
    let pages = service.requests.dropFirst(count).map(\.path)
    #expect(!pages.contains("/pods?page=0") && pages.contains("/pods?page=6"), "\(pages)")
    await service.stop()

    let specs = try await library.store.fetch(PodLibrary.everything)
    #expect(specs.count == 63)
    #expect(Set(specs.map { "\($0.name) \($0.version)" }).count == 63)
    let reference = try await reference()
    #expect(specs.map(\.name) == reference.names)
    let needed = try await library.store.fetch(PodLibrary.mostNeeded).map(\.dependentCount)
    #expect(needed == reference.dependentCounts)
  }

  /// The result of an import that is not interrupted.
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

  /// Makes a process of the program that loads from a service.
  private func load(_ store: String, _ service: URL) throws -> Process {
    let process = program("pods", ["--store", store, "--url", service.absoluteString])
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }
}
