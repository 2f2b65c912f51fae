import ArgumentParser
import EntityStore
import LodestoreFormat

/// The options about members: the attribute that each fills, and the conversion of its values.
struct MemberRules: Sendable {
  /// The attributes of members that fill an attribute of another name.
  var maps: [String: String] = [:]
  /// Members in ``maps`` that no `--map` option names.
  ///
  /// A path names a value inside each of these members. The member itself also becomes an
  /// attribute.
  private(set) var implied: Set<String> = []
  /// The conversions by attribute name, as the user typed it.
  var types: [String: TextConversion] = [:]

  /// Makes attributes of the paths into members among `names`, the names in `--unique` and
  /// `--index`.
  ///
  /// The name `properties.id` has the effect of `--map properties.id=properties_id`.
  ///
  /// The member that a path leads into remains an attribute, or becomes one.
  mutating func mapPaths(among names: [String], known: [String], infers: Bool) {
    let mapped = Set(maps.keys.compactMap(DynamicPath.root))
    for path in names where maps[path] == nil {
      let attribute = AttributeNames.readable(path)
      guard let root = DynamicPath.root(of: path), infers || known.contains(attribute) else {
        continue
      }
      maps[path] = attribute
      if !mapped.contains(root), infers || known.contains(root) {
        maps[root] = AttributeNames.readable(root)
        implied.insert(root)
      }
    }
  }

  /// Removes the implied members that no record has.
  ///
  /// A column's own name may have dots. Such a name is not a path.
  mutating func dropImplied(notAmong members: Set<String>) {
    for member in implied where !members.contains(member) { maps[member] = nil }
    implied.formIntersection(members)
  }
}

/// Options of `import` about members.
struct MemberOptions: ParsableArguments {
  @Option(
    help: .value(
      "Import a member, or a column, into an attribute of another name; may be repeated. A path "
        + "with dots selects a value inside a member, or at a position of an array, as in "
        + "properties.mag=mag; the rest of that member is left out. A member '_id' is only "
        + "imported this way, as _id=NAME, because the store assigns its own ids.",
      "member=attribute"))
  var map: [String] = []

  @Option(
    help: .value(
      "The type of an attribute; texts are converted to it exactly, or their record is rejected. "
        + "May be repeated. Types are bool, int8 to int64, uint8 to uint64, int, float, double, "
        + "string, date, uuid, url, decimal, data (Base64), id (of a record) and json (the text is "
        + "JSON). A date without a format is ISO 8601, or RFC 1123 as used on the web. Formats are "
        + "unix and unixms (seconds and milliseconds since 1970), and patterns of yyyy, yy (1969 "
        + "to 2068), MM, MMM, MMMM, dd, EEE, EEEE, HH, hh with a (AM or PM), mm, ss, SSS, Z (Z, "
        + "UTC, GMT or an offset; UTC without) and 'text', as in at=date:'dd.MM.yyyy HH:mm'. Names "
        + "of months and days are English.", "attribute=type[:format]"))
  var type: [String] = []

  @Flag(
    help: ArgumentHelp(
      "Read members with the names of relationships as unique keys of the related records, which "
        + "'export --links' writes. A record without the member keeps its links, and null removes "
        + "them. Keys without a record, up to 10,000, are looked up again at the end, and reported "
        + "if there is still none."))
  var links = false

  /// Whether any of the options is given.
  var isGiven: Bool { !map.isEmpty || !type.isEmpty || links }

  func validate() throws { _ = try rules() }

  /// The parsed options.
  ///
  /// Throws a usage error for an invalid option.
  func rules() throws(ValidationError) -> MemberRules {
    var rules = MemberRules()
    for text in map {
      guard let sign = text.lastIndex(of: "="), sign != text.startIndex else {
        throw ValidationError(
          "--map: '\(text)' has no member and attribute; write member=attribute")
      }
      let member = String(text[..<sign])
      let attribute = String(text[text.index(after: sign)...])
      try refuse(
        if: !EntityDescription.isValidName(attribute),
        "--map: '\(attribute)' cannot be an attribute; write letters, digits and _, at most 64")
      try refuse(
        if: attribute == RecordColumns.idName,
        "--map: '_id' is the store's name for the id of a record; use another name")
      if let other = rules.maps[member], other != attribute {
        throw ValidationError("--map: '\(member)' is to be both '\(other)' and '\(attribute)'")
      }
      if let other = rules.maps.first(where: { $0.value == attribute && $0.key != member }) {
        let both = [member, other.key].sorted().joined(separator: "' and '")
        throw ValidationError("--map: '\(both)' are both to be '\(attribute)'; name one of them")
      }
      rules.maps[member] = attribute
    }
    for text in type {
      guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
        throw ValidationError("--type: '\(text)' has no attribute and type; write attribute=type")
      }
      let attribute = String(text[..<sign])
      let conversion = try Self.conversion(String(text[text.index(after: sign)...]), of: attribute)
      if let other = rules.types[attribute], other != conversion {
        throw ValidationError("--type: '\(attribute)' has two types; name one of them")
      }
      rules.types[attribute] = conversion
    }
    return rules
  }

  private static func conversion(
    _ text: String, of attribute: String
  ) throws(ValidationError) -> TextConversion {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts.first ?? "")
    let known = AttributeType.allCases.filter { $0 != .document }
    guard let type = name == "int" ? .int64 : known.first(where: { $0.name == name }) else {
      let hint = NearestName.of(name, among: ["int"] + known.map(\.name)).map {
        "; did you mean \($0)?"
      }
      throw ValidationError(
        "--type: '\(attribute)' has '\(name)', which is not a type\(hint ?? "")")
    }
    guard parts.count == 2 else { return TextConversion(to: type) }
    try refuse(
      if: type != .date, "--type: '\(attribute)' is \(name), which has no format; only date has")
    do {
      return TextConversion(to: type, date: try DateForm(String(parts[1])))
    } catch {
      throw ValidationError("--type: the format '\(parts[1])' of '\(attribute)' \(error)")
    }
  }
}
