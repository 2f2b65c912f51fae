import Foundation
import Lodestore
import LodestoreReplicas
import Notes
import TestSupport
import Testing

@Suite struct `The notes` {
  @Test(.timeLimit(.minutes(2)))
  func `a list in another process shows notes of two writers, one after the other`() async throws {
    try await withStorePath { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let bucket = ["--bucket", folder + "/bucket"]
      let second = folder + "/second.lodestore"
      let first = try run(["add", "one", "two", "--store", path] + bucket)
      #expect(first == "in the bucket: one\nin the bucket: two\n")

      let list = program("notes", ["follow", "--copy", folder + "/copy", "--until", "4"] + bucket)
      let shown = Pipe()
      list.standardOutput = shown
      try list.run()
      _ = try run(["add", "three", "--store", path] + bucket)
      let taken = try run(["takeover", second] + bucket)
      #expect(taken.hasSuffix("may write from now on, after write 3\n"), "\(taken)")
      _ = try run(["add", "four", "--store", second] + bucket)

      let data = try shown.fileHandleForReading.readToEnd() ?? Data()
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      list.waitUntilExit()
      #expect(list.terminationStatus == 0)
      // The first lines have no sign, and the number of updates depends on the machine.
      let notes = lines.dropLast().map { $0.hasPrefix("+ ") ? String($0.dropFirst(2)) : $0 }
      #expect(notes == ["one", "two", "three", "four"])
      #expect(lines.last?.hasPrefix("slot ") == true)

      let status = try run(["status"] + bucket)
      #expect(status.contains("writes"), "\(status)")
    }
  }

  @Test func `a replaced writer is refused, and its store stays as it is`() async throws {
    try await withStorePath { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      try FileManager.default.createDirectory(
        atPath: folder + "/bucket", withIntermediateDirectories: true)
      let bucket = try ReplicaStorage.folder(folder + "/bucket")
      var writer = try await NoteWriter(at: path, sendingTo: bucket)
      try await writer.add("one")
      try await writer.close()
      let taken = try await Replica.takeOver(bucket, at: folder + "/second.lodestore")
      let error = await #expect(throws: ReplicaError.self) {
        _ = try await NoteWriter(at: path, sendingTo: bucket)
      }
      #expect(error?.code == .fenced)
      writer = try await NoteWriter(at: taken.path, sendingTo: bucket)
      try await writer.add("two")
      try await writer.close()

      let reader = try await NoteReader(in: folder + "/copy", following: bucket)
      for try await update in reader.updates where update.items.count == 2 {
        #expect(update.items.map(\.text) == ["one", "two"])
        break
      }
      await reader.close()
    }
  }

  /// Runs the program, and returns its output.
  private func run(_ arguments: [String]) throws -> String {
    let process = program("notes", arguments)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }
}
