import EntityStore
import Foundation

/// Reads whole texts of separated values, whole or in pieces.
enum CSVReading {
  /// Reads all rows, or returns the first error.
  static func rows(
    _ bytes: [UInt8], _ options: CSVOptions = CSVOptions(), pieces: [Int] = []
  ) -> Result<[[String]], CSVError> {
    collect(bytes, options, pieces) { reader throws(CSVError) in try reader.next()?.fields }
  }

  /// Reads all pages as text, or returns the first error.
  static func pages(
    _ bytes: [UInt8], _ options: CSVOptions = CSVOptions(), of count: Int = 1000,
    pieces: [Int] = []
  ) -> Result<[String], CSVError> {
    collect(bytes, options, pieces) { reader throws(CSVError) in
      try reader.nextPage(of: count).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// - Parameter pieces: The offsets at which the bytes are cut, in ascending order.
  private static func collect<T>(
    _ bytes: [UInt8], _ options: CSVOptions, _ pieces: [Int],
    _ next: (inout CSVReader) throws(CSVError) -> T?
  ) -> Result<[T], CSVError> {
    var reader = CSVReader(options)
    var found: [T] = []
    do throws(CSVError) {
      var start = 0
      for end in pieces + [bytes.count] {
        reader.append(bytes[start..<end])
        start = end
        while let item = try next(&reader) { found.append(item) }
      }
      reader.finish()
      while let item = try next(&reader) { found.append(item) }
      return .success(found)
    } catch { return .failure(error) }
  }
}
