import LMDB
import LodestoreFormat
import LodestorePages
import LodestoreSystem
import LodestoreVerifier

extension CommandFailure {
  /// The failure for an error that prevented the verification of a file; `nil` for other errors.
  static func verification(_ error: any Error, of path: String) -> CommandFailure? {
    switch error {
    case VerificationError.notAStore(let reason): return .notAStore(path, reason: reason)
    case VerificationError.damagedHeader(let reason):
      return .about(
        store: path, code: "damaged",
        "\(reason); restore it from a copy, or save its records with "
          + "'kvdump salvage \(ShellWord.path(path)) NEW'", status: .damagedData)
    case VerificationError.newerFormat(let version):
      return .about(
        store: path, code: "newer-format",
        "needs format version \(version), this kvdump knows versions up to "
          + "\(FormatVersion.current.rawValue); use a newer one", status: .damagedData,
        details: [Detail(name: "lowestReader", value: .unsigned(UInt64(version)))])
    case VerificationError.system(let code):
      return code == ENOENT ? .noStore(at: path) : .system(code, thing: path)
    case let error as LMDBError:
      switch error.kind {
      case .noPreviousCommit(let why):
        return .about(
          store: path, code: "no-previous-commit",
          "the previous commit cannot be read, \(why); leave out --previous", status: .inputOutput)
      case .treesFull: return .damaged(path, reason: "has more trees than a store may have")
      case .notAnEnvironment(let reason): return .notAStore(path, reason: reason)
      default: return translated(error, store: path)
      }
    default: return nil
    }
  }

  static func overtaken(_ path: String) -> Self {
    .about(
      store: path, code: "overtaken",
      "another process writes faster than the pages can be read; try again later",
      status: .tryAgain)
  }
}
