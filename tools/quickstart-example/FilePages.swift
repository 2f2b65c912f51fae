/// Reads files as pages, in the way of a web service that sends one page after the other.
///
/// Each file is a page. In a file whose name ends in `.jsonl`, each line is a page.
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
