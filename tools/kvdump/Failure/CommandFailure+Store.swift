import EntityStore
import LMDB

extension StoreError {
  /// The code of the failed system call, made by LMDB or for it; `nil` for other errors.
  var systemCode: Int32? {
    guard let cause = cause as? LMDBError, cause.kind == .engine, cause.code > 0 else { return nil }
    return cause.code
  }
}

/// Translation of the store's errors to failures of a command.
extension CommandFailure {
  /// The failure for an error of a command that worked on the store at `path`.
  package static func translated(_ error: any Error, store path: String) -> CommandFailure {
    switch error {
    case let error as CommandFailure: error
    case let error as UnknownName: unknown(error, in: path)
    case let error as StoreError: store(error, path: path)
    case let error as LMDBError: engine(error, path: path)
    default: unexpected(error)
    }
  }

  private static func store(_ error: StoreError, path: String) -> CommandFailure {
    if error.code == .noSuchStore { return noStore(at: path) }
    // The store's own message may name an option of programs that the command line lacks.
    if let cause = error.cause as? LMDBError, let failure = setting(cause, path: path) {
      return failure
    }
    let message = error.message.contains(path) ? error.message : "\(path): \(error.message)"
    var details: [Detail] = [.text("store", path)]
    if let entity = error.entity { details.append(.text("entity", entity)) }
    if let index = error.index { details.append(.text("index", index)) }
    if let id = error.recordID { details.append(Detail(name: "_id", value: .unsigned(id))) }
    return CommandFailure(
      code: kebab(error.code.description), message: message, status: status(of: error.code),
      details: details)
  }

  /// The failure for an error whose own message names an option that the command line lacks.
  private static func setting(_ error: LMDBError, path: String) -> CommandFailure? {
    switch error.kind {
    case .unsupportedFileSystem(let what):
      about(
        store: path, code: kebab(StoreError.Code.unsuitablePath.description),
        "is on \(what), on which memory-mapped stores are not known to be safe; "
          + "copy it to a local disk", status: .noInput)
    case .otherEngine(let format): otherEngine(path, format)
    case .engine where error.name == "ENOMEM": system(error.code, thing: error.path ?? path)
    default: nil
    }
  }

  /// The exit status for every known code.
  ///
  /// A code added later is an unspecified fault.
  private static func status(of code: StoreError.Code) -> ExitStatus {
    switch code {
    case .noSuchStore, .unsuitablePath: .noInput
    case .notAStore, .otherEngine, .newerFormat, .damaged, .undecodableValue, .incompatibleSchema,
      .unstorableValue, .invalidValue, .uniqueViolation, .importStopped, .conditionFailed:
      .damagedData
    case .badSchema, .unknownEntity, .unknownIndex, .invalidID, .invalidQuery: .usage
    case .noSuchRecord: .negative
    case .notPermitted, .readOnly: .notPermitted
    case .busy, .mismatchedFiles, .snapshotExpired: .tryAgain
    case .cancelled: .interrupted
    case .diskFull, .mapFull, .inputOutput, .poisoned, .closed, .nestedWrite, .brokenTransaction:
      .inputOutput
    default: .inputOutput
    }
  }

  /// The failure for an error of the engine in a command below the store, such as `keys`.
  private static func engine(_ error: LMDBError, path: String) -> CommandFailure {
    switch error.kind {
    case .engine where error.code > 0 && error.name.hasPrefix("E"):
      return error.name == "ENOENT" ? noStore(at: path) : system(error.code, thing: path)
    case .notAnEnvironment(let reason): return notAStore(path, reason: reason)
    case .otherEngine(let format): return otherEngine(path, format)
    case .truncated, .damaged: return damaged(path, reason: "\(error)")
    default: break
    }
    let status: ExitStatus =
      switch (error.kind, error.name) {
      case (.unsuitablePath, _), (.unsupportedFileSystem, _): .noInput
      case (.mismatched, _), (.overtaken, _), (.engine, "MDB_READERS_FULL"): .tryAgain
      case (.engine, "MDB_CORRUPTED"), (.engine, "MDB_PAGE_NOTFOUND"), (.engine, "MDB_PAGE_FULL"),
        (.engine, "MDB_INVALID"), (.engine, "MDB_VERSION_MISMATCH"):
        .damagedData
      default: .inputOutput
      }
    return about(
      store: path, code: "engine", "\(error); \(nextStep(after: error, path: path))",
      status: status)
  }

  private static func nextStep(after error: LMDBError, path: String) -> String {
    switch error.kind {
    case .mismatched(let how):
      switch how {
      case .otherLockFile: "use the path of that process, or close the store there first"
      case .otherDataFile: "close the store there first"
      case .unusableLockFile: "close the store in every process, then remove the lock file"
      case .transactions: "close the store in every process, then open it again"
      case .dataFileReplaced, .lockFileReplaced: "run the command again"
      case .lockFileCut: "end every process that has the store open, then run the command again"
      }
    case .unsuitablePath, .unsupportedFileSystem: "name another file"
    default: "'kvdump verify \(ShellWord.path(path))' may show more"
    }
  }

  /// Converts `noSuchStore` to `no-such-store`.
  package static func kebab(_ name: String) -> String {
    let letters = Array(name)
    return letters.indices.reduce(into: "") { text, index in
      let letter = letters[index]
      guard letter.isUppercase else { return text.append(letter) }
      let isAfterUppercase = index > 0 && letters[index - 1].isUppercase
      let beginsWord = index + 1 < letters.count && letters[index + 1].isLowercase
      text += (isAfterUppercase && !beginsWord ? "" : "-") + letter.lowercased()
    }
  }
}
