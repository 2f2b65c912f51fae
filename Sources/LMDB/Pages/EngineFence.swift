import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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
    /// The engine does not leave the bytes of a reserved value as they were, or that could not be tried.
    case reserve
  }

  package struct Version: Sendable, Comparable {
    package var major: Int32
    package var minor: Int32
    package var patch: Int32

    package init(_ major: Int32, _ minor: Int32, _ patch: Int32) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    package static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }
  }

  /// Those that the tests have passed with: Debian 12 has the first, `tools/test-engine` tests the last.
  package static let testedVersions = Version(0, 9, 24)...Version(0, 9, 36)
  /// The variable of the environment that forces the plain engine, unless it is empty or 0.
  package static let variable = "LODESTORE_PLAIN_ENGINE"

  var isRequested = Self.isRequestedByVariable
  var version = Version.running
  var is64BitLittleEndian = MemoryLayout<Int>.size == 8 && UInt16(1).littleEndian == 1
  var pageSize: Int
  var systemPageSize = Self.systemPageSize
  /// Only asked where everything else is as expected.
  var keepsReserved: () -> Bool = { ReserveProbe.isPassed }

  /// Nil when pages may be read.
  var reason: Reason? {
    if isRequested { return .requested }
    if !Self.testedVersions.contains(version) { return .version(version) }
    if !is64BitLittleEndian { return .machine }
    guard pageSize >= PageLayout.smallestPage, pageSize <= PageLayout.largestPage,
      pageSize <= systemPageSize, systemPageSize % pageSize == 0
    else { return .pageSize(pageSize) }
    return keepsReserved() ? nil : .reserve
  }

  package static var isRequestedByVariable: Bool {
    guard let value = getenv(variable) else { return false }
    return !["", "0"].contains(String(cString: value))
  }

  /// The map begins at a multiple of it.
  package static let systemPageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
}

extension EngineFence {
  init(_ options: EnvironmentOptions, pageSize: Int) {
    self.init(pageSize: pageSize)
    isRequested = isRequested || options.usesPlainEngine
    // Without writes nothing is reserved.
    if options.access == .readOnly { keepsReserved = { true } }
  }
}

extension EngineFence.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .requested: "it was asked for"
    case .version(let version):
      "LMDB \(version.major).\(version.minor).\(version.patch) has not been tested"
    case .machine: "the machine is not a 64-bit little-endian one"
    case .pageSize(let size): "pages of \(size) bytes are not aligned in the map"
    case .reserve: "the engine does not keep the bytes of a value that is reserved again"
    }
  }
}

/// Tries, once in a process, what ``Cursor/changeableCurrent()`` relies on and LMDB's documentation does
/// not say: `mdb_cursor_put` with MDB_CURRENT and MDB_RESERVE leaves a value of the same size in the page
/// as it was.
///
/// In an environment of its own, in memory; half a millisecond in a debug build.
enum ReserveProbe {
  static let isPassed = (try? run()) ?? false

  private struct Undone: Error {}

  static func run() throws -> Bool {
    var options = EnvironmentOptions()
    // Also ends the recursion: opening asks this probe otherwise.
    options.usesPlainEngine = true
    options.isNamed = false
    options.mapSizeInBytes = 1 << 20
    options.treeCount = 1
    let temporary = try EnvironmentRegistry.temporaryFileInMemory()
    defer { withExtendedLifetime(temporary) {} }
    let flags = UInt32(MDB_NOLOCK | MDB_NOSYNC)
    let environment = try Environment.open(temporary.path, options, nil, nil, flags: flags)
    defer { environment.shutDown() }
    let sizes = [13, PageLayout.longestSharedValue, 40, 8]
    try environment.write { transaction in
      let tree = try environment.tree(
        "probe", isCreated: true, hasIntegerKeys: true, in: transaction)
      guard let tree else { throw Undone() }
      for (id, size) in sizes.enumerated() {
        try content(id, size).withBytes { (bytes) throws(LMDBError) in
          try transaction.put(UInt64(id), bytes, in: tree)
        }
      }
    }
    var isKept = true
    do {
      try environment.write { transaction in
        let tree = try environment.tree(
          "probe", isCreated: false, hasIntegerKeys: true, in: transaction)
        guard let tree else { throw Undone() }
        // The first time the page is one of the last commit, afterwards one of this transaction.
        for (id, size) in sizes.enumerated() {
          let cursor = try Cursor(tree, in: transaction)
          let isFound = try cursor.seek(UInt64(id))
          let reserved = isFound ? try cursor.reserveCurrent() : nil
          isKept = isKept && reserved?.elementsEqual(content(id, size)) == true
        }
        throw Undone()
      }
    } catch is Undone {}
    return isKept
  }

  private static func content(_ id: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ id) }
  }
}
