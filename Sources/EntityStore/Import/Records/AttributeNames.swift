internal import LodestoreFormat

/// Makes names of attributes, which have letters, digits and `_` only, from names of JSON members.
package enum AttributeNames {
  /// A valid name made from `name`; a valid one is unchanged.
  ///
  /// Each character that is not allowed becomes `_`, a leading digit gets `_` before it, and the name
  /// is cut at 64 bytes. No other name becomes `_id`, which is reserved by the store.
  package static func valid(_ name: String) -> String {
    if EntityDescription.isValidName(name) { return name }
    var bytes: [UInt8] = []
    for scalar in name.unicodeScalars {
      let isAllowed =
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
      bytes.append(isAllowed ? UInt8(ascii: scalar) : UInt8(ascii: "_"))
    }
    if bytes.first.map({ (0x30...0x39).contains($0) }) ?? true {
      bytes.insert(UInt8(ascii: "_"), at: 0)
    }
    let name = String(decoding: bytes.prefix(64), as: UTF8.self)
    return name == JSONRecordEncoder.idMember ? name + "_" : name
  }

  /// Attribute names for `names`, all different: names that are valid keep theirs, the others get
  /// theirs from ``valid(_:)``, with a number where that is taken.
  ///
  /// The result does not depend on the order of `names`.
  package static func distinct(_ names: some Collection<String>) -> [String: String] {
    var result: [String: String] = [:]
    var taken: Set<String> = []
    for name in names where EntityDescription.isValidName(name) {
      result[name] = name
      taken.insert(name)
    }
    let others = names.filter { result[$0] == nil }
    for name in others.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let base = valid(name)
      var candidate = base
      var number = 2
      while !taken.insert(candidate).inserted {
        candidate = String(base.prefix(58)) + "_\(number)"
        number += 1
      }
      result[name] = candidate
    }
    return result
  }
}
