#if os(Linux)
  import Foundation
  import Synchronization
  import Testing

  @testable import EntityStore

  @Suite struct `Memory of an import` {
    @Test func `the memory of an import does not grow with the number of pages`() async throws {
      let few = try await peak(pages: 50)
      let many = try await peak(pages: 500)
      // Ten times as many pages may take 6 MiB more, for the allocator and the free list.
      #expect(many < few + 6 << 10, "\(few) KiB for 50 pages, \(many) KiB for 500")
    }

    /// The peak of anonymous memory of a process that imports `pages` pages, in KiB.
    private func peak(pages: Int) async throws -> Int {
      let folder = try TemporaryFolder()
      await #expect(processExitsWith: .success) {
        [folder = folder.path as String, pages = pages as Int] in
        try await MeasuredImport.run(in: folder, pages: pages)
      }
      try expectSound(folder.storePath)
      let text = try String(contentsOfFile: folder.path + "/peak", encoding: .utf8)
      return try #require(Int(text))
    }
  }

  enum MeasuredImport {
    static func run(in folder: String, pages: Int) async throws {
      let store = try Store(at: folder + "/test.lodestore", entities: [Pod.self])
      let peak = Peak()
      let generated = GeneratedPages(last: pages) { _ in peak.sample() }
      var options = ImportOptions()
      options.groupRecordLimit = 400
      let report = try await GeneratedPages.run(generated, into: store, options: options)
      precondition(report.pages == pages)
      try "\(peak.kibibytes)".write(
        toFile: folder + "/peak", atomically: true, encoding: .utf8)
    }

    /// The highest sample.
    ///
    /// The file's own mapped pages are not counted: the system takes them back.
    final class Peak: Sendable {
      private let highest = Mutex(0)

      var kibibytes: Int { highest.withLock { $0 } }

      func sample() {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let now = line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
        precondition(now > 0, "the system does not say how much memory is used")
        highest.withLock { $0 = max($0, now) }
      }
    }
  }
#endif
