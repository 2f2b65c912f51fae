import EntityStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ImportReport {
  /// The report's members; the rejects are left out for people, who get them as notes.
  func members(withRejects: Bool) -> [(Column, Cell)] {
    var members: [(Column, Cell)] = [
      (Column("entity"), .text(entity)), (Column("pages"), .count(pages)),
      (Column("records"), .count(records)), (Column("inserted"), .count(inserted)),
      (Column("updated"), .count(updated)), (Column("unchanged"), .count(unchanged)),
      (Column("ignored"), .count(ignored)), (Column("deleted"), .count(deleted)),
      (Column("rejected"), .count(rejected)),
      (Column("seconds"), .double((seconds * 1000).rounded() / 1000)),
    ]
    if let links {
      members += [
        (Column("linksAdded"), .count(links.added)),
        (Column("linksRemoved"), .count(links.removed)),
        (Column("linksUnresolved"), .count(links.unresolved)),
      ]
    }
    if withRejects, let links, !links.unresolvedKeys.isEmpty {
      let cells = links.unresolvedKeys.prefix(100).map { key in
        Cell.json(
          JSONText.object([
            ("page", .integer(Int64(key.page))), ("record", .integer(Int64(key.record))),
            ("member", .text(key.member)), ("key", .text(key.key)),
          ]))
      }
      members.append((Column("unresolvedKeys"), .json(JSONText.array(cells))))
    }
    if withRejects, !unknownMembers.isEmpty {
      let counts = unknownMembers.sorted { $0.key < $1.key }.map { ($0.key, Cell.count($0.value)) }
      members.append((Column("unknownMembers"), .json(JSONText.object(counts))))
    }
    if withRejects {
      let cells = rejects.map { Cell.json($0.json) }
      members.append((Column("rejects"), .json(JSONText.array(cells))))
    }
    if withRejects, let warnings {
      members.append((Column("warnings"), .json(JSONText.array(warnings.map(Cell.text)))))
    }
    return members
  }
}

extension ImportReport.Reject {
  /// One line for people.
  var textLine: String {
    let places = [line.map { "line \($0)" }, byteOffset.map { "byte \($0)" }].compactMap { $0 }
    let place = places.isEmpty ? "" : " (\(places.joined(separator: ", ")))"
    return "\(file ?? "?"): page \(page) record \(record)\(place): \(reason)"
  }

  /// An object; the bytes of a record that could not be read are `content`, or `contentBase64`
  /// where they are no text.
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
    return JSONText.object(members)
  }
}
