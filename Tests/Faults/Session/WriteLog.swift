import Foundation

/// The shim's record of the changes to the files of a folder, in order.
struct WriteLog {
  struct Operation {
    enum Kind: UInt32 {
      case written = 1
      case writtenDurably, truncated, synced, created, linked, renamed, unlinked, syncedFolder,
        marked
      case failedToSync, failedToWrite
    }

    var kind: Kind
    /// The number of the file.
    ///
    /// Each created file has its own number, even if the system reuses an inode.
    var file: Int
    /// The offset of a write, the size of a truncation, the number of a mark.
    var number: Int
    /// The place in the log of the written bytes, of a name, or of two names with a zero byte in
    /// between.
    var payload: Range<Int>
  }

  /// An acknowledgement: a commit with the digest of its content, or a copy with its name.
  struct Mark {
    var position: Int
    var commit: Int
    var digest: UInt64
    var copy: String
  }

  /// The name in a mark of a write that failed.
  static let failedName = "failed"

  let bytes: [UInt8]
  private(set) var operations: [Operation] = []
  private(set) var marks: [Mark] = []
  /// The contents that failed writes may have left.
  private(set) var failures: [Mark] = []

  init(path: String) throws {
    bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    var files: [Int: Int] = [:]
    var offset = 0
    while offset + 24 <= bytes.count {
      let length = word(offset + 4, 4)
      guard let kind = Operation.Kind(rawValue: UInt32(word(offset, 4))) else { return }
      let inode = word(offset + 8, 8)
      let payload = (offset + 24)..<(offset + 24 + length)
      if kind == .created { files[inode] = operations.count + 1 }
      let operation = Operation(
        kind: kind, file: files[inode] ?? 0, number: word(offset + 16, 8), payload: payload)
      if kind == .marked {
        let mark = Mark(
          position: operations.count, commit: operation.number,
          digest: UInt64(bitPattern: Int64(word(payload.lowerBound, 8))),
          copy: text((payload.lowerBound + 8)..<payload.upperBound))
        if mark.copy == Self.failedName { failures.append(mark) } else { marks.append(mark) }
      }
      operations.append(operation)
      offset = payload.upperBound
    }
  }

  private func word(_ offset: Int, _ size: Int) -> Int {
    (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func names(_ operation: Operation) -> [String] {
    bytes[operation.payload].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
