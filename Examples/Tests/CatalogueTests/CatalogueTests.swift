import Catalogue
import Foundation
import LodestoreDatasets
import Service
import TestSupport
import Testing

@Suite struct `The catalogue` {
  /// Runs `body` with an empty folder, a seed and a service of the project's samples.
  private func withCatalogue(
    _ body: (_ make: () throws -> Catalogue, Service) async throws -> Void
  ) async throws {
    let service = try await Service.start(try .samples())
    let folder = NSTemporaryDirectory() + "/catalogue-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let seed = folder + "/seed.lodestore"
    try Seed.make(at: seed)
    do {
      try await body({ try Catalogue(in: folder, seed: seed, service: service.url) }, service)
    } catch {
      await service.stop()
      throw error
    }
    await service.stop()
  }

  @Test func `the catalogue works offline from the first start`() async throws {
    try await withCatalogue { make, service in
      await service.stop()
      let catalogue = try make()
      defer { catalogue.close() }
      #expect(try catalogue.specs(with: "").count == 6)
      #expect(try catalogue.specs(with: "sqlite").map(\.name) == ["FMDB", "GRDB.swift"])
      #expect(try catalogue.dataset.current().source == .seed)
      let error = await #expect(throws: DatasetError.self) {
        try await catalogue.dataset.refresh()
      }
      #expect(error?.side == .network)
      #expect(try await catalogue.dataset.read(.freshElseCache).refreshError != nil)
    }
  }

  @Test func `a refresh replaces the catalogue, and favourites stay with their notes`() async throws
  {
    try await withCatalogue { make, service in
      var catalogue = try make()
      #expect(try catalogue.mark("AFNetworking", "2.5.4", note: "for the old program"))
      #expect(try catalogue.mark("SwiftyJSON", "3.0.0", note: "look at it"))
      #expect(try !catalogue.mark("SwiftyJSON", "0", note: ""))
      let report = try await catalogue.dataset.refresh()
      #expect(report.outcome == .replaced)
      #expect(try catalogue.specs(with: "").count == 63)
      catalogue.close()

      catalogue = try make()
      defer { catalogue.close() }
      #expect(try catalogue.dataset.current().source == .refresh)
      let marked = try catalogue.favourites()
      #expect(marked.map(\.favourite.note) == ["for the old program", "look at it"])
      #expect(marked.first?.spec?.name == "AFNetworking")
      let asked = service.requests.count
      #expect(try await catalogue.dataset.refresh().outcome == .current)
      #expect(service.requests[asked...].allSatisfy { $0.status == 304 })
    }
  }
}
