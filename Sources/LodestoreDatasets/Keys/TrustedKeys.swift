/// The keys that a program trusts to sign a dataset: one key set of the publisher's chain.
///
/// A program carries the text of one set, which `kvdump signing-keys show` prints:
///
///     let keys = try TrustedKeys("1:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
///
/// From this set the program follows the publisher's chain: `keys/2.json` is signed by a key of set
/// 1, and so on. A publisher keeps a second key of each set offline, and uses it to sign the next
/// set if the first one is lost or stolen. If all keys of a set are lost, nobody can sign the next
/// set. The publisher then begins a set with a higher number, and ships it with the next version of
/// the program.
public struct TrustedKeys: Sendable, Hashable, CustomStringConvertible {
  /// The number of the key set, counted from 1.
  public let number: Int
  /// The keys.
  ///
  /// A signature by any of the keys is valid.
  public let keys: [PublicKey]

  /// Reads the number of a key set and its public keys, such as `"2:KEY,KEY"`.
  ///
  /// - Throws: `DatasetError` with the code `badKey`.
  public init(_ text: String) throws(DatasetError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(parts[0]), (1...Int(KeySet.numberLimit)).contains(number)
    else { throw .badTrustedKeys(text) }
    var keys: [PublicKey] = []
    for part in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      guard let key = PublicKey(String(part)), !keys.contains(key), keys.count < KeySet.keyLimit
      else { throw .badTrustedKeys(text) }
      keys.append(key)
    }
    self.number = number
    self.keys = keys
  }

  package init(_ set: KeySet) {
    number = set.number
    keys = set.keys
  }

  /// The text that ``init(_:)`` reads.
  public var description: String { "\(number):" + keys.map(\.description).joined(separator: ",") }

  /// The keys in words, for messages.
  var words: String {
    "a key of set \(number) (" + keys.map(\.shortID).joined(separator: ", ") + ")"
  }

  /// Reads the next key set, which a key of this one must have signed.
  ///
  /// - Parameters:
  ///   - bytes: The content of `keys/N.json`, where N is ``number`` + 1.
  ///   - name: The dataset's name.
  /// - Throws: `DatasetError` with the code `untrusted`, `malformed`, `newerFormat` or
  ///   `otherDataset`.
  public func followed(
    by bytes: some Collection<UInt8>, dataset name: String
  ) throws(DatasetError) -> TrustedKeys {
    let envelope = try SignedEnvelope(reading: bytes, as: .keySet)
    let set = try KeySet(payload: try envelope.payload(verifiedBy: keys, words))
    guard set.name == name else { throw .otherDataset(.keySet, found: set.name, expected: name) }
    guard set.number == number + 1 else {
      throw .wrongKeySet(found: UInt64(set.number), expected: number + 1)
    }
    return TrustedKeys(set)
  }

  /// The maximum number of key sets followed in one refresh.
  private static let stepLimit = 64

  /// The path of the next key set on the way to set `claimed`; `nil` when that set or the limit of
  /// one refresh is reached.
  ///
  /// - Parameter first: The keys at which the program began.
  func nextSet(to claimed: Int, from first: TrustedKeys) -> String? {
    number < min(claimed, first.number + Self.stepLimit) ? PublishedNames.keySet(number + 1) : nil
  }
}
