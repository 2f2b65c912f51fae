import LodestoreFormat
package import LodestorePages

/// The result of a verification.
package struct VerificationReport: Sendable {
  /// Counts of one entity's records and indexes.
  package struct Entity: Sendable, Equatable {
    package var name: String
    package var recordCount = 0
    package var indexEntryCount = 0
    /// The number of findings about the entity's records and indexes.
    package var findingCount = 0
  }

  /// Counts of a tree that does not belong to an entity.
  package struct Tree: Sendable, Equatable {
    package var name: String
    package var entryCount = 0
    package var findingCount = 0
  }

  package var trees: [Tree] = []
  package var entities: [Entity] = []
  /// The stored findings, in the order of their discovery.
  package var findings: [Finding] = []
  /// The number of all findings, including those that are not stored.
  package var findingCount = 0
  /// Messages about content that could not be checked or that this version does not know.
  package var notices: [String] = []
  /// The unchecked attributes whose derivation has a condition, as `Entity.attribute`.
  ///
  /// Conditions are written in the library's language, and only the library evaluates them.
  package var conditional: [String] = []
  /// The result for the pages of the file; `nil` if they were not checked.
  package var pages: PageReport?
  /// The seal; `nil` if the file is not sealed.
  package var seal: SealDescription?

  package var isSound: Bool { findingCount == 0 }

  /// The number of stored findings with `code`.
  package func count(of code: Finding.Code) -> Int { findings.count { $0.code == code } }
}
