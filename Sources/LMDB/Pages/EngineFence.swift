import CLMDB
@_exported public import LodestorePages
import LodestoreSystem

/// Decides, when an environment is opened, whether the engine and the file are those that ``PageLayout``
/// describes.
///
/// If they are, pages are read in the map and short records are changed in place. If not, or if asked
/// for, LMDB's functions are called for everything; see ``Environment/readsPages``.
package struct EngineFence {
  /// Why everything goes through LMDB's functions.
  package enum Reason: Sendable, Equatable {
    /// By ``EnvironmentOptions/usesPlainEngine``, or by the variable of the environment.
    case requested
    /// The engine is older or newer than those that the tests were run with.
    case version(Version)
    /// The machine is not a 64-bit little-endian one.
    case machine
    /// Pages of this size are larger than the system's, or none that LMDB makes: in the map they are not
    /// at multiples of their size.
    case pageSize(Int)
    /// The engine lays out pages differently than ``PageFormat/ofEngine`` describes, or that could not be
    /// tried.
    case layout
    /// The engine does not leave the bytes of a reserved value as they were.
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

  /// The versions that the tests have passed with.
  ///
  /// Debian 12 has the first of 0.9; `tools/test-engine` tests the last of each range.
  package static let testedVersions = [
    Version(0, 9, 24)...Version(0, 9, 36), Version(1, 0, 2)...Version(1, 0, 2),
  ]
  package static func isTested(_ version: Version) -> Bool {
    testedVersions.contains { $0.contains(version) }
  }

  /// The variable of the environment that forces the plain engine, unless it is empty or 0.
  package static let variable = "LODESTORE_PLAIN_ENGINE"

  var isRequested = Self.isRequestedByVariable
  var version = Version.running
  var is64BitLittleEndian = MemoryLayout<Int>.size == 8 && UInt16(1).littleEndian == 1
  var pageSize: Int
  var largestPageSize = PageFormat.ofEngine.largestPage
  var systemPageSize = PageLayout.systemPageSize
  /// Only asked where everything else is as expected.
  var probe: () -> Reason? = { EngineProbe.reason }

  /// Nil when pages may be read.
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
    // Without writes nothing is reserved, and the file was made by an engine of its format.
    if options.access == .readOnly { probe = { nil } }
  }
}

extension EngineFence {
  /// Of a file that LMDB does not read: nothing depends on the engine of the process.
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
    case .version(let version):
      "LMDB \(version) has not been tested"
    case .machine: "the machine is not a 64-bit little-endian one"
    case .pageSize(let size): "pages of \(size) bytes are not aligned in the map"
    case .layout: "the engine does not lay out pages as \(PageFormat.ofEngine.engine) does"
    case .reserve: "the engine does not keep the bytes of a value that is reserved again"
    }
  }
}
