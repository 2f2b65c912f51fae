#if Datasets
  import EntityStore
  import Foundation
  import LodestoreDatasets
  import LodestoreWeb

  // The Swift of the article "Cached datasets", and of the article on attached datasets where a
  // cached dataset is used. `ReadmeTests` checks that the articles have nothing else.

  private typealias Podspec = Spec

  private enum CachedDatasetsArticle {
    static func fiveLines(
      _ cacheFolder: String, _ seedPath: String, _ url: URL
    ) throws -> CachedDataset {
      let keys = try TrustedKeys("1:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
      let pods = try CachedDataset(
        "pods", in: cacheFolder, entities: [Podspec.self], seed: seedPath,
        origin: .published(at: url, trusting: keys))
      pods.keepFresh()
      let newest = try pods.currentStore.fetch(Podspec.all.sorted(by: \.name).limit(20))

      _ = newest
      return pods
    }

    static func policy(_ pods: CachedDataset) async throws {
      let generation = try await pods.read(.freshElseCache)
      print(generation.number, generation.age)
      if let error = generation.refreshError { print("not refreshed: \(error.message)") }

      let strict = CachedDataset.Options().refusesOlder(than: .seconds(30 * 86_400))

      _ = strict
    }

    static func choosing(
      _ cacheFolder: String, _ url: URL, _ keys: TrustedKeys, _ token: String
    ) throws -> CachedDataset {
      var options = CachedDataset.Options()
      options.fields = ["Authorization": "Bearer \(token)"]
      options.freshFor = .zero
      options.checkInterval = .seconds(6 * 3600)
      let pods = try CachedDataset(
        "pods", in: cacheFolder, entities: [Podspec.self],
        origin: .published(at: url, trusting: keys), options: options)

      return pods
    }

    static func reporting(_ pods: CachedDataset) throws {
      let status = try pods.status
      print(status.generation ?? 0, status.failureCount)
      if let failure = status.lastFailure { print(failure.date, failure.message) }
      if let next = status.nextAttempt { print("no refresh by itself before \(next)") }
    }

    static func waiting(_ libraries: CachedDataset) async throws {
      libraries.keepFresh()
      for try await _ in libraries.generations { break }
    }

    static func following(_ pods: CachedDataset) async throws {
      for try await generation in pods.generations {
        print("now generation", generation.number)
      }
    }

    static func service(_ cacheFolder: String, _ url: URL) throws -> CachedDataset {
      let specs = try CachedDataset(
        "podspecs", in: cacheFolder, entities: [Podspec.self],
        origin: .service { refresh in
          let importer = Importer(
            into: refresh.store, Podspec.self, matching: .unique(\.name), strategy: .mirror)
          _ = try await importer.run(WebPages(url), records: "result", renaming: [:])
        })

      return specs
    }

    static func installing(_ pods: CachedDataset) async throws {
      try await pods.install(fileAt: "/media/stick/pods-43.lodestore")
    }
  }
#endif
