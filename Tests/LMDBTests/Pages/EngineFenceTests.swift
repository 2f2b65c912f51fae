import Testing

@testable import LMDB

/// When pages are read without LMDB, and when not.
@Suite struct EngineFenceTests {
  /// A fence that lets everything through.
  private func open(_ change: (inout EngineFence) -> Void = { _ in }) -> EngineFence.Reason? {
    var fence = EngineFence(pageSize: 4_096)
    fence.isRequested = false
    fence.version = EngineFence.testedVersions.upperBound
    fence.is64BitLittleEndian = true
    fence.systemPageSize = 4_096
    fence.keepsReserved = { true }
    change(&fence)
    return fence.reason
  }

  @Test func `what is as expected is let through`() {
    #expect(open() == nil)
    #expect(open { $0.version = EngineFence.testedVersions.lowerBound } == nil)
  }

  @Test func `engines that were not tested are not`() {
    for version in [(0, 9, 23), (0, 9, 37), (0, 8, 30), (0, 10, 0), (1, 0, 2)] {
      let version = EngineFence.Version(Int32(version.0), Int32(version.1), Int32(version.2))
      #expect(open { $0.version = version } == .version(version))
    }
  }

  @Test func `the library of this process was tested`() {
    #expect(EngineFence.testedVersions.contains(.running))
  }

  @Test func `other machines are not`() {
    #expect(open { $0.is64BitLittleEndian = false } == .machine)
  }

  @Test func `pages are let through where they are aligned in the map`() {
    for size in [512, 4_096, 16_384, 32_768] {
      for system in [4_096, 16_384, 65_536] {
        let reason = open {
          $0.pageSize = size
          $0.systemPageSize = system
        }
        #expect(reason == (size <= system ? nil : .pageSize(size)), "\(size) of \(system)")
      }
    }
    for size in [0, 256, 65_536] {
      let reason = open {
        $0.pageSize = size
        $0.systemPageSize = 65_536
      }
      #expect(reason == .pageSize(size))
    }
  }

  @Test func `an engine that changes what is reserved is not`() {
    #expect(open { $0.keepsReserved = { false } } == .reserve)
  }

  @Test func `what is asked for comes first and tries nothing`() {
    let reason = open {
      $0.isRequested = true
      $0.keepsReserved = {
        Issue.record("the engine was tried")
        return true
      }
    }
    #expect(reason == .requested)
  }

  @Test func `the option asks for the plain engine and readers do not try the engine`() {
    var options = EnvironmentOptions()
    options.access = .readOnly
    #expect(EngineFence(options, pageSize: pageSize).keepsReserved())
    options.usesPlainEngine = true
    #expect(EngineFence(options, pageSize: pageSize).reason == .requested)
  }

  @Test func `this engine keeps what is reserved`() throws {
    let clock = ContinuousClock()
    var fastest = Duration.seconds(1)
    for _ in 0..<20 {
      let start = clock.now
      let isPassed = try ReserveProbe.run()
      fastest = min(fastest, clock.now - start)
      #expect(isPassed)
    }
    print("the probe of the engine takes \(fastest)")
    #expect(fastest < .milliseconds(20))
  }

  @Test func `pages are read here unless the variable is set`() throws {
    try withEnvironment { environment, _ in
      #expect(environment.plainReason == (EngineFence.isRequestedByVariable ? .requested : nil))
      #expect(environment.readsPages != EngineFence.isRequestedByVariable)
    }
  }
}
