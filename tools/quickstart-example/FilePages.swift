/// Pages from files, as a web service would send them one after the other.
///
/// A file is a page, except that in a file whose name ends in `.jsonl` a line is.
struct FilePages: AsyncSequence {
  var paths: [String]

  func makeAsyncIterator() -> Iterator { Iterator(paths: paths[...]) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var paths: ArraySlice<String>
    private var lines = Data()

    fileprivate init(paths: ArraySlice<String>) { self.paths = paths }

    mutating func next() async throws -> Data? {
      while true {
        while let end = lines.firstIndex(of: UInt8(ascii: "\n")) ?? lines.indices.last {
          let line = lines[...end]
          lines = lines[(end + 1)...]
          if line.count > 1 { return line }
        }
        guard let path = paths.popFirst() else { return nil }
        let content = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        guard path.hasSuffix(".jsonl") else { return content }
        lines = content
      }
    }
  }
}

/// A record of a page that cannot become an entity.
struct BadRecord: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
