import LodestoreFormat
package import LodestorePages

/// The result of a verification.
package struct VerificationReport: Sendable {
  /// One entity's records and indexes.
  package struct Entity: Sendable, Equatable {
    package var name: String
    package var recordCount = 0
    package var indexEntryCount = 0
    /// Findings about its records and its indexes.
    package var findingCount = 0
  }

  /// One of the store's trees that belong to no entity.
  package struct Tree: Sendable, Equatable {
    package var name: String
    package var entryCount = 0
    package var findingCount = 0
  }

  package var trees: [Tree] = []
  package var entities: [Entity] = []
  /// The findings kept, in the order they were made.
  package var findings: [Finding] = []
  /// All findings, kept or not.
  package var findingCount = 0
  /// What could not be checked, and what this version does not know.
  package var notices: [String] = []
  /// The attributes derived with a condition, as `Entity.attribute`, which are not checked.
  ///
  /// Conditions are in the language of the library, which evaluates them.
  package var conditional: [String] = []
  /// The pages of the file; nil when they were not walked.
  package var pages: PageReport?
  /// The seal of a sealed file.
  package var seal: SealDescription?

  package var isSound: Bool { findingCount == 0 }

  /// How often `code` is among the findings kept.
  package func count(of code: Finding.Code) -> Int { findings.count { $0.code == code } }
}
