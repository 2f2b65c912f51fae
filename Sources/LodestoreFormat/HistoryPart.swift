import LodestoreBytes

/// One write in the history, or a part of a large write.
///
/// See Format.md, "History".
package struct HistoryPart: Sendable, Hashable {
  /// Facts about the whole write, stored only in its first part.
  package struct Header: Sendable, Hashable {
    /// The number of parts of the write.
    package var partCount: Int
    /// The time of the write in seconds since 2001-01-01T00:00:00Z.
    package var time: Double
    package var process: Int64
    package var author: String?
    package var context: String?
    /// The write number under which the earlier records and the values of deleted records are
    /// stored; `nil` for the number of this write.
    package var images: UInt64?
    /// The number of the write that this write undoes, if it makes no other change.
    package var undoes: UInt64?
    /// The entities whose records or links the write changed without recording the changes,
    /// ascending; `nil` if the writer did not note them.
    package var untold: [EntityNumber]?

    package init(
      partCount: Int, time: Double, process: Int64, author: String?, context: String?,
      images: UInt64? = nil, undoes: UInt64? = nil, untold: [EntityNumber]? = nil
    ) {
      self.images = images
      self.undoes = undoes
      self.untold = untold
      self.partCount = partCount
      self.time = time
      self.process = process
      self.author = author
      self.context = context
    }
  }

  /// Records of one entity that a write changed in one way.
  package struct Change: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      case inserted
      /// The numbers of the changed attributes, ascending.
      case updated([UInt32])
      case deleted
      /// Records may have changed without an entry in the history, in this write or before it.
      case restarted
    }

    package var entity: EntityNumber
    package var kind: Kind
    package var ids: IDRuns
    /// Whether the records were deleted because they expired.
    package var isExpired: Bool

    package init(entity: EntityNumber, kind: Kind, ids: IDRuns, isExpired: Bool = false) {
      self.entity = entity
      self.kind = kind
      self.ids = ids
      self.isExpired = isExpired
    }
  }

  /// Links of one relationship that a write added, removed or moved within an order.
  package struct Links: Sendable, Hashable {
    /// The kind of the change.
    ///
    /// The raw value is the name of the member in the document.
    package enum Kind: String, Sendable, CaseIterable {
      case added, removed, moved
    }

    package var relationship: UInt32
    package var kind: Kind
    /// The pairs, ordered by the id of side 1 and then by the id of side 2.
    package var pairs: [LinkPair]

    package init(relationship: UInt32, kind: Kind, pairs: [LinkPair]) {
      self.relationship = relationship
      self.kind = kind
      self.pairs = pairs
    }
  }

  package var header: Header?
  package var changes: [Change]
  package var links: [Links]

  package init(header: Header? = nil, changes: [Change] = [], links: [Links] = []) {
    self.header = header
    self.changes = changes
    self.links = links
  }
}

/// Two linked records: the id on side 1 and the id on side 2.
package struct LinkPair: Sendable, Hashable, Comparable {
  package var from: UInt64
  package var to: UInt64

  package init(from: UInt64, to: UInt64) {
    self.from = from
    self.to = to
  }

  package static func < (a: LinkPair, b: LinkPair) -> Bool { (a.from, a.to) < (b.from, b.to) }
}

extension HistoryPart {
  /// Reads one part and checks every rule of Format.md for it.
  package init(decoding bytes: ByteView) throws(FormatError) {
    let part = try DocumentView(validating: bytes)
    try require(part.isObject, "a part of the history is no object", .historyPart)
    self.init()
    if let time = part["time"] {
      guard let time = time.date, let process = part["process"]?.integer,
        let parts = part["parts"]?.integer, (1...Int64(UInt32.max)).contains(parts), time.isFinite
      else {
        throw FormatError(
          "the history has no 'parts', 'time' and 'process' of a write", .historyPart)
      }
      header = Header(
        partCount: Int(parts), time: time, process: process,
        author: try Self.text("author", in: part), context: try Self.text("context", in: part))
      header?.images = try Self.write("images", in: part)
      header?.undoes = try Self.write("undoes", in: part)
      header?.untold = try Self.untold(in: part)
    }
    for element in try Self.array("changes", in: part) ?? [] {
      changes.append(try Change(element))
    }
    for element in try Self.array("links", in: part) ?? [] { links.append(try Links(element)) }
  }

  /// Reads the member `name` with `read`; `nil` if it is absent.
  private static func member<Value>(
    _ name: String, in part: DocumentView, _ expected: String, _ read: (DocumentView) -> Value?
  ) throws(FormatError) -> Value? {
    guard let member = part[name] else { return nil }
    guard let value = read(member) else {
      throw FormatError("'\(name)' of the history is no \(expected)", .historyPart)
    }
    return value
  }

