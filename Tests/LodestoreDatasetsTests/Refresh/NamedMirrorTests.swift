#if Datasets
  import EntityStore
  import Foundation
  import LodestoreWeb
  import LoopbackWeb
  import Testing

  @testable import LodestoreDatasets

  /// Mirrors that a manifest names: the addresses to which their names lead.
  ///
  /// On Linux the client's connections are checked. On macOS the system resolves names, and knows
  /// none of the names in these tests.
  @Suite(.timeLimit(.minutes(30))) struct NamedMirrorTests {
    /// Refreshes from a folder whose manifest names a mirror, then without the folder.
    ///
    /// - Returns: Whether the program asked the named mirror, and the result of the second refresh.
    private func asks(
      _ mirror: String, leadingTo address: String, besides own: [String] = []
    ) async throws -> (isAsked: Bool, result: Result<RefreshReport, DatasetError>) {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let named = "http://\(mirror):\(server.port)/"
      try published.publish(1, in: folder, mirrors: [named])
      let medium = folder.file("medium")
      try FileManager.default.copyItem(atPath: published.path, toPath: medium)
      let places = ["file://\(medium)"] + own
      let dataset = try specDataset(
        folder,
        .published(
          at: try places.map { try #require(URL(string: $0)) }, trusting: published.keys)
      ) { $0.hostAddresses = [mirror: address, "nas.lan": "127.0.0.1"] }
      try await dataset.refresh()
      try FileManager.default.removeItem(atPath: medium)
      try published.publish(2, in: folder, mirrors: [named])
      let result: Result<RefreshReport, DatasetError>
      do {
        result = .success(try await dataset.refresh(now: true))
      } catch let error as DatasetError {
        result = .failure(error)
      }
      return (!server.log.isEmpty, result)
    }

    #if os(Linux)
      @Test func `A mirror whose name leads to this machine is not asked by a program elsewhere`()
        async throws
      {
        let (isAsked, result) = try await asks("mirror.example", leadingTo: "127.0.0.1")
        #expect(!isAsked && (try? result.get()) == nil)
      }

      @Test func `A mirror of this machine is not asked by a program of a private network`()
        async throws
      {
        let (isAsked, _) = try await asks(
          "mirror.example", leadingTo: "127.0.0.1", besides: ["http://nas.lan:9/"])
        #expect(!isAsked)
      }

      @Test func `A program with a mirror on this machine asks others there`() async throws {
        let (isAsked, result) = try await asks(
          "mirror.example", leadingTo: "127.0.0.1", besides: ["http://localhost:9/"])
        #expect(isAsked)
        #expect(try result.get().generation == 2)
      }
    #endif

    @Test(arguments: ["127.0.0.1", "127.1", "localhost", "[::1]", "vm.local"])
    func `Mirrors with a literal address of this machine or a private network are not asked`(
      _ host: String
    ) async throws {
      #expect(try await !asks(host, leadingTo: "127.0.0.1").isAsked)
    }
  }
#endif
