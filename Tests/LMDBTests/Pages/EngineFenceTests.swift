import Testing

@testable import LMDB

/// The fence decides whether pages are read directly or through LMDB.
@Suite struct EngineFenceTests {
  /// A fence that lets everything through.
  private func open(_ change: (inout EngineFence) -> Void = { _ in }) -> EngineFence.Reason? {
    var fence = EngineFence(pageSize: 4_096)
    fence.isRequested = false
    fence.version = EngineFence.testedVersions[0].upperBound
    fence.is64BitLittleEndian = true
    fence.systemPageSize = 4_096
    fence.probe = { nil }
    change(&fence)
    return fence.reason
  }

  @Test func `an expected engine is accepted`() {
    #expect(open() == nil)
    for tested in EngineFence.testedVersions {
      #expect(open { $0.version = tested.lowerBound } == nil)
      #expect(open { $0.version = tested.upperBound } == nil)
    }
  }

  @Test func `engines that were not tested are refused`() {
    let others = [
      (0, 9, 23), (0, 9, 37), (0, 8, 30), (0, 9, 70), (0, 10, 0), (1, 0, 1), (1, 0, 3), (1, 1, 0),
      (2, 0, 0),
    ]
    for version in others {
      let version = EngineFence.Version(Int32(version.0), Int32(version.1), Int32(version.2))
      #expect(open { $0.version = version } == .version(version))
    }
  }

  @Test func `the library of this process was tested`() {
    #expect(EngineFence.isTested(.running))
  }

  @Test func `the engine of another machine type is refused`() {
    #expect(open { $0.is64BitLittleEndian = false } == .machine)
  }

  @Test func `pages that are aligned in the map are accepted`() {
    for size in [512, 4_096, 16_384, 32_768] {
      for system in [4_096, 16_384, 65_536] {
        let reason = open {
          $0.pageSize = size
          $0.systemPageSize = system
        }
        #expect(reason == (size <= system ? nil : .pageSize(size)), "\(size) of \(system)")
      }
    }
    for size in [0, 256, 2 * PageFormat.ofEngine.largestPage] {
      let reason = open {
        $0.pageSize = size
        $0.systemPageSize = 2 * 65_536
      }
      #expect(reason == .pageSize(size))
    }
  }

  @Test(arguments: [EngineFence.Reason.layout, .reserve])
  func `an engine with different results of the probe is refused`(reason: EngineFence.Reason) {
    #expect(open { $0.probe = { reason } } == reason)
  }

  @Test func `a requested mode precedes the probe and runs no trial`() {
    let reason = open {
      $0.isRequested = true
      $0.probe = {
        Issue.record("the engine was tried")
        return nil
      }
    }
    #expect(reason == .requested)
  }

  @Test func `the option selects the plain engine, and readers do not try the engine`() {
    var options = EnvironmentOptions()
    options.access = .readOnly
    #expect(EngineFence(options, pageSize: pageSize).probe() == nil)
    options.usesPlainEngine = true
    #expect(EngineFence(options, pageSize: pageSize).reason == .requested)
  }

  @Test func `this engine lays out pages as expected and keeps the reserved bytes`() throws {
    let clock = ContinuousClock()
    var fastest = Duration.seconds(1)
    for _ in 0..<20 {
      let start = clock.now
      let reason = try EngineProbe.run()
      fastest = min(fastest, clock.now - start)
      #expect(reason == nil)
    }
    print("the probe of the engine takes \(fastest)")
    #expect(fastest < .milliseconds(20))
  }

  @Test func `pages are read in this process unless the variable is set`() throws {
    try withEnvironment { environment, _ in
      #expect(environment.plainReason == (EngineFence.isRequestedByVariable ? .requested : nil))
      #expect(environment.readsPages != EngineFence.isRequestedByVariable)
    }
  }
}
