public import EntityStore
internal import LMDB
internal import LodestoreFormat
internal import LodestorePages
internal import LodestoreVerifier

/// The result of checking a store.
public struct StoreVerification: Sendable {
  /// One broken rule of the format.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The rule's name in Format.md, as `index.entry-there`.
    public let rule: String
    /// The entity or the index, as `Film` or `Film.title`; `nil` where the problem belongs to
    /// neither.
    public let subject: String?
    /// The id of the record; `nil` where the problem concerns no record.
    public let recordID: UInt64?
    /// The place in the file, the fact and the rule, in one line.
    public let description: String
  }

  /// The problems in the order in which they were found, as many as were asked for.
  public let problems: [Problem]
  /// How many problems there are; more than ``problems`` holds when there are very many.
  public let problemCount: Int
  /// Parts of the file that could not be checked, or that this version does not know.
  public let notices: [String]
  /// How many records each entity has.
  public let recordCounts: [String: Int]

  /// Whether there is no problem.
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
  /// "sound", or how many problems there are and the first of them.
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
  /// The check reads the file by code of its own, which shares nothing with the code that writes
  /// it, and as `kvdump verify` does. Readers and writers go on meanwhile; one read is held until
  /// the end. Cancelling the task ends it within some thousand records.
  ///
  /// - Parameters:
  ///   - limit: how many problems are kept, at least 1; all are counted.
  ///   - onProgress: called on a thread of the store with the pages that have been checked. The records, which
  ///     are checked after the pages, are not counted.
  /// - Throws: `CancellationError` when the task is cancelled; `StoreError` when the file cannot
  ///   be read.
  /// - Complexity: one reading of every page, and of every record and entry after that.
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

  /// Checks the store at `path`, as ``verify(limit:onProgress:)`` does, without opening it as a
  /// store: for backups, and for files that an opening refuses as damaged.
  ///
  /// Not for a file that this process has open; other processes may have it open, and write.
  ///
  /// - Parameter limit: how many problems are kept, at least 1; all are counted.
  /// - Throws: `StoreError`: `StoreError.Code.notAStore`, `StoreError.Code.newerFormat`, and
  ///   errors of reading the file.
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

  /// Runs `body`, and throws what it throws as a `StoreError`.
  private static func translating<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as VerificationError {
      switch error {
      case .notAStore: throw StoreError(.notAStore, message: error.description)
      case .damagedHeader: throw StoreError(.damaged, message: error.description)
      case .newerFormat: throw StoreError(.newerFormat, message: error.description)
      case .cancelled: throw CancellationError()
      case .system(let code):
        throw StoreError(ofEngine: LMDBError(code: code, operation: "verify"))
      }
    } catch let error as LMDBError {
      throw StoreError(ofEngine: error)
    }
  }
}

extension VerificationReport {
  /// Checks the attributes derived with a condition, which the verifier leaves to the library, where
  /// `store` is sound so far.
  ///
  /// Conditions that cannot be checked stay in ``conditional``.
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
