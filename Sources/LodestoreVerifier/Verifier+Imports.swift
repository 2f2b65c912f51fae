import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// The keys are those of imports, and the bodies have their checksums and are documents.
  mutating func verifyImports() throws {
    let name = TreeName.imports.text
    guard let tree = trees[name] else { return }
    var list = findings
    try walk(tree) { key, body in
      guard let (subject, _) = ImportKey.split(key) else {
        list.add(
          Finding(
            .imports, tree: name, key: key,
            "the key is not an import's name, a zero byte and one of its keys"))
        return
      }
      do throws(FormatError) {
        let content = try Checksum.unsealed(key: key, body: body)
        try DocumentReader(content).validate(onlyJSON: false)
      } catch {
        list.add(Finding(.imports, tree: name, subject: subject, key: key, "\(error)"))
      }
    }
    findings = list
  }
}
