#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  /// After a publisher is killed, the folder has either the old manifest or the new one, complete.
  struct KilledPublisherTests {
    @Test
    func `A killed publisher leaves one whole generation, and the next one continues`()
      throws
    {
      guard let program = builtProgram("kvdump-datasets") else { return }
      let folder = try ScratchFolder()
      let (key, site) = (try SigningKey(), folder.file("site"))
      let keyFile = try folder.write(key.pem.utf8, to: "key.pem")
      let specs = SpecGenerations(folder, count: 2_000)
      var options = DatasetPublisher.Options()
      options.compressionLevel = 1
      let publisher = DatasetPublisher(site, key: key, options: options)
      try publisher.publish(specs.seal(1))
      let clock = ContinuousClock()
      // The whole time of one publication, by which the kills are spread.
      var whole = Duration.zero
      var published: UInt64 = 1
      var outcomes: Set<Bool> = []
      let count = caseCount(byDefault: 12)
      for number in 0...count {
        let next = published + 1
        let sealed = try specs.seal(Int(next), file: "next.lodestore")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["publish", sealed, site, "--key", keyFile, "--level", "1", "--quiet"]
        process.standardOutput = FileHandle.nullDevice
        let start = clock.now
        try process.run()
        if number > 0 {
          Thread.sleep(forTimeInterval: whole / .seconds(1) * Double(number) / Double(count))
          kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        if number == 0 { whole = clock.now - start }
        let check = try PublishedCheck(site, trusting: TrustedKeys("1:\(key.publicKey)"))
        #expect(check.isSound, "\(check.files)")
        #expect([published, next].contains(check.manifest.generation))
        outcomes.insert(check.manifest.generation == next)
        published = check.manifest.generation
        try FileManager.default.removeItem(atPath: sealed)
      }
      #expect(outcomes.contains(true))
      try publisher.publish(specs.seal(Int(published) + 1, file: "last.lodestore"))
      let names = try ["", "g", "d", "keys"].flatMap {
        try FileManager.default.contentsOfDirectory(atPath: "\(site)/\($0)")
      }
      #expect(names.allSatisfy { !$0.hasPrefix(".") })
      let last = try PublishedCheck(site, trusting: nil)
      #expect(last.isSound && last.manifest.generation == published + 1)
    }

    @Test func `Of two publishing processes each publishes or must wait`() throws {
      guard let program = builtProgram("kvdump-datasets") else { return }
      let folder = try ScratchFolder()
      let (key, site) = (try SigningKey(), folder.file("site"))
      let keyFile = try folder.write(key.pem.utf8, to: "key.pem")
      let specs = SpecGenerations(folder, count: 2_000)
      for round in 0..<3 {
        let sealed = try (1...2).map { try specs.seal(round * 2 + $0) }
        let processes = try sealed.map { path in
          let process = Process()
          process.executableURL = URL(fileURLWithPath: program)
          process.arguments = ["publish", path, site, "--key", keyFile, "--level", "1", "--quiet"]
          process.standardOutput = FileHandle.nullDevice
          process.standardError = FileHandle.nullDevice
          try process.run()
          return process
        }
        for process in processes { process.waitUntilExit() }
        let statuses = processes.map(\.terminationStatus)
        // Status 75 means that the other process is publishing, and 64 that it has published a
        // later generation.
        #expect(statuses.contains(0), "\(statuses)")
        #expect(statuses.allSatisfy { [0, 64, 75].contains($0) }, "\(statuses)")
        #expect(try PublishedCheck(site, trusting: nil).isSound)
      }
    }
  }
#endif
