import CLMDB
@_exported public import LodestorePages
import LodestoreSystem

/// Decides at the opening of an environment whether the engine and the file match ``PageLayout``.
///
/// If they do, pages are read directly in the map and short records are changed in place.
/// Otherwise, or on request, everything goes through LMDB's functions; see
/// ``Environment/readsPages``.
package struct EngineFence {
  /// The reason for using only LMDB's functions.
  package enum Reason: Sendable, Equatable {
    /// ``EnvironmentOptions/usesPlainEngine`` or the environment variable requests it.
    case requested
    /// The engine's version was not tested with this package.
    case version(Version)
    /// The machine is not a 64-bit little-endian machine.
    case machine
    /// The file's page size is larger than the system's, or is not a size that LMDB uses. The pages
    /// would not be aligned to their size in the map.
    case pageSize(Int)
    /// The engine's page layout differs from ``PageFormat/ofEngine``, or could not be tested.
    case layout
    /// The engine does not preserve the bytes of a reserved value.
    case reserve
  }

  package struct Version: Sendable, Comparable, CustomStringConvertible {
    package var major: Int32
    package var minor: Int32
    package var patch: Int32

    package init(_ major: Int32, _ minor: Int32, _ patch: Int32) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    package static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }
  }

  /// The versions that passed the tests.
  ///
  /// Debian 12 has the first version of 0.9; `tools/test-engine` tests the last one of each range.
  package static let testedVersions = [
    Version(0, 9, 24)...Version(0, 9, 36), Version(1, 0, 2)...Version(1, 0, 2),
  ]
  package static func isTested(_ version: Version) -> Bool {
    testedVersions.contains { $0.contains(version) }
  }

  /// The environment variable that forces the plain engine, unless it is empty or 0.
  package static let variable = "LODESTORE_PLAIN_ENGINE"

  var isRequested = Self.isRequestedByVariable
  var version = Version.running
  var is64BitLittleEndian = MemoryLayout<Int>.size == 8 && UInt16(1).littleEndian == 1
  var pageSize: Int
  var largestPageSize = PageFormat.ofEngine.largestPage
  var systemPageSize = PageLayout.systemPageSize
  /// The test of the engine, which is only run if everything else is as expected.
  var probe: () -> Reason? = { EngineProbe.reason }

  /// The reason; `nil` if pages may be read directly.
  var reason: Reason? {
    if isRequested { return .requested }
    if !Self.isTested(version) { return .version(version) }
    if !is64BitLittleEndian { return .machine }
    guard pageSize >= PageLayout.smallestPage, pageSize <= largestPageSize,
      pageSize <= systemPageSize, systemPageSize % pageSize == 0
    else { return .pageSize(pageSize) }
    return probe()
  }

  package static var isRequestedByVariable: Bool {
    guard let value = getenv(variable) else { return false }
    return !["", "0"].contains(String(cString: value))
  }
}

extension EngineFence {
  init(_ options: EnvironmentOptions, pageSize: Int) {
    self.init(pageSize: pageSize)
    isRequested = isRequested || options.usesPlainEngine
    // The probe tests how the engine writes. A process that only reads does not need it.
    if options.access == .readOnly { probe = { nil } }
  }
}

extension EngineFence {
  /// Creates a fence for a file that is read without LMDB, so that only the file's format counts
  /// and not the engine's version.
  init(_ options: EnvironmentOptions, in engine: PageEngine) {
    self.init(pageSize: engine.pageSize)
    isRequested = isRequested || options.usesPlainEngine
    version = Self.testedVersions[0].lowerBound
    largestPageSize = engine.format.largestPage
    probe = { nil }
  }
}

extension EngineFence.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .requested: "it was asked for"
    case .version(let version): "LMDB \(version) has not been tested"
    case .machine: "the machine is not a 64-bit little-endian one"
    case .pageSize(let size): "pages of \(size) bytes are not aligned in the map"
    case .layout: "the engine does not lay out pages as \(PageFormat.ofEngine.engine) does"
    case .reserve: "the engine does not keep the bytes of a value that is reserved again"
    }
  }
}
