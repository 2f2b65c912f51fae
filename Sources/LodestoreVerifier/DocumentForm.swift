import LodestoreFormat

/// The form that a document must have; members that are not named are let pass.
indirect enum DocumentForm: Sendable {
  case integer(ClosedRange<Int64>)
  /// Of 64 bits, not negative.
  case unsigned
  case double, date, text, bool
  case array(DocumentForm)
  case object([Member])
  /// An object whose members all have the form.
  case members(DocumentForm)
  /// An array of the bytes of an encoded document.
  case encodedDocument
  /// An array of pairs of record ids.
  case pairs

  struct Member: Sendable {
    var name: String
    var form: DocumentForm
    var isOptional = false

    /// One that may be absent or null.
    static func optional(_ name: String, _ form: DocumentForm) -> Member {
      Member(name: name, form: form, isOptional: true)
    }

    static func required(_ name: String, _ form: DocumentForm) -> Member {
      Member(name: name, form: form)
    }
  }

  /// Below 2⁵⁶, so that counting on never fails.
  static let count = DocumentForm.integer(0...(1 << 56) - 1)
  static let byte = DocumentForm.integer(0...255)
  /// The id of a record.
  static let id = DocumentForm.integer(1...Int64.max)
  /// The number of a page, a record, or a byte of an input.
  static let place = DocumentForm.integer(0...Int64.max)

  /// The first value that does not fit, as a clause; `nil` where every value does.
  func fault(_ document: Document, at path: String = "the document") -> String? {
    switch (self, document) {
    case (.integer(let range), .integer(let number)):
      return range.contains(number) ? nil : "\(path) is \(number), must be \(Self.words(range))"
    case (.integer(let range), .unsigned(let number)):
      return "\(path) is \(number), must be \(Self.words(range))"
    case (.unsigned, .integer(let number)):
      return number >= 0 ? nil : "\(path) is \(number), must be at least 0"
    case (.unsigned, .unsigned), (.double, .double), (.date, .date), (.text, .string),
      (.bool, .bool):
      return nil
    case (.array(let form), .array(let elements)):
      for (index, element) in elements.enumerated() {
        if let fault = form.fault(element, at: "element \(index) of \(path)") { return fault }
      }
      return nil
    case (.encodedDocument, .array(let elements)):
      return DocumentForm.array(.byte).fault(document, at: path)
        ?? Self.documentFault(elements, path)
    case (.pairs, .array(let elements)):
      return DocumentForm.array(.id).fault(document, at: path)
        ?? (elements.count.isMultiple(of: 2) ? nil : "\(path) has an id without its other one")
    case (.object(let members), .object):
      for member in members {
        let found = document[member.name]
        if member.isOptional, found == nil || found == .null { continue }
        guard let found else { return "\(path) has no '\(member.name)'" }
        if let fault = member.form.fault(found, at: "'\(member.name)'") { return fault }
      }
      return nil
    case (.members(let form), .object(let members)):
      for (name, value) in members {
        if let fault = form.fault(value, at: "'\(name)'") { return fault }
      }
      return nil
    default: return "\(path) is no \(noun)"
    }
  }

  private static func documentFault(_ elements: [Document], _ path: String) -> String? {
    let bytes = elements.map { element -> UInt8 in
      if case .integer(let byte) = element { UInt8(truncatingIfNeeded: byte) } else { 0 }
    }
    do {
      try bytes.withUnsafeBytes { try DocumentReader($0).validate() }
      return nil
    } catch {
      return "\(path) holds the bytes of no document: \(error)"
    }
  }

  private static func words(_ range: ClosedRange<Int64>) -> String {
    "from \(range.lowerBound) to \(range.upperBound)"
  }

  private var noun: String {
    switch self {
    case .integer, .unsigned: "integer"
    case .double: "double"
    case .date: "date"
    case .text: "text"
    case .bool: "boolean"
    case .array, .encodedDocument, .pairs: "array"
    case .object, .members: "object"
    }
  }
}

/// The documents of the tree `imports`: Format.md, "Imports".
enum ImportForms {
  static let state = DocumentForm.object([
    .required("report", report), .required("pages", .count), .optional("position", .text),
    .required("isAtEnd", .bool), .required("digest", .integer(0...Int64(UInt32.max))),
    .optional("unkeyedRejects", .count), .optional("madeRecords", ids),
    .optional(
      "pendingLinks",
      .array(
        .object([
          .required("link", .place), .required("id", .id), .required("page", .place),
          .required("record", .place), .required("key", .encodedDocument),
          .optional("place", .count),
        ]))),
  ])

  static let page = DocumentForm.object([
    .required(
      "page",
      .object([
        .required("name", .text), .optional("entityTag", .text), .optional("lastModified", .text),
        .optional("next", .text),
      ])), .optional("ids", ids), .optional("epoch", .unsigned),
    .optional(
      "links",
      .array(
        .object([
          .required("pairs", .pairs),
          .required(
            "unresolved",
            .array(.object([.required("id", .id), .required("key", .encodedDocument)]))),
        ]))),
  ])

  static let ids = DocumentForm.array(.id)

  static let basis = DocumentForm.object([
    .required("mark", .unsigned), .required("schema", .unsigned),
    .required("version", .integer(.min ... .max)), .required("epoch", .unsigned),
  ])

  static let report = DocumentForm.object(
    [
      .required("name", .text), .required("entity", .text), .required("strategy", .text),
      .required("run", .count), .required("ending", .text), .optional("failure", .text),
      .required("startedAt", .date), .required("keptUnseen", .bool),
      .required("unknownMembers", .members(.count)), .optional("links", links),
      .required(
        "rejects",
        .array(
          .object([
            .required("page", .place), .required("record", .place), .required("reason", .text),
            .optional("byteOffset", .place), .optional("attribute", .text),
            .optional("file", .text), .optional("line", .place),
          ]))),
      .optional("warnings", .array(.text)),
    ]
      + [
        "pages", "unchangedPages", "inserted", "updated", "unchanged", "ignored", "deleted",
        "rejected", "bytes", "commits", "resumptions",
      ].map { DocumentForm.Member.required($0, .count) }
      + ["seconds", "decodingSeconds", "writingSeconds"].map {
        DocumentForm.Member.required($0, .double)
      })

  private static let links = DocumentForm.object(
    ["added", "removed", "made", "unresolved"].map { DocumentForm.Member.required($0, .count) }
      + [
        .required(
          "unresolvedKeys",
          .array(
            .object([
              .required("page", .count), .required("record", .count), .required("member", .text),
              .required("key", .text),
            ])))
      ])

  static let strategies: Set = ["upsert", "replaceMatching", "mirror"]
}
