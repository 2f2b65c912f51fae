import Lodestore

/// A podspec as the service sends it.
struct PodRecord: Decodable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
}

extension Podspec {
  /// Makes the stored podspec of a record.
  init(_ record: PodRecord) {
    let letter = record.name.first.map { String($0).uppercased() } ?? "#"
    self.init(
      name: record.name, version: record.version, summary: record.summary ?? "",
      homepage: record.homepage,
      license: record.license?.stringValue ?? record.license?["type"]?.stringValue,
      authors: record.authors ?? .null,
      authorNames: Self.names(in: record.authors ?? .null).joined(separator: ", "),
      section: ("A"..."Z").contains(letter) ? letter : "#",
      versionOrder: Self.order(of: record.version), pod: nil)
  }

  /// The names in a text, a list, a dictionary of names and addresses, or a list of these.
  static func names(in authors: JSONValue) -> [String] {
    switch authors {
    case .string(let name): [name]
    case .array(let elements): elements.flatMap(names)
    case .object(let members): members.keys.sorted()
    default: []
    }
  }

  /// The version as text that sorts correctly: the number at the beginning of each part is padded,
  /// so 1.9 comes before 1.10.
  static func order(of version: String) -> String {
    let parts: [Substring] = version.split(separator: ".", omittingEmptySubsequences: false)
    return parts.map { part in
      let digitCount = part.prefix { $0.isNumber }.count
      return String(repeating: "0", count: max(0, 10 - digitCount)) + String(part)
    }.joined(separator: ".")
  }
}
