import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks Format.md, "Second copy": that the copy has exactly the pairs of the catalogue and of
  /// the header.
  func verifyCatalogueCopy() throws {
    let name = TreeName.catalogueCopy.text
    guard let copy = trees[name], let catalogue = trees[TreeName.catalogue.text],
      let header = trees[TreeName.header.text]
    else { return }
    var wanted: [[UInt8]: [UInt8]] = [:]
    try walk(catalogue) { key, body in wanted[Array(key)] = Array(body) }
    for field in CatalogueCopyKey.fields {
      guard let body = try transaction.get(field.key, in: header) else { continue }
      let key = CatalogueCopyKey.key(of: field)
      wanted[key] = Checksum.sealed(key: key, content: Array(body))
    }
    try walk(copy) { key, body in
      let expected = wanted.removeValue(forKey: Array(key))
      guard expected.map({ !body.elementsEqual($0) }) ?? true else { return }
      add(
        .catalogueCopy, tree: name, key: key,
        expected == nil
          ? "the catalogue and the header have no such pair" : "is not what it is a copy of")
    }
    for key in wanted.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      add(.catalogueCopy, tree: name, key: key, "the pair has no copy")
    }
  }
}
