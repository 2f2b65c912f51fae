import Lodestore
import Pods
import Service
import TestSupport
import Testing

@Suite struct `Pods` {
  /// Runs `body` with an empty library and a service of the project's samples.
  private func withLibrary(
    _ body: (PodLibrary, Service) async throws -> Void
  ) async throws {
    let service = try await Service.start(try .samples())
    do {
      try await withStorePath { path in
        let library = try PodLibrary(at: path)
        defer { library.store.close() }
        try await body(library, service)
      }
    } catch {
      await service.stop()
      throw error
    }
    await service.stop()
  }

  @Test func `pods are found by name and version, or made`() async throws {
    try await withLibrary { library, service in
      let first = try await library.synchronize(with: service.url)
      #expect(first.inserted == 63 && first.rejected == 0, "\(first)")
      try await library.store.delete(Podspec.where { $0.name == "Alamofire" })
      let again = try await library.synchronize(with: service.url)
      #expect(again.inserted == 3 && again.updated == 0 && again.unchanged == 60, "\(again)")
    }
  }

  @Test func `pods are in sections by their first letter while they come`() async throws {
    try await withLibrary { library, service in
      var updates = library.store.updates(of: PodLibrary.everything, sectionedBy: \.section)
        .makeAsyncIterator()
      #expect(try await updates.next()?.sections.isEmpty == true)
      _ = try await library.synchronize(with: service.url)
      let update = try #require(try await updates.next())
      #expect(update.sections.first?.key == "A")
      #expect(update.items.last?.name == "ZipArchive")
    }
  }

  @Test func `pods are found by words in name, summary and authors`() async throws {
    try await withLibrary { library, service in
      _ = try await library.synchronize(with: service.url)
      func names(_ text: String) async throws -> Set<String> {
        Set(try await library.store.fetch(PodLibrary.search(text)).map(\.name))
      }
      #expect(try await names("alamofire image") == ["AlamofireImage"])
      #expect(try await names("GWENDAL ROUE") == ["GRDB.swift"])
      #expect(try await names("sqlite") == ["FMDB", "GRDB.swift"])
      #expect(try await names("").count == 39)
      // A word in the name counts as three words in another text.
      let best = try await library.store.fetch(PodLibrary.search("json").limit(1))
      #expect(best.map(\.name) == ["SwiftyJSON"])
      #expect(try await names("alamofire imgae").isEmpty)
      #expect(try library.suggestions(for: "alamofire imgae").first == "image")
    }
  }

  @Test func `pods lead to their dependencies`() async throws {
    try await withLibrary { library, service in
      _ = try await library.synchronize(with: service.url)
      let moya = try #require(try await library.detail(of: "Moya"))
      #expect(moya.spec.version == "15.0.0")
      #expect(moya.dependencies.map(\.name) == ["Alamofire", "RxSwift"])
      // A library that is needed but has no podspec is stored too.
      #expect(try await library.store.exists(Pod.where { $0.name == "RxRelay" }))
      let needed = try await library.store.fetch(PodLibrary.mostNeeded)
      #expect(needed.first?.name == "Alamofire" && needed.first?.dependentCount == 4)
    }
  }
}
