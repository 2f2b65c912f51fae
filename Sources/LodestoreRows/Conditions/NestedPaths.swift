package import EntityStore
package import LodestoreFormat
internal import LodestoreJSON

/// The paths to values inside JSON attributes that many of an entity's first records have.
///
/// Keys that are data, such as the names of authors, differ from record to record. So a path is
/// kept only if a tenth of the read records with the attribute have it.
package struct NestedPaths {
  package struct Path {
    package var text: String
    /// The most frequent values of the read records, the most frequent first.
    package var values: [Value]
  }

  package private(set) var paths: [Path] = []

  /// The maximum number of records that are read, of paths, and of values of one path.
  private static let (mostRecords, mostPaths, mostValues) = (100, 40, 6)
  /// The number of members from the attribute to a value.
  private static let deepest = 3
  /// The number of bytes of a text that is kept as a value.
  private static let longestText = 60

  package init(_ entity: DynamicEntity, _ snapshot: DynamicSnapshot) {
    let attributes = entity.description.declaredAttributes.filter {
      $0.type == .json || $0.type == .document
    }
    guard !attributes.isEmpty else { return }
    var found = attributes.map { _ in Members() }
    var count = 0
    try? snapshot.forEachRecord(of: entity) { record in
      guard let reader = try? record.reader() else { return true }
      for (position, attribute) in attributes.enumerated() {
        guard let value = try? reader.value(of: attribute), case .document = value,
          case .json(let text)? = try? Cell(value),
          let root = try? JSONDocument.parsing(text.utf8).root
        else { continue }
        found[position].add(root)
      }
      count += 1
      return count < Self.mostRecords
    }
    for (attribute, members) in zip(attributes, found) {
      paths += members.paths(of: attribute.name, deepest: Self.deepest)
    }
    paths = Array(paths.prefix(Self.mostPaths))
  }

  /// The values at one place of several documents, and the members below.
  private struct Members {
    private var count = 0
    private var values: [Value: Int] = [:]
    private var names: [String] = []
    private var members: [String: Members] = [:]

    mutating func add(_ node: JSONNode, level: Int = 0) {
      count += 1
      if let value = ConditionText.value(node) {
        if case .string(let text) = value, text.utf8.count > longestText { return }
        values[value, default: 0] += 1
      } else if node.kind == .object, level < deepest {
        for (name, member) in node.members where NestedPaths.isPlain(name) {
          if members[name] == nil { names.append(name) }
          members[name, default: Members()].add(member, level: level + 1)
        }
      }
    }

    func paths(of path: String, deepest: Int) -> [Path] {
      var paths: [Path] = []
      for name in names {
        guard let member = members[name], member.count * 10 >= count else { continue }
        let text = "\(path).\(name)"
        if !member.values.isEmpty {
          let frequent = member.values.sorted {
            $0.value != $1.value ? $0.value > $1.value : "\($0.key)" < "\($1.key)"
          }
          paths.append(Path(text: text, values: frequent.prefix(mostValues).map(\.key)))
        }
        paths += member.paths(of: text, deepest: deepest)
      }
      return paths
    }
  }

  /// Whether a member's name can be written in a path without quotes.
  package static func isPlain(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic else {
      return false
    }
    return name.utf8.count <= 64
      && name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_")
      }
  }
}
