#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// A published folder in a bucket of an S3 server, uploaded by plain PUTs.
  struct BucketTests {
    @Test func `A dataset comes from a bucket, resumes after a cut, and the next one is a patch`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      guard let bucket = try BucketServer() else { return }
      let whole = try published.publish(1, in: folder).manifest.whole
      try bucket.sync(published.path, to: "specs")
      // The program reaches the bucket through a connection that breaks once.
      let cuts = Mutex(1)
      let passed = Mutex<[BucketServer.Passed]>([])
      let port = bucket.port
      let relay = try LoopbackServer { request in
        let isCut = cuts.withLock { cuts in
          defer { if request.path.hasSuffix(".zst") { cuts -= 1 } }
          return request.path.hasSuffix(".zst") && cuts > 0
        }
        let limit = isCut ? Int(whole.length) - 1 : nil
        guard let sent = try? BucketServer.pass(request, to: port, cutAfter: limit) else {
          return .reset
        }
        passed.withLock { $0.append(sent.passed) }
        return sent.answer
      }
      defer { relay.stop() }
      let dataset = try specDataset(
        folder,
        .published(
          at: try relay.url("/\(BucketServer.bucket)/specs"), trusting: published.keys))
      let report = try await dataset.refresh(now: true)
      #expect(report.generation == 1 && report.detours.isEmpty)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 8_000)
      let parts = passed.withLock { $0.filter { $0.request.path.hasSuffix(".zst") } }
      #expect(parts.map(\.status) == [200, 206])
      let start = try #require(parts.last?.request.rangeStart)
      #expect(start > 0 && parts.last?.bodyLength == Int(whole.length) - start)

      // The bucket's entity tag shows that the manifest has not changed.
      #expect(try await dataset.refresh(now: true).outcome == .current)
      #expect(passed.withLock { $0.last?.status } == 304)

      try published.publish(2, in: folder)
      try bucket.sync(published.path, to: "specs")
      let next = try await dataset.refresh(now: true)
      #expect(next.generation == 2 && next.usedPatch && next.bytesFetched < Int(whole.length) / 2)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 8_000)

      // Another program uses the bucket directly. A missing folder is an error.
      let other = try specDataset(
        folder, .published(at: try bucket.url("specs"), trusting: published.keys), cache: "other")
      #expect(try await other.refresh(now: true).generation == 2)
      try SpecGenerations.check(other.currentStore, is: 2, count: 8_000)
      let missing = try specDataset(
        folder, .published(at: try bucket.url("none"), trusting: published.keys), cache: "none")
      #expect(try await missing.refreshError().code == .network)
      bucket.stop()
      #expect(try await other.refreshError().code == .network)
      try SpecGenerations.check(other.currentStore, is: 2, count: 8_000)
    }
  }
#endif
