import EntityStore
import Foundation
import Testing

/// Random imports of records with links, compared with a model in memory.
///
/// There are all policies, absent and null members, and any grouping. Keys name records of earlier
/// and later pages, or no record.
@Suite struct `Imports with links against a model` {
  /// The variable `LODESTORE_LINK_IMPORTS` sets the number of imports.
  @Test func `imports with links leave the store and the model equal, whatever the groups`()
    async throws
  {
    let count = SeededNumbers.environmentNumber("LODESTORE_LINK_IMPORTS") ?? 48
    var numbers = SeededNumbers(salt: 4_242)
    var done = 0
    while done < count {
      let limits = [1, 1 + numbers.below(6), 1000]
      let folder = try TemporaryFolder()
      let stores = try limits.indices.map {
        try Store(at: "\(folder.storePath)\($0)", entities: Volume.entities)
      }
      var model = VolumeModel(writers: ["W0", "W1", "W2"])
      for store in stores {
        try await store.insert(model.writers.sorted().map { Writer(name: $0) })
      }
      for _ in 0..<12 {
        done += 1
        let policy = VolumePolicy.allCases[numbers.below(VolumePolicy.allCases.count)]
        let makesMissing = numbers.oneIn(3)
        let pages = (0...numbers.below(4)).map { _ in
          (0...numbers.below(5)).map { _ in VolumeRow(&numbers) }
        }
        let counts = model.importPages(pages, policy, makesMissing: makesMissing)
        for (store, limit) in zip(stores, limits) {
          let report = try await store.importVolumes(
            pages.map { "[\($0.map(\.text).joined(separator: ", "))]" }, policy.policy,
            grouped: limit, makesMissing: makesMissing)
          let found = VolumeModel.Counts(
            inserted: report.inserted, updated: report.updated, unchanged: report.unchanged,
            ignored: report.ignored, rejected: report.rejected,
            unresolved: report.links?.unresolved ?? 0, made: report.links?.made ?? 0)
          let text = pages.map { $0.map(\.text).joined(separator: "\n  ") }.joined(separator: "\n")
          let volumes = try store.volumes()
          try #require(
            volumes == model.description && found == counts,
            """
            \(policy) in groups of \(limit)\(makesMissing ? ", making what is missing" : "")
              \(text)
            store \(volumes) \(found) \(report)
            model \(model.description) \(counts)
            \(SeededNumbers.replay)
            """)
        }
      }
      for (index, store) in stores.enumerated() {
        store.close()
        try expectSound("\(folder.storePath)\(index)")
      }
    }
  }
}

/// The policies that the model knows.
enum VolumePolicy: CaseIterable {
  case replace, patch, fillNulls, ignore, failIfDifferent, newest, closure, authorStays

  var policy: MergePolicy<Volume> {
    switch self {
    case .replace: .replace
    case .patch: .patch()
    case .fillNulls: .fillNulls
    case .ignore: .ignore
    case .failIfDifferent: .failIfDifferent
    case .newest: .newest(by: \.updatedAt)
    case .authorStays: .patch().attribute(\.author, .fillNulls)
    case .closure:
      .merge { stored, incoming in
        var merged = incoming
        merged.note = stored.note ?? incoming.note
        merged.sequelOf = stored.sequelOf ?? incoming.sequelOf
        return merged
      }
    }
  }

  /// Whether absent members keep the stored values.
  ///
  /// Rows of one page with one key are then merged one after the other.
  var isPart: Bool { self == .patch || self == .authorStays }
  var takesLast: Bool { !isPart && self != .closure }
}

/// An incoming record.
///
/// A member that is not in `members` is absent, and `nil` stands for null.
struct VolumeRow {
  var code: String
  var members: [String: String?] = [:]
  /// The keys of the editors; `nil` if the member is absent.
  var editors: [String]?

  init(_ numbers: inout SeededNumbers) {
    func code(_ numbers: inout SeededNumbers) -> String { "c\(numbers.below(7))" }
    self.code = code(&numbers)
    func member(_ name: String, _ value: String, _ numbers: inout SeededNumbers) {
      guard numbers.oneIn(2) else { return }
      members.updateValue(numbers.oneIn(5) ? nil : value, forKey: name)
    }
    member("note", "n\(numbers.below(3))", &numbers)
    member("updatedAt", "\(numbers.below(4))", &numbers)
    member("author", "W\(numbers.below(4))", &numbers)
    member("sequelOf", code(&numbers), &numbers)
    member("partner", code(&numbers), &numbers)
    if numbers.oneIn(3) { members["stars"] = "\(numbers.below(8))" }
    if numbers.oneIn(3) { editors = (0..<numbers.below(3)).map { _ in "W\(numbers.below(4))" } }
  }

  /// The record as JSON.
  var text: String {
    var parts = ["\"code\": \"\(code)\""]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let text =
        switch (name, value) {
        case (_, nil): "null"
        case ("stars", let value?): value
        case ("updatedAt", let value?): "\"1970-01-01T00:00:0\(value)Z\""
        case (_, let value?): "\"\(value)\""
        }
      parts.append("\"\(name)\": \(text)")
    }
    if let editors {
      parts.append("\"editors\": [\(editors.map { "\"\($0)\"" }.joined(separator: ", "))]")
    }
    return "{\(parts.joined(separator: ", "))}"
  }
}
