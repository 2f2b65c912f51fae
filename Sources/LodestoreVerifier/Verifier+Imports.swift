import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks that keys belong to imports, and that bodies have valid checksums and the forms of
  /// Format.md, "Imports".
  func verifyImports() throws {
    let name = TreeName.imports.text
    guard let tree = trees[name] else { return }
    try walk(tree) { key, body in
      guard let (subject, kind) = ImportKey.split(key), kind != .seen(page: 0) else {
        add(
          .imports, tree: name, key: key,
          "the key is not an import's name, a zero byte and one of its keys")
        return
      }
      do throws(FormatError) {
        let content = try Checksum.unsealed(key: key, body: body)
        try Self.check(try Document(decoding: content), kind, of: subject)
      } catch {
        add(.imports, error.rule, tree: name, subject: subject, key: key, "\(error)")
      }
    }
  }

  private static func check(
    _ document: Document, _ kind: ImportKey, of name: String
  ) throws(FormatError) {
    func require(_ form: DocumentForm, _ rule: FormatRule) throws(FormatError) {
      if let fault = form.fault(document) { throw FormatError(fault, rule) }
    }
    switch kind {
    case .state:
      try require(ImportForms.state, .importState)
      if let report = document["report"] {
        try checkReport(report, of: name, ["open", "cancelled", "failed"], .importState)
      }
    case .report(let run):
      try require(ImportForms.report, .importReport)
      try checkReport(document, of: name, ["finished", "cancelled", "failed"], .importReport)
      guard document["run"] == .integer(Int64(clamping: run)) else {
        throw FormatError("'run' is not the number of its key, \(run)", .importReport)
      }
    case .memory(let digest):
      try require(ImportForms.page, .importPage)
      guard case .string(let page)? = document["page"]?["name"],
        SHA256.hash(page.utf8).elementsEqual(digest)
      else {
        throw FormatError("the key is not the SHA-256 of the page's name", .importPageKey)
      }
    case .seen: try require(ImportForms.ids, .importIDs)
    case .basis: try require(ImportForms.basis, .importBasis)
    }
  }

  private static func checkReport(
    _ report: Document, of name: String, _ endings: Set<String>, _ rule: FormatRule
  ) throws(FormatError) {
    guard case .string(let strategy)? = report["strategy"],
      ImportForms.strategies.contains(strategy), case .string(let ending)? = report["ending"],
      endings.contains(ending)
    else { throw FormatError("'strategy' or 'ending' is a word that is not listed here", rule) }
    try require(report["name"] == .string(name), "'name' is not that of its key", rule)
    for (name, list) in [
      ("rejects", report["rejects"]), ("unresolvedKeys", report["links"]?["unresolvedKeys"]),
    ] {
      if case .array(let elements)? = list, elements.count > 100 {
        throw FormatError("\(elements.count) of '\(name)' are kept, at most 100", rule)
      }
    }
  }
}
