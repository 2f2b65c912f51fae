import EntityStore
import Foundation
import Testing

/// The public surface of the library is a list in the project, and each change of it is a decision.
@Suite(.serialized, .enabled(if: CompilerCheck.shared != nil, "the compiler is not found"))
struct `The public declarations` {
  /// The most declarations that may be public.
  ///
  /// Spellings of earlier versions are deprecated, and do not count.
  ///
  /// 800 of the surface, 70 for relationships, 50 for derived attributes, rules and hooks, 40 for
  /// migration, 20 for orders, elements and indexes in use, 106 for history, 70 for live results,
  /// 20 for snapshots and edits, 10 for trust, 10 for hostile servers, 35 for files of imports, 20
  /// for how queries are run, 13 for the macros, 60 for parts of dates, bits, arithmetic in updates
  /// and related records that are read along, 150 for one call on a store, 30 for backups and
  /// checks, 15 for records that cannot be read, 13 for conditions of delete rules and derived
  /// attributes, 27 for repair, 178 for sealed files, expiry, limits, references, attached stores
  /// and differences, 231 for datasets, 287 for replicas, 113 for PostgreSQL, 11 for messages of
  /// errors, 24 for searches, 27 for places, 17 for vectors; a declaration beyond it takes the
  /// place of another.
  private static let most = 2_443

  private static let list = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "PublicDeclarations.txt")

  /// The lines of the list.
  private static var known: [String] {
    get throws {
      try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init)
    }
  }

  private static var modules: [String] {
    var modules = [
      "EntityStore", "LodestoreJSON", "LodestoreFoundation", "LodestoreMaintenance",
      "LodestoreRepair", "LodestoreWeb", "LodestoreDatasets", "LodestoreReplicas",
      "LodestorePostgres", "LodestoreInspector",
    ]
    #if Macros
      modules.append("Lodestore")
    #endif
    return modules
  }

  @Test func `each public error has its message for Foundation and a description`() throws {
    let check = try #require(CompilerCheck.shared)
    let conformances = try Self.modules.map { try check.conformances(of: $0) }
    let errors = conformances.flatMap { $0.filter { $0.value.contains("Swift.Error") } }
    for (name, protocols) in errors {
      #expect(
        protocols.contains { $0.hasSuffix(".LocalizedError") },
        "\(name) must conform to LocalizedError")
      #expect(
        protocols.contains("Swift.CustomStringConvertible"),
        "\(name) must conform to CustomStringConvertible")
    }
    // Without the graph of a module the test would pass in silence.
    let names = Set(errors.map(\.key))
    #expect(
      names.isSuperset(of: [
        "StoreError", "EditConflict", "CSVError", "JSONError", "WebSourceError", "DatasetError",
        "ReplicaError", "PostgresError",
      ]), "\(names)")
  }

  @Test func `the text that Foundation shows of an error is its message`() throws {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Array("[1,".utf8)) }
    let shown = try #require(error)
    #expect((shown as any Error).localizedDescription == shown.description)
    let violation = RuleViolation("a member with open loans stays")
    #expect((violation as any Error).localizedDescription == "a member with open loans stays")
  }

  @Test func `the public declarations are those of the list, and each is documented`() throws {
    let check = try #require(CompilerCheck.shared)
    let found = try Self.modules.flatMap { try check.declarations(of: $0) }
    for declaration in found where !declaration.isDocumented {
      Issue.record("\(declaration.text) is not documented")
    }
    let texts = found.map(\.text).sorted()
    // Without libpq the module has only a part of its declarations, and none of them is compared.
    let hasPostgres = texts.contains("LodestorePostgres final class PostgresFollower")
    func isLeftOut(_ text: String) -> Bool { !hasPostgres && text.hasPrefix("LodestorePostgres ") }
    let compared = texts.filter { !isLeftOut($0) }
    if ProcessInfo.processInfo.environment["LODESTORE_RENEW"] != nil {
      let all = (compared + (try Self.known).filter(isLeftOut)).sorted()
      try (all.joined(separator: "\n") + "\n").write(
        to: Self.list, atomically: true, encoding: .utf8)
    }
    let known = try Self.known.filter { !isLeftOut($0) }
    let difference = compared.difference(from: known)
    let lines = difference.map { change in
      switch change {
      case .insert(_, let text, _): "+ \(text)"
      case .remove(_, let text, _): "- \(text)"
      }
    }
    #expect(
      difference.isEmpty,
      "LODESTORE_RENEW=1 writes \(Self.list.lastPathComponent) anew:\n\(lines.joined(separator: "\n"))"
    )
    #expect(found.count { !$0.isDeprecated } <= Self.most)
  }

  @Test(arguments: ["LodestoreFormat", "LMDB"])
  func `the public declarations contain no engine type`(module: String) throws {
    let check = try #require(CompilerCheck.shared)
    #expect(try check.declarations(of: module).map(\.text) == [])
  }
}

extension CompilerCheck {
  struct Declaration {
    var text: String
    var isDocumented: Bool
    /// Whether the declaration is the spelling of an earlier version.
    var isDeprecated: Bool
  }

  private struct Graph: Decodable {
    struct Symbol: Decodable {
      struct Fragment: Decodable { var spelling: String }
      struct Identifier: Decodable { var precise: String }
      struct Comment: Decodable {}
      struct Availability: Decodable { var isUnconditionallyDeprecated: Bool? }

      var identifier: Identifier
      var pathComponents: [String]
      var declarationFragments: [Fragment]
      var docComment: Comment?
      var availability: [Availability]?
    }

    struct Relationship: Decodable {
      var kind: String
      var source: String
      var target: String
      var targetFallback: String?
    }

    var symbols: [Symbol]
    var relationships: [Relationship]
  }

  /// The protocols of each public type of a module, by the names of the types.
  ///
  /// Names of protocols of other modules have the module before them.
  func conformances(of module: String) throws -> [String: Set<String>] {
    var protocols: [String: Set<String>] = [:]
    for data in try symbolGraphs(of: module) {
      let graph = try JSONDecoder().decode(Graph.self, from: data)
      let names = Dictionary(
        graph.symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) },
        uniquingKeysWith: { first, _ in first })
      for relationship in graph.relationships where relationship.kind == "conformsTo" {
        guard let name = names[relationship.source] else { continue }
        protocols[name, default: []]
          .insert(relationship.targetFallback ?? names[relationship.target] ?? relationship.target)
      }
    }
    return protocols
  }

  /// The public declarations of a module, including those of its extensions of other modules'
  /// types.
  ///
  /// Names that begin with an underscore and declarations hidden from the documentation are left
  /// out.
  func declarations(of module: String) throws -> [Declaration] {
    try symbolGraphs(of: module).flatMap { data in
      try JSONDecoder().decode(Graph.self, from: data).symbols.map { symbol in
        let owner = symbol.pathComponents.dropLast().joined(separator: ".")
        let fragments = symbol.declarationFragments.map(\.spelling).joined()
          .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let isDeprecated =
          symbol.availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false
        return Declaration(
          text: "\(module) \(owner.isEmpty ? "" : "\(owner): ")\(isDeprecated ? "deprecated " : "")"
            + fragments,
          isDocumented: symbol.docComment != nil, isDeprecated: isDeprecated)
      }
    }
  }
}
