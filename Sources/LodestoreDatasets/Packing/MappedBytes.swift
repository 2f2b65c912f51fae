package import LodestoreBytes
import LodestoreSystem

/// A file mapped into memory, as long as the object lives.
package final class MappedBytes {
  package let bytes: MutableByteView

  /// Maps a file for reading.
  package convenience init(reading path: String) throws(DatasetError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "open", path) }
    defer { close(descriptor) }
    let length = try FileBytes.length(descriptor, path: path)
    try self.init(descriptor, length: length, path: path)
  }

  private init(_ descriptor: Int32, length: UInt64, path: String) throws(DatasetError) {
    guard length > 0, length <= PublishedNames.lengthLimit, let count = Int(exactly: length) else {
      throw DatasetError(
        .inputOutput, "cannot map '\(path)': it has \(length) bytes; expected a file with content")
    }
    let address = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw .system(errno, "map", path) }
    bytes = MutableByteView(start: address, count: count)
  }

  deinit { munmap(bytes.baseAddress, bytes.count) }
}
