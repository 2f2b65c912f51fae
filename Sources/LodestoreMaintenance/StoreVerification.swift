public import EntityStore
internal import LMDB
internal import LodestoreFormat
internal import LodestorePages
internal import LodestoreVerifier

/// The result of checking a store.
public struct StoreVerification: Sendable {
  /// One violated rule of the format.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The rule's name in Format.md, such as `index.entry-there`.
    public let rule: String
    /// The entity or the index, such as `Film` or `Film.title`; `nil` if the problem belongs to
    /// neither.
    public let subject: String?
    /// The id of the record; `nil` if the problem does not concern a record.
    public let recordID: UInt64?
    /// The place in the file, the fact found and the violated rule, in one line.
    public let description: String
  }

  /// The first problems, in the order of their discovery, up to the requested number.
  public let problems: [Problem]
  /// The number of all problems, which may exceed the number of ``problems``.
  public let problemCount: Int
  /// Messages about parts of the file that could not be checked or that this version does not know.
  public let notices: [String]
  /// The number of records of each entity.
  public let recordCounts: [String: Int]

  /// Whether no problem was found.
  public var isSound: Bool { problemCount == 0 }

  init(_ report: VerificationReport) {
    problems = report.findings.map { finding in
      Problem(
        rule: finding.rule.rawValue, subject: finding.subject, recordID: finding.record,
        description: finding.description)
    }
    problemCount = report.findingCount
    let unchecked = report.conditional.joined(separator: ", ")
    notices =
      report.notices
      + (unchecked.isEmpty
        ? [] : ["not checked: \(unchecked); 'kvdump verify' evaluates their conditions"])
    recordCounts = Dictionary(
      report.entities.map { ($0.name, $0.recordCount) }, uniquingKeysWith: { first, _ in first })
  }
}

extension StoreVerification: CustomStringConvertible {
  /// "sound", or the number of problems and the first of them.
  public var description: String {
    guard let first = problems.first else { return isSound ? "sound" : "\(problemCount) problems" }
    return problemCount == 1 ? "\(first)" : "\(problemCount) problems, first \(first)"
  }
}

extension Store {
  /// Checks the newest commit against every rule of the format: pages, records, indexes, links,
  /// derived values and checksums.
  ///
  ///     let verification = try await store.verify()
  ///     if !verification.isSound { print(verification) }
  ///
  /// The check reads the file with its own code, which shares nothing with the code that writes it.
  /// `kvdump verify` makes the same check. Readers and writers continue meanwhile. The check holds
  /// one read until it ends. Cancelling the task ends it within some thousand records.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of problems to keep, at least 1. All problems are counted.
  ///   - onProgress: Called on a thread of the store with the number of checked pages. Records,
  ///     which are checked after the pages, are not counted.
  /// - Throws: `CancellationError` if the task is cancelled; `StoreError` if the file cannot be
  ///   read.
  /// - Complexity: One reading of every page, then one of every record and entry.
  public func verify(
    limit: Int = 1_000, onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> StoreVerification {
    let limit = max(1, limit)
    return try await onThread { store, isCancelled in
      try Self.translating {
        try store.withEnvironment { environment in
          var report = try Verifier.verify(
            pagesAndContentOf: environment, limit: limit,
            step: { done, total in
              onProgress?(WorkProgress(completed: done, total: total))
              return !isCancelled()
            }, isCancelled: isCancelled)
          try report.checkConditional(in: store, limit: limit, isCancelled: isCancelled)
          return StoreVerification(report)
        }
      }
    }
  }

  /// Checks the store at `path` without opening it as a store; see ``verify(limit:onProgress:)``.
  ///
  /// Use it for backups and for files that cannot be opened because of damage. This process must
  /// not have the file open; other processes may, and may write.
  ///
  /// - Parameter limit: The maximum number of problems to keep, at least 1. All problems
  ///   are counted.
  /// - Throws: `StoreError`: `StoreError.Code.notAStore`, `StoreError.Code.newerFormat`, and errors
  ///   of reading the file.
  public static func verify(at path: String, limit: Int = 1_000) throws -> StoreVerification {
    let limit = max(1, limit)
    return try translating {
      var report = try Verifier.verify(path: path, limit: limit)
      if report.isSound, !report.conditional.isEmpty {
        let store = try DynamicStore(path: path, options: .readOnly)
        defer { store.close() }
        try report.checkConditional(in: store, limit: limit)
      }
      return StoreVerification(report)
    }
  }

  /// Runs `body` and converts its errors to `StoreError`.
  private static func translating<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as VerificationError {
      switch error {
      case .notAStore: throw StoreError(.notAStore, message: error.description)
      case .damagedHeader: throw StoreError(.damaged, message: error.description)
      case .newerFormat: throw StoreError(.newerFormat, message: error.description)
      case .cancelled: throw CancellationError()
      case .system(let code): throw StoreError(ofEngine: LMDBError(code: code, operation: "verify"))
      }
    } catch let error as LMDBError {
      throw StoreError(ofEngine: error)
    }
  }
}

extension VerificationReport {
  /// Checks the attributes derived with a condition, which the verifier leaves to the library.
  ///
  /// Checks them only if no problem was found so far.
  ///
  /// Attributes whose conditions cannot be checked stay in ``conditional``.
  fileprivate mutating func checkConditional(
    in store: DynamicStore, limit: Int, isCancelled: () -> Bool = { false }
  ) throws {
    guard isSound, !conditional.isEmpty else { return }
    do {
      try store.read { snapshot in
        try snapshot.verifyConditional(isCancelled: isCancelled) { fault in
          findingCount += 1
          guard findings.count < limit else { return }
          findings.append(
            Finding(
              .derivedValue, tree: TreeName.records(entity: fault.entityNumber).text,
              subject: "\(fault.entity).\(fault.attribute)", record: fault.record, fault.detail))
        }
      }
      conditional = []
    } catch let error as StoreError where error.code == .badSchema {
      notices.append(error.message)
    }
  }
}
