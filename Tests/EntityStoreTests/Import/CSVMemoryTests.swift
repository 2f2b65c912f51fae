#if os(Linux)
  import EntityStore
  import Foundation
  import Testing

  @Suite struct `Memory of separated values` {
    @Test func `the memory of separated values does not grow with the number of rows`() async throws
    {
      let rows = SeededNumbers.environmentNumber("LODESTORE_CSV_ROWS") ?? 50_000
      let few = try await peak(rows: 5000)
      let many = try await peak(rows: rows)
      // The difference allows for memory that the allocator keeps.
      #expect(many < few + 4 << 10, "\(few) KiB for 5000 rows, \(many) KiB for \(rows)")
    }

    /// The peak of anonymous memory of a process that reads `rows` rows, in KiB.
    private func peak(rows: Int) async throws -> Int {
      let folder = try TemporaryFolder()
      await #expect(processExitsWith: .success) {
        [folder = folder.path as String, rows = rows as Int] in
        try await MeasuredValues.read(in: folder, rows: rows)
      }
      let text = try String(contentsOfFile: folder.path + "/peak", encoding: .utf8)
      return try #require(Int(text))
    }
  }

  enum MeasuredValues {
    static func read(in folder: String, rows: Int) async throws {
      let path = folder + "/values.csv"
      try write(rows, to: path)
      var options = CSVOptions()
      options.types = ["id": .integer]
      var (peak, pages, bytes) = (0, 0, 0)
      for try await page in FilePages.csv(path, options, recordsPerPage: 500) {
        pages += 1
        bytes += page.count
        if pages.isMultiple(of: 5) { peak = max(peak, try anonymousKibibytes()) }
      }
      precondition(
        pages == (rows + 499) / 500 && bytes > rows * 50, "\(pages) pages, \(bytes) bytes")
      try "\(peak)".write(toFile: folder + "/peak", atomically: true, encoding: .utf8)
    }

    private static func write(_ rows: Int, to path: String) throws {
      try "id,name,note\n".write(toFile: path, atomically: false, encoding: .utf8)
      let file = try #require(FileHandle(forWritingAtPath: path))
      try file.seekToEnd()
      for start in stride(from: 0, to: rows, by: 5000) {
        var text = ""
        for row in start..<min(start + 5000, rows) {
          text += "\(row),\"name, \"\"\(row)\"\"\",a note of line \(row)\r\n"
        }
        try file.write(contentsOf: Data(text.utf8))
      }
      try file.close()
    }

    private static func anonymousKibibytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
      return try #require(line?.split(separator: " ").compactMap { Int($0) }.first)
    }
  }
#endif
