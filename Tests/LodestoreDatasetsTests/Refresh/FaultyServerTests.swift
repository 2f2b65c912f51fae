#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// If a server answers wrongly, the result is a typed error or the right data, never wrong data.
  @Suite(.timeLimit(.minutes(30))) struct FaultyServerTests {
    private func dataset(
      _ folder: ScratchFolder, _ published: SpecPublication, _ servers: LoopbackServer...,
      change: (inout CachedDataset.Options) -> Void = { _ in }
    ) throws -> CachedDataset {
      try specDataset(
        folder, .published(at: try servers.map { try $0.url("/") }, trusting: published.keys),
        change)
    }

    @Test func `A download that is cut at any place resumes at a frame, and repeats few bytes`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      let length = Int(try published.publish(1, in: folder).manifest.whole.length)
      var numbers = SeededNumbers(44)
      for _ in 0..<caseCount(byDefault: 3) {
        let place = Int.random(in: 1..<length, using: &numbers)
        let cuts = Mutex(1)
        let (server, _) = try published.serving { request, answer in
          guard request.path.hasSuffix(".zst"), cuts.withLock({ $0 > 0 }) else { return answer }
          cuts.withLock { $0 -= 1 }
          return answer.cut(afterBody: place)
        }
        defer { server.stop() }
        try? FileManager.default.removeItem(atPath: folder.file("cache"))
        let dataset = try dataset(folder, published, server) { $0.resumptions = 0 }
        let error = try await dataset.refreshError()
        #expect(error.code == .network)
        let report = try await dataset.refresh(now: true)
        let request = try #require(server.log.last { $0.path.hasSuffix(".zst") })
        #expect(request.rangeStart ?? 0 == report.bytesResumed && report.bytesResumed <= place)
        try SpecGenerations.check(dataset.currentStore, is: 1, count: 8_000)
      }
    }

    @Test
    func `A broken download resumes at once, in another process or at another mirror`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      let whole = try published.publish(1, in: folder).manifest.whole
      // The first server cuts the last byte, so all frames but one arrive.
      let (first, _) = try published.serving { request, answer in
        request.path.hasSuffix(".zst") && request.rangeStart == nil
          ? answer.cut(afterBody: Int(whole.length) - 1) : answer
      }
      let (second, _) = try published.serving()
      defer {
        first.stop()
        second.stop()
      }
      let dataset = try dataset(folder, published, first, second)
      let report = try await dataset.refresh()
      let requests = (first.log + second.log).filter { $0.path.hasSuffix(".zst") }
      #expect(requests.count == 2 && requests.last?.rangeStart ?? 0 > 0)
      #expect(report.bytesFetched < Int(whole.length) * 2)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 8_000)
    }

    @Test
    func `A connection that breaks more often than once a frame still delivers the file`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      let length = Int(try published.publish(1, in: folder).manifest.whole.length)
      let (server, _) = try published.serving { request, answer in
        request.path.hasSuffix(".zst") ? answer.cut(afterBody: 8_000) : answer
      }
      defer { server.stop() }
      let dataset = try dataset(folder, published, server)
      let report = try await dataset.refresh()
      #expect(report.bytesFetched < length + 8_000)
      #expect(server.targets.filter { $0.hasSuffix(".zst") }.count > 8)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 8_000)
    }

    @Test func `A server that ignores ranges sends all, and the downloaded frames stay`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      try published.publish(1, in: folder)
      let content = Mutex<[String: [UInt8]]>([:])
      let isCut = Mutex(true)
      let path = published.path
      let server = try LoopbackServer { request in
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path + request.path)) else {
          return Answer(404, [])
        }
        content.withLock { $0[request.path] = [] }
        let answer = Answer(200, [], body: Array(data))
        let cuts = isCut.withLock { $0 } && request.path.hasSuffix(".zst")
        return cuts ? answer.cut(afterBody: data.count * 3 / 4) : answer
      }
      defer { server.stop() }
      let dataset = try dataset(folder, published, server)
      #expect(try await dataset.refreshError().code == .network)
      isCut.withLock { $0 = false }
      let report = try await dataset.refresh(now: true)
      #expect(report.bytesResumed > 0)
      try SpecGenerations.check(dataset.currentStore, is: 1, count: 8_000)
    }

    @Test(arguments: [true, false])
    func `A patch that is cut resumes at the byte where it ended, in a later process too`(
      _ hasRanges: Bool
    ) async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 8_000)
      try published.publish(1, in: folder)
      let patch = try #require(try published.publish(2, in: folder).manifest.patches.first)
      let length = Int(patch.length)
      let isCut = Mutex(true)
      let path = published.path
      let (server, _) = try published.serving { request, sound in
        // The server does not send the whole file, so only the patch can be used.
        if request.path.hasPrefix("/g/") { return Answer(503, []) }
        guard request.path.hasPrefix("/d/") else { return sound }
        guard !isCut.withLock({ $0 }) else { return sound.cut(afterBody: length / 2) }
        let bytes = (try? ScratchFolder.bytes(of: path + request.path)) ?? []
        return hasRanges ? sound : Answer(200, [], body: bytes)
      }
      defer { server.stop() }
      func opened() throws -> CachedDataset {
        try specDataset(
          folder, .published(at: try server.url("/"), trusting: published.keys),
          seed: folder.file("sealed-1")
        ) { $0.resumptions = 0 }
      }
      #expect(try await opened().refreshError().code == .network)
      isCut.withLock { $0 = false }
      let dataset = try opened()
      let report = try await dataset.refresh(now: true)
      #expect(report.usedPatch && report.bytesResumed == length / 2, "\(report)")
      #expect(server.log.last { $0.path.hasPrefix("/d/") }?.rangeStart == length / 2)
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 8_000)
      #expect(SystemFile.names(in: dataset.content.folder.incoming).isEmpty)
    }

    @Test func `The rest of a patch after other bytes is fetched again from its beginning`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 4_000)
      try published.publish(1, in: folder)
      let patch = try #require(try published.publish(2, in: folder).manifest.patches.first)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try dataset(folder, published, server)
      try await dataset.install(fileAt: folder.file("sealed-1"), withoutSignature: true)
      // A power cut can leave a file of the right length with wrong bytes.
      let path = dataset.content.folder.patch(patch.name, of: 2)
      try Data(repeating: 0xA5, count: 1_000).write(to: URL(fileURLWithPath: path))
      let report = try await dataset.refresh(now: true)
      #expect(report.usedPatch && report.bytesResumed == 0 && report.detours.isEmpty)
      let starts = server.log.filter { $0.path.hasPrefix("/d/") }.map(\.rangeStart)
      #expect(starts == [1_000, nil])
      try SpecGenerations.check(dataset.currentStore, is: 2, count: 4_000)
    }

    /// A fault in the server's handling of the compressed file, by name.
    enum Fault: String, CaseIterable, Sendable {
      case otherGeneration, changedByte, shorter, longer, gzip, wrongLength, wrongRange, otherTag,
        empty
      case notFound, stall, reset
    }

    private static func answer(
      _ fault: Fault, _ request: LoopbackServer.Request, _ sound: Answer, other: [UInt8]
    ) -> Answer {
      guard sound.steps.count == 2, case .bytes(let body) = sound.steps[1] else { return sound }
      let start = request.rangeStart
      let total = body.count + (start ?? 0)
      let range = "Content-Range: bytes \(start ?? 0)-\(total - 1)/\(total)"
      switch fault {
      case .otherGeneration: return Answer(200, [], body: other)
      case .changedByte:
        var body = body
        body[body.count / 2] ^= 1
        return Answer(200, [], body: body)
      case .shorter: return Answer(200, [], body: Array(body.dropLast(7)))
      case .longer: return Answer(200, [], body: body + [1, 2, 3])
      case .gzip: return Answer(200, ["Content-Encoding: gzip"], body: Answer.gzip(body))
      case .wrongLength: return Answer(206, [range], body: Array(body.dropLast(1)))
      case .wrongRange:
        return Answer(206, ["Content-Range: bytes 1-\(total)/\(total + 1)"], body: body)
      case .otherTag: return Answer(200, ["ETag: \"x\(request.number)\""], body: body)
      case .empty: return Answer(200, [], body: [])
      case .notFound: return Answer(404, [])
      case .stall:
        return Answer(steps: [sound.steps[0], .bytes(Array(body.prefix(100))), .waitForClient])
      case .reset: return .reset
      }
    }

    @Test(arguments: Fault.allCases)
    func `A wrong answer for the file is an error or the right file`(_ fault: Fault) async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let others = try SpecPublication(folder, "others")
      let other = try others.publish(3, in: folder).manifest.whole.path
      let bytes = try folder.read("others/\(other)")
      let (server, _) = try published.serving { request, sound in
        request.path.hasSuffix(".zst")
          ? Self.answer(fault, request, sound, other: bytes) : sound
      }
      defer { server.stop() }
      let dataset = try dataset(folder, published, server) {
        // Only a server that stalls makes the client wait.
        $0.requestTimeout = fault == .stall ? .milliseconds(500) : .seconds(60)
      }
      if [.gzip, .otherTag].contains(fault) {
        try await dataset.refresh()
        try SpecGenerations.check(dataset.currentStore, is: 1)
        return
      }
      let error = try await dataset.refreshError()
      let isOfFile = [.otherGeneration, .changedByte].contains(fault)
      #expect(
        isOfFile ? error.side == .file : [.network, .file].contains(error.side),
        "\(fault): \(error.code) \(error)")
      #expect(try dataset.status.generation == nil)
      #expect(try dataset.status.lastFailure?.code == error.code.description)
    }

    @Test func `A stale manifest is a rollback, and the current generation stays`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let stale = try folder.read("published/manifest.json")
      try published.publish(2, in: folder)
      let isStale = Mutex(false)
      let (server, _) = try published.serving { request, answer in
        request.path == "/manifest.json" && isStale.withLock { $0 }
          ? Answer(200, [], body: stale) : answer
      }
      let (sound, _) = try published.serving()
      defer {
        server.stop()
        sound.stop()
      }
      let dataset = try dataset(folder, published, server)
      try await dataset.refresh()
      isStale.withLock { $0 = true }
      let error = try await dataset.refreshError()
      #expect(error.code == .rolledBack && error.side == .publisher)
      try SpecGenerations.check(dataset.currentStore, is: 2)
      // With a mirror that has the newest files, the refresh succeeds.
      try published.publish(3, in: folder)
      let both = try self.dataset(folder, published, server, sound)
      #expect(try await both.refresh(now: true).generation == 3)
    }

    @Test func `Signed bytes that are no store are fetched once`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      var bytes = try folder.read("sealed-1")
      try published.publish(2, in: folder)
      for index in stride(from: 8_192, to: bytes.count, by: 3) { bytes[index] = 0xA5 }
      try published.publish(bytes: bytes, as: 3, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1"))
      for _ in 0..<2 {
        let error = try await dataset.refreshError()
        #expect(error.side == .file, "\(error.code) \(error)")
      }
      #expect(server.targets.filter { $0.hasPrefix("/g/3-") && $0.hasSuffix(".zst") }.count <= 1)
      try SpecGenerations.check(dataset.currentStore, is: 1)
      #expect(dataset.content.folder.numbers.isEmpty)
    }

    @Test func `Manifests with a changed byte are refused`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let signed = try folder.read("published/manifest.json")
      var numbers = SeededNumbers(7)
      let changed = Mutex(signed)
      let (server, _) = try published.serving { request, answer in
        request.path == "/manifest.json" ? Answer(200, [], body: changed.withLock { $0 }) : answer
      }
      defer { server.stop() }
      let dataset = try dataset(folder, published, server)
      for _ in 0..<caseCount(byDefault: 25) {
        var bytes = signed
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= UInt8.random(
          in: 1...255, using: &numbers)
        changed.withLock { $0 = bytes }
        do {
          try await dataset.refresh(now: true)
          // Damage to white space does not change the signed content, so the refresh may succeed.
          try SpecGenerations.check(dataset.currentStore, is: 1)
        } catch let error as DatasetError {
          #expect([.signature, .publisher].contains(error.side), "\(error.code)")
        }
      }
    }
  }
#endif
