#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A dataset of a service on a disk without room: a file system in memory of some megabytes.
  @Suite(.timeLimit(.minutes(30))) struct FullDiskTests {
    /// A folder on a separate small file system, which is removed with the object.
    private final class SmallDisk {
      private let folder: ScratchFolder
      var path: String { folder.path }

      /// Mounts the file system; `nil` with a printed reason if nothing can be mounted.
      init?(megabytes: Int) throws {
        folder = try ScratchFolder()
        #if os(Linux)
          if mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m") == 0 { return }
        #endif
        print("skipped: a small file system cannot be mounted here")
        return nil
      }

      deinit {
        #if os(Linux)
          umount2(folder.path, 2)
        #endif
      }

      /// Fills the disk, except for about `rest` bytes.
      func fill(leaving rest: Int) throws {
        let file = open(path + "/ballast", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        for size in [1 << 20, 1 << 16, 4_096] {
          let bytes = [UInt8](repeating: 1, count: size)
          while write(file, bytes, size) == size {}
        }
        var status = stat()
        fstat(file, &status)
        try #require(ftruncate(file, status.st_size - off_t(rest)) == 0)
      }

      func free() { unlink(path + "/ballast") }
    }

    /// Batches of records that an importer commits, one after the other.
    private static let batches = 20
    private static let batch = 500

    /// The service, and the number of records in the importer's store at the beginning of each
    /// import.
    private final class Service: Sendable {
      let generation = Mutex(1)
      let started = Mutex<[Int]>([])
    }

    private func dataset(_ disk: SmallDisk, _ service: Service) throws -> CachedDataset {
      var options = CachedDataset.Options()
      options.fraction = { 1 }
      let origin = DatasetOrigin.service { refresh in
        let number = service.generation.withLock { $0 }
        let specs = SpecGenerations.specs(of: number, count: Self.batches * Self.batch)
        let known = try await refresh.store.count(Spec.all)
        service.started.withLock { $0.append(known) }
        if known == specs.count {
          try await refresh.store.write { tx in
            for spec in try tx.fetch(Spec.all) {
              var new = spec
              new.version = number
              try tx.update(new)
            }
          }
        }
        // The importer's earlier commits remain, and the next import continues after them.
        for start in stride(from: known, to: specs.count, by: Self.batch) {
          try await refresh.store.write { tx in
            try tx.insert(Array(specs[start..<(start + Self.batch)]))
          }
        }
      }
      return try CachedDataset(
        SpecGenerations.name, in: disk.path + "/cache", entities: [Spec.self], origin: origin,
        options: options)
    }

    @Test func `An import on a full disk leaves the old state whole, and continues with room`()
      async throws
    {
      guard let disk = try SmallDisk(megabytes: 24) else { return }
      let service = Service()
      let dataset = try dataset(disk, service)
      // The disk has no room for the importer's store.
      try disk.fill(leaving: 700_000)
      let error = try await dataset.refreshError()
      #expect(error.code == .diskFull && error.side == .program, "\(error)")
      #expect(throws: DatasetError.self) { try dataset.current() }
      #expect(try dataset.status.failureCount == 1)
      disk.free()
      let first = try await dataset.refresh(now: true)
      #expect(first.outcome == .replaced && first.detours.isEmpty, "\(first)")
      let counts = service.started.withLock { $0 }
      #expect(counts.first == 0 && counts.last ?? 0 > 0, "\(counts)")
      try SpecGenerations.check(
        dataset.currentStore, is: 1, count: Self.batches * Self.batch)

      // The disk has room for the importer's store, but not for the sealed copy.
      service.generation.withLock { $0 = 2 }
      let old = try dataset.current()
      var code: DatasetError.Code?
      for rest in [3_000_000, 2_000_000, 1_000_000, 300_000] where code == nil {
        service.generation.withLock { $0 += 1 }
        try disk.fill(leaving: rest)
        do {
          try await dataset.refresh(now: true)
        } catch let error as DatasetError {
          code = error.code
        }
        if code == nil { disk.free() }
      }
      #expect(code == .diskFull)
      let last = try dataset.current()
      #expect(last.number >= old.number)
      let versions = Set(try await last.store.fetch(Spec.all).map(\.version))
      #expect(versions.count == 1 || last.number == old.number, "a mixture of states")
      disk.free()
      #expect(try await dataset.refresh(now: true).outcome == .replaced)
      let version = service.generation.withLock { $0 }
      let found = try await dataset.currentStore.fetch(Spec.all)
      #expect(found.count == Self.batches * Self.batch)
      #expect(found.allSatisfy { $0.version == version })
      #expect(SystemFile.names(in: dataset.content.folder.incoming).isEmpty)
    }
  }
#endif
