import BenchmarkFigures
import Foundation

/// Functions for the files of the stores of all sides.
enum StoreFile {
  static func size(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.size] as? Int) ?? 0
  }

  /// Removes the file with the engine's further files.
  static func remove(_ path: String) {
    for suffix in ["", "-lock", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// The free space of the disk with `directory`, in bytes.
  static func freeRoom(in directory: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: directory)
    guard let room = attributes[.systemFreeSize] as? NSNumber else {
      throw BenchmarkError("cannot find out how much room there is in \(directory)")
    }
    return room.intValue
  }
}