  private static func text(_ name: String, in part: DocumentView) throws(FormatError) -> String? {
    try member(name, in: part, "text", \.text)
  }

  private static func write(_ name: String, in part: DocumentView) throws(FormatError) -> UInt64? {
    try member(name, in: part, "number of a write") { member in
      member.integer.flatMap { $0 > 0 ? UInt64($0) : nil }
    }
  }

  private static func array(
    _ name: String, in part: DocumentView
  ) throws(FormatError) -> [DocumentView]? {
    try member(name, in: part, "array", \.elements)
  }

  private static func untold(in part: DocumentView) throws(FormatError) -> [EntityNumber]? {
    guard let elements = try array("untold", in: part) else { return nil }
    guard let numbers = elements.ascendingNumbers, numbers.first != 0 else {
      throw FormatError("the entities in 'untold' do not ascend, or are none", .historyPart)
    }
    return numbers.map { EntityNumber($0) }
  }
}

extension HistoryPart.Change {
  fileprivate init(_ change: DocumentView) throws(FormatError) {
    guard let entity = change["entity"]?.number else {
      throw FormatError("a change of the history names no entity", .historyPart)
    }
    let kinds = ["inserted", "updated", "deleted", "restarted"]
    guard let name = change.onlyName(of: kinds), let bytes = change[name]?.data else {
      throw FormatError("a change of the history is not of one kind", .historyPart)
    }
    let ids = try IDRuns(decoding: bytes)
    guard !ids.isEmpty || name == "restarted" else {
      throw FormatError("a change of the history is of no record", .historyNotEmpty)
    }
    let kind: Kind
    switch name {
    case "inserted": kind = .inserted
    case "updated":
      guard let elements = change["attributes"]?.elements else {
        throw FormatError("an update of the history names no attributes", .historyPart)
      }
      guard let attributes = elements.ascendingNumbers else {
        throw FormatError("the attributes of an update do not ascend", .historyPart)
      }
      try require(
        !attributes.isEmpty, "an update of the history is of no attribute", .historyNotEmpty)
      kind = .updated(attributes)
    case "deleted": kind = .deleted
    default:
      try require(bytes.isEmpty, "a restart in the history has ids", .historyPart)
      kind = .restarted
    }
    let expired = change["expired"]
    guard expired == nil || expired?.bool == true && kind == .deleted else {
      throw FormatError("'expired' of the history is not true, or of no deletion", .historyPart)
    }
    self.init(entity: EntityNumber(entity), kind: kind, ids: ids, isExpired: expired != nil)
  }
}

extension HistoryPart.Links {
  fileprivate init(_ links: DocumentView) throws(FormatError) {
    guard let relationship = links["relationship"]?.number else {
      throw FormatError("links of the history name no relationship", .historyPart)
    }
    guard let kind = links.onlyName(of: Kind.allCases.map(\.rawValue)).flatMap(Kind.init),
      let bytes = links[kind.rawValue]?.data
    else {
      throw FormatError(
        "links of the history are not one of added, removed and moved", .historyPart)
    }
    self.init(relationship: relationship, kind: kind, pairs: try Self.pairs(bytes))
    try require(!pairs.isEmpty, "links of the history are none", .historyNotEmpty)
  }

  package static func pairs(_ bytes: ByteView) throws(FormatError) -> [LinkPair] {
    var pairs: [LinkPair] = []
    var reader = DocumentReader(bytes)
    var from: UInt64 = 0
    func next(_ last: UInt64, _ reader: inout DocumentReader) throws(FormatError) -> UInt64 {
      let gap = try reader.leb128()
      guard gap > 0, gap < 1 << 63, last + gap < 1 << 63 else {
        throw FormatError(
          "the ids of links do not ascend, or are none", .historyPairs, at: reader.offset)
      }
      return last + gap
    }
    while reader.offset < bytes.count {
      from = try next(from, &reader)
      let count = try reader.leb128()
      // Each link takes at least one byte.
      guard count < UInt64(bytes.count - reader.offset) else {
        throw FormatError("a record has fewer links than it says", .historyPairs, at: reader.offset)
      }
      var to: UInt64 = 0
      for _ in 0...count {
        to = try next(to, &reader)
        pairs.append(LinkPair(from: from, to: to))
      }
    }
    return pairs
  }
}

extension DocumentView {
  /// The only name that a member has; `nil` if no member has one of the names, or several do.
  fileprivate func onlyName(of names: [String]) -> String? {
    var found: String?
    for name in names where self[name] != nil {
      if found != nil { return nil }
      found = name
    }
    return found
  }
}
