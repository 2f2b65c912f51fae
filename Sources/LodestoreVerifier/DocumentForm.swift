import LodestoreBytes
import LodestoreFormat

/// The required form of a document.
///
/// Members that are not named are allowed.
indirect enum DocumentForm: Sendable {
  case integer(ClosedRange<Int64>)
  /// An integer of 64 bits that is not negative.
  case unsigned
  case double, date, text, bool
  case array(DocumentForm)
  /// An object with members that have these names and forms. A member whose name ends in `?` may be
  /// absent or null.
  case object([(name: String, form: DocumentForm)])
  /// An object whose members all have the form.
  case members(DocumentForm)
  /// An encoded document, written as an array of its bytes.
  case encodedDocument
  /// An array of pairs of record ids.
  case pairs

  /// A counter below 2⁵⁶, so that incrementing it never overflows.
  static let count = DocumentForm.integer(0...(1 << 56) - 1)
  static let byte = DocumentForm.integer(0...255)
  /// The id of a record.
  static let id = DocumentForm.integer(1...Int64.max)
  /// The number of a page or of a record, or the offset of a byte of an input.
  static let place = DocumentForm.integer(0...Int64.max)

  /// The first value that does not fit, as a clause; `nil` if all fit.
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
      for (name, form) in members {
        let isOptional = name.hasSuffix("?")
        let name = isOptional ? String(name.dropLast()) : name
        let found = document[name]
        if isOptional, found == nil || found == .null { continue }
        guard let found else { return "\(path) has no '\(name)'" }
        if let fault = form.fault(found, at: "'\(name)'") { return fault }
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
      try bytes._withBytes { try DocumentReader($0).validate() }
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

/// The forms of the documents of the tree `imports`; see Format.md, "Imports".
enum ImportForms {
  static let state = DocumentForm.object([
    ("report", report), ("pages", .count), ("position?", .text), ("isAtEnd", .bool),
    ("digest", .integer(0...Int64(UInt32.max))), ("unkeyedRejects?", .count),
    ("madeRecords?", ids),
    (
      "pendingLinks?",
      .array(
        .object([
          ("link", .place), ("id", .id), ("page", .place), ("record", .place),
          ("key", .encodedDocument), ("place?", .count),
        ]))
    ),
  ])

  static let page = DocumentForm.object([
    (
      "page",
      .object([("name", .text), ("entityTag?", .text), ("lastModified?", .text), ("next?", .text)])
    ), ("ids?", ids), ("epoch?", .unsigned),
    (
      "links?",
      .array(
        .object([
          ("pairs", .pairs),
          ("unresolved", .array(.object([("id", .id), ("key", .encodedDocument)]))),
        ]))
    ),
  ])

  static let ids = DocumentForm.array(.id)

  static let basis = DocumentForm.object([
    ("mark", .unsigned), ("schema", .unsigned), ("version", .integer(.min ... .max)),
    ("epoch", .unsigned),
  ])

  static let report = DocumentForm.object(
    [
      ("name", .text), ("entity", .text), ("strategy", .text), ("run", .count), ("ending", .text),
      ("failure?", .text), ("startedAt", .date), ("keptUnseen", .bool),
      ("unknownMembers", .members(.count)), ("links?", links), ("rejects", .array(reject)),
      ("warnings?", .array(.text)),
    ]
      + counts(
        "pages", "unchangedPages", "inserted", "updated", "unchanged", "ignored", "deleted",
        "rejected", "bytes", "commits", "resumptions")
      + ["seconds", "decodingSeconds", "writingSeconds"].map { ($0, .double) })

  private static let reject = DocumentForm.object([
    ("page", .place), ("record", .place), ("reason", .text), ("byteOffset?", .place),
    ("attribute?", .text), ("file?", .text), ("line?", .place),
  ])

  private static let links = DocumentForm.object(
    counts("added", "removed", "made", "unresolved") + [("unresolvedKeys", .array(unresolved))])

  private static let unresolved = DocumentForm.object([
    ("page", .count), ("record", .count), ("member", .text), ("key", .text),
  ])

  private static func counts(_ names: String...) -> [(name: String, form: DocumentForm)] {
    names.map { ($0, .count) }
  }

  static let strategies: Set = ["upsert", "replaceMatching", "mirror"]
}
