#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  /// The figures of a dataset of real records: all podspecs of the shared data, over nginx on
  /// loopback.
  ///
  /// Runs with `LODESTORE_FIGURES=1`, and prints times and bytes; times mean something in a release
  /// build.
  @Suite(.enabled(if: ProcessInfo.processInfo.environment["LODESTORE_FIGURES"] != nil))
  struct PodspecFiguresTests {
    private static let folder = "\(packageFolder)/../shared/data/cocoapods"

    /// A record for each podspec, with its whole JSON.
    private static func specs() throws -> [Spec] {
      var found: [String: Spec] = [:]
      for file in ["specs-trunk.jsonl", "specs-vendor.jsonl"] {
        let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
        for line in text.split(separator: "\n") {
          for value in try JSONValue(parsing: String(line))["result"]?.arrayValue ?? [] {
            let name =
              "\(value["name"]?.stringValue ?? "") \(value["version"]?.stringValue ?? "")"
            found[name] = Spec(
              name: name, version: value.description.utf8.count, summary: value.description)
          }
        }
      }
      return found.values.sorted { $0.name < $1.name }
    }

    private static func seal(
      _ specs: [Spec], _ generation: UInt64, in folder: ScratchFolder
    ) throws -> String {
      let path = folder.file("\(generation).lodestore")
      let store = try Store.inMemory(entities: [Spec.self])
      defer { store.close() }
      try store.write { tx in try tx.insert(specs) }
      _ = try store.seal(
        to: path, name: "pods", generation: generation, dataAsOf: SpecGenerations.date(of: 1))
      return path
    }

    @Test
    func
      `All podspecs are published and fetched, and 1 % of changes costs at most 3 % of the bytes`()
      async throws
    {
      guard FileManager.default.fileExists(atPath: Self.folder) else {
        return print("skipped: no data in \(Self.folder)")
      }
      let folder = try ScratchFolder()
      let (site, clock) = (folder.file("site"), ContinuousClock())
      let publisher = DatasetPublisher(site, key: try SigningKey())
      var specs = try Self.specs()
      let start = clock.now
      let sealed = try Self.seal(specs, 1, in: folder)
      let sealing = clock.now - start
      let keys = try publisher.publish(sealed).trustedKeys
      let publishing = clock.now - start - sealing
      guard let server = try NginxServer(serving: site, in: folder) else { return }
      let dataset = try CachedDataset(
        "pods", in: folder.file("cache"), entities: [Spec.self],
        origin: .published(at: server.url, trusting: keys))
      try await Task.sleep(for: .seconds(1))
      let fetchStart = clock.now
      let first = try await dataset.refresh()
      let count = try await dataset.currentStore.count(Spec.all)
      #expect(count == specs.count)
      let fetching = clock.now - fetchStart
      var numbers = SeededNumbers(1)
      for _ in 0..<(specs.count / 100) {
        let place = Int.random(in: 0..<specs.count, using: &numbers)
        specs[place].summary += " (updated)"
      }
      let report = try publisher.publish(Self.seal(specs, 2, in: folder))
      let second = try await dataset.refresh()
      #expect(second.usedPatch)
      let length = report.manifest.length
      #expect(UInt64(second.bytesFetched) <= length * 3 / 100)
      print(
        """
        \(specs.count) podspecs, \(length) bytes: sealed in \(sealing), published in \(publishing), fetched and \
        opened in \(fetching) with \(first.bytesFetched) bytes; 1 % of changes: \(second.bytesFetched) bytes
        """)
    }
  }
#endif
