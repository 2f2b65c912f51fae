internal import LodestoreFormat
import LodestoreSystem

/// The reason why a file could not be verified at all.
///
/// Faults inside a store are ``Finding``s.
package enum VerificationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file is not an LMDB file of this kind of machine, or contains no store. The reason is a
  /// clause.
  case notAStore(String)
  /// The file is an LMDB file, but its first page has an impossible number. The reason is a clause.
  case damagedHeader(String)
  /// The store needs a newer reader than ``FormatVersion/current``.
  case newerFormat(lowestReader: UInt32)
  /// The caller cancelled the verification.
  case cancelled
  /// Opening or reading failed with this `errno`.
  case system(code: Int32)

  package var description: String {
    switch self {
    case .notAStore(let reason): "cannot verify the file: \(reason); check the path"
    case .damagedHeader(let reason):
      "cannot verify the file: \(reason); restore it from a copy, or run 'kvdump salvage'"
    case .newerFormat(let version):
      "cannot verify the store: it needs format version \(version), this tool knows "
        + "\(FormatVersion.current.rawValue); use a newer tool"
    case .cancelled: "cannot verify the file: cancelled"
    case .system(let code):
      "cannot read the file: \(String(cString: strerror(code))); check the path and the disk"
    }
  }
}
