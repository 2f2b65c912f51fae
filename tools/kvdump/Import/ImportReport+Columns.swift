import EntityStore
import Synchronization

extension ImportReport {
  /// The report's members; the rejects are left out for people, who get them as notes.
  func members(files: PageFiles, withRejects: Bool) -> [(Column, Cell)] {
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
      let cells = rejects.map { Cell.json($0.json(in: files)) }
      members.append((Column("rejects"), .json(JSONText.array(cells))))
    }
    return members
  }
}

extension ImportReport.Reject {
  /// One line for people.
  func line(in files: PageFiles) -> String {
    let byte = byteOffset.map { " (byte \($0))" } ?? ""
    return "\(files.name(ofPage: page)): page \(page) record \(record)\(byte): \(reason)"
  }

  func json(in files: PageFiles) -> String {
    JSONText.object([
      ("file", .text(files.name(ofPage: page))), ("page", .integer(Int64(page))),
      ("record", .integer(Int64(record))),
      ("byteOffset", byteOffset.map { .integer(Int64($0)) } ?? .null),
      ("attribute", attribute.map(Cell.text) ?? .null), ("reason", .text(reason)),
    ])
  }
}

/// Which file a page was in.
final class PageFiles: Sendable {
  private let starts = Mutex<[(page: Int, file: String)]>([])

  /// Notes that `page`, and those behind it, are of `file`.
  func note(_ page: Int, _ file: String) {
    starts.withLock { starts in
      if starts.last?.file != file { starts.append((page, file)) }
    }
  }

  func name(ofPage page: Int) -> String {
    starts.withLock { $0.last { $0.page <= page }?.file ?? "?" }
  }
}
