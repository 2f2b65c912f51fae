/// The key sets of a published folder, in the order of their numbers.
package struct KeyChain: Sendable {
  /// One key set of the chain.
  package struct Link: Sendable, Hashable {
    package let set: KeySet
    /// Whether a key of the previous set signed this one.
    ///
    /// The first set is signed by one of its own keys, and so is a set that was made after all
    /// earlier keys were lost.
    package let isFollowing: Bool
  }

  /// The sets in order, from number 1.
  package private(set) var links: [Link] = []

  /// The newest set; `nil` in a folder without keys.
  package var newest: KeySet? { links.last?.set }
  /// The newest set in the form that programs trust.
  package var trusted: TrustedKeys? { newest.map(TrustedKeys.init) }

  /// Reads `keys/1.json`, `keys/2.json` and so on, until there is no further file.
  ///
  /// - Parameter name: The dataset's name; `nil` to take it from the first set.
  /// - Throws: `DatasetError` with the code `untrusted` if a set is signed neither by a key of the
  ///   previous set nor by one of its own keys.
  package init(in folder: String, name: String?) throws(DatasetError) {
    while let bytes = try PublishedFolder.contents(
      of: "\(folder)/\(PublishedNames.keySet(links.count + 1))",
      atMost: SignedFile.keySet.byteLimit)
    {
      let envelope = try SignedEnvelope(reading: bytes, as: .keySet)
      let set = try KeySet(payload: envelope.payload)
      if let name = name ?? newest?.name, set.name != name {
        throw .otherDataset(.keySet, found: set.name, expected: name)
      }
      guard set.number == links.count + 1 else {
        throw .wrongKeySet(found: UInt64(set.number), expected: links.count + 1)
      }
      let isFollowing = try newest.map { (set) throws(DatasetError) in
        try envelope.isVerified(by: set.keys)
      }
      if isFollowing != true {
        _ = try envelope.payload(verifiedBy: set.keys, "a key of its own or of the set before")
      }
      links.append(Link(set: set, isFollowing: isFollowing == true))
    }
  }
}
