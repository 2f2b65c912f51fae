import EntityStore
import Foundation
import LMDB
import Testing

@testable import KVDumpCommands

/// A run of `kvdump salvage`, and its output.
enum SalvageRun {
  struct Outcome {
    var status: KVDumpCommands.ExitStatus
    var rows: [[String: Any]]
    var messages: String
    func number(_ entity: String, _ column: String) -> Int {
      rows.first { $0["kind"] as? String == "records" && $0["name"] as? String == entity }?[column]
        as? Int ?? -1
    }
  }

  static func outcome(_ path: String, into out: String) async throws -> Outcome {
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["salvage", path, out, "--format", "jsonl"], on: memory.console)
    let rows = try memory.data.text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
    return Outcome(status: status, rows: rows, messages: memory.messages.text)
  }
}

/// The pages of a file, of 4,096 bytes each, to be changed.
struct FilePages {
  var bytes: [UInt8]
  init(_ path: String) throws {
    bytes = Array(try #require(FileManager.default.contents(atPath: path)))
  }

  func half(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }
  /// Reads a number, which is below 2^32 in these files.
  func number(_ offset: Int) -> Int { half(offset) | half(offset + 2) << 16 }
  /// The page format of files that the tests' engine writes.
  let format = PageFormat.ofEngine
  /// The number, 0 or 1, of the meta page of the newest commit.
  var newestMeta: Int {
    let number = format.meta.transaction
    return bytes[number] > bytes[4_096 + number] ? 0 : 1
  }
  func flags(_ page: Int) -> UInt8 { bytes[page * 4_096 + format.flags] }
  func nodeCount(_ page: Int) -> Int {
    (half(page * 4_096 + format.lower) + format.origin - format.headerSize) / 2
  }
  /// The offset of a node in the file.
  func node(_ page: Int, _ slot: Int) -> Int {
    page * 4_096 + format.origin + half(page * 4_096 + format.slot(slot))
  }
  var count: Int { bytes.count / 4_096 }
  func key(_ page: Int) -> Int {
    Int(bytes[node(page, 0) + 6])
  }
  func write(_ path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
}
