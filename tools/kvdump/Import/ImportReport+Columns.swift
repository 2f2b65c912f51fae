import EntityStore

extension ImportReport {
  /// The report as columns.
  ///
  /// For people the rejects are left out, because they appear as notes.
  func members(withRejects: Bool) -> [(column: Column, cell: Cell)] {
    var members: [(column: Column, cell: Cell)] = [
      ("entity", .text(entity)), ("pages", .count(pages)), ("records", .count(records)),
      ("inserted", .count(inserted)), ("updated", .count(updated)),
      ("unchanged", .count(unchanged)), ("ignored", .count(ignored)),
      ("deleted", .count(deleted)), ("rejected", .count(rejected)),
      ("seconds", .double((seconds * 1000).rounded() / 1000)),
    ]
    if let links {
      members += [
        ("linksAdded", .count(links.added)), ("linksRemoved", .count(links.removed)),
        ("linksUnresolved", .count(links.unresolved)),
      ]
    }
    guard withRejects else { return members }
    if let links, !links.unresolvedKeys.isEmpty {
      let cells = links.unresolvedKeys.prefix(100).map { key in
        Cell.object([
          ("page", .count(key.page)), ("record", .count(key.record)),
          ("member", .text(key.member)), ("key", .text(key.key)),
        ])
      }
      members.append(("unresolvedKeys", .array(cells)))
    }
    if !unknownMembers.isEmpty { members.append(("unknownMembers", unknownCell)) }
    members.append(("rejects", .array(rejects.map { .json($0.json) })))
    if let warnings { members.append(("warnings", .array(warnings.map(Cell.text)))) }
    return members
  }

  /// The number of records with each member that has no attribute.
  var unknownCell: Cell {
    .object(unknownMembers.sorted { $0.key < $1.key }.map { ($0.key, .count($0.value)) })
  }
}

extension ImportReport.Reject {
  /// The reject in one line for people.
  var textLine: String {
    let places = [line.map { "line \($0)" }, byteOffset.map { "byte \($0)" }].compactMap { $0 }
    let place = places.isEmpty ? "" : " (\(places.joined(separator: ", ")))"
    return "\(file ?? "?"): page \(page) record \(record)\(place): \(reason)"
  }

  /// The reject as an object.
  ///
  /// The bytes of an unreadable record are `content`, or `contentBase64` if they are not text.
  var json: String {
    var members: [(String, Cell)] = [
      ("file", file.map(Cell.text) ?? .null), ("page", .integer(Int64(page))),
      ("record", .integer(Int64(record))), ("line", line.map { .integer(Int64($0)) } ?? .null),
      ("byteOffset", byteOffset.map { .integer(Int64($0)) } ?? .null),
      ("attribute", attribute.map(Cell.text) ?? .null), ("reason", .text(reason)),
    ]
    if let content {
      let text = String(validating: content, as: UTF8.self)
      members.append(
        text.map { ("content", .text($0)) }
          ?? ("contentBase64", .text(content.base64EncodedString())))
    }
    return CellJSON.object(members)
  }
}
