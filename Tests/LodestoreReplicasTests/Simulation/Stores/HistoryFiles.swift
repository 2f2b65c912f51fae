#if Datasets
  import Foundation

  /// The files of machines.
  enum HistoryFiles {
    /// A folder in memory where the system has one, because nothing here tests syncs.
    static let root =
      FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()

    static func bytes(of path: String) -> [UInt8]? {
      FileManager.default.contents(atPath: path).map { Array($0) }
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func make(_ path: String) throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Copies a folder as a killed process leaves it, without its locks.
    static func copy(_ folder: String, to target: String) throws {
      try make(target)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder)
      where !name.hasSuffix("lock") {
        let (from, to) = ("\(folder)/\(name)", "\(target)/\(name)")
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: from, isDirectory: &isFolder) else { continue }
        if isFolder.boolValue {
          try copy(from, to: to)
        } else {
          try FileManager.default.copyItem(atPath: from, toPath: to)
        }
      }
    }
  }
#endif
