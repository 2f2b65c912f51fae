import LodestoreSystem

// Each function here creates the error for one failure with published files or keys. Wording:
// cannot + verb + thing: the fact found and the fact expected; the next step.

extension DatasetError {
  // MARK: Signed documents

  static func malformed(_ file: SignedFile, at path: String, found: String, expected: String)
    -> Self
  {
    let place = path.isEmpty ? "" : " at '\(path)'"
    return Code.malformed.error(
      "cannot read \(file.words): found \(found)\(place), expected \(expected); report it to the "
        + "publisher")
  }

  static func newerFormat(_ file: SignedFile, version: UInt64, known: UInt64) -> Self {
    Code.newerFormat.error(
      "cannot read \(file.words): it has version \(version), and this library knows versions up to "
        + "\(known); update the program")
  }

  static func unsigned(_ file: SignedFile, by trusted: String) -> Self {
    Code.untrusted.error(
      "cannot trust \(file.words): no signature is made by \(trusted); check the key, and that the "
        + "address is the publisher's")
  }

  static func wrongSignature(_ file: SignedFile, key: PublicKey) -> Self {
    Code.untrusted.error(
      "cannot trust \(file.words): the signature of key \(key.shortID) does not fit its bytes; fetch the "
        + "file again, and report it to the publisher")
  }

  static func replacedKeySet(found: Int, trusted: Int) -> Self {
    Code.untrusted.error(
      "cannot trust the manifest: it is signed under key set \(found), which key set \(trusted) has "
        + "replaced; use a newer manifest")
  }

  static func laterKeySet(found: Int, trusted: Int) -> Self {
    Code.untrusted.error(
      "cannot trust the manifest: it is signed under key set \(found), and the newest trusted one is "
        + "\(trusted); fetch keys/\(trusted + 1).json first")
  }

  static func wrongKeySet(found: UInt64, expected: Int) -> Self {
    Code.untrusted.error(
      "cannot trust the key set: found number \(found), expected \(expected); key sets follow one by one"
    )
  }

  static func otherDataset(_ file: SignedFile, found: String, expected: String) -> Self {
    Code.otherDataset.error(
      "cannot use \(file.words): it is of the dataset '\(found)', expected '\(expected)'; check the "
        + "address")
  }

  // MARK: Keys

  static func badTrustedKeys(_ text: String) -> Self {
    Code.badKey.error(
      "cannot read the trusted keys '\(visible(text))': expected the number of a key set, a colon and "
        + "public keys in Base64 with commas between them; print them by 'kvdump signing-keys show'"
    )
  }

  static func badKeyFile(_ path: String) -> Self {
    Code.badKey.error(
      "cannot read the signing key '\(path)': expected an Ed25519 private key as PEM, PKCS #8, without "
        + "a password; make one by 'kvdump signing-keys new'")
  }

  static var notBuilt: Self {
    Code.unsupported.error(
      "cannot use datasets: the package 'lodestore' was built without the trait 'Datasets', which "
        + "brings libzstd and Ed25519; enable it where the package is named")
  }

  // MARK: Contents

  static func damagedFrame(_ index: Int, of count: Int, because reason: String) -> Self {
    Code.damaged.error(
      "cannot unpack frame \(index + 1) of \(count): \(reason); fetch the file again from this frame"
    )
  }

  static func damagedFrames(found: UInt64, expected: UInt64) -> Self {
    Code.damaged.error(
      "cannot unpack the generation: it ends behind \(found) of \(expected) bytes, or has more; fetch "
        + "the rest")
  }

  static func shortFile(_ path: String, found: UInt64, expected: UInt64) -> Self {
    Code.damaged.error(
      "cannot fetch '\(visible(path))': the server's file ends behind \(found) of \(expected) bytes; ask the "
        + "publisher whether it was uploaded whole")
  }

  static func damagedFile(_ file: String, because reason: String) -> Self {
    DatasetError(
      .damaged, "cannot use '\(file)': \(reason); fetch it again, and report it to the publisher")
  }

  static func damagedPatch(_ file: String, because reason: String) -> Self {
    DatasetError(
      .damaged, "cannot apply the patch '\(file)': \(reason); fetch the whole generation")
  }

  // MARK: Publishing

  static func otherPublisher(_ folder: String) -> Self {
    Code.busy.error(
      "cannot publish into '\(folder)': another process is publishing into it; wait until it ends, then "
        + "publish again")
  }

  static func notNewer(_ generation: UInt64, than newest: UInt64) -> Self {
    Code.notNewer.error(
      "cannot publish generation \(generation): the newest published one is \(newest); seal the store "
        + "with a generation from \(newest + 1)")
  }

  static func unlistedKey(_ key: PublicKey, in keys: TrustedKeys) -> Self {
    Code.badKey.error(
      "cannot sign by key \(key.shortID): expected \(keys.words); use that key, or add this one by "
        + "'kvdump signing-keys rotate'")
  }

  static func noKeys(_ folder: String) -> Self {
    Code.notFound.error(
      "cannot find keys in '\(folder)': it has no file keys/1.json; publish into it first, or check the "
        + "path")
  }

  static func noManifest(_ folder: String) -> Self {
    Code.notFound.error(
      "cannot find a dataset in '\(folder)': it has no file manifest.json; publish into it first, or "
        + "check the path")
  }

  static func changedFile(_ path: String) -> Self {
    Code.damaged.error(
      "cannot publish '\(path)': its bytes changed while they were compressed; publish a file that "
        + "nobody writes")
  }

  static func notSealed(_ path: String, because reason: String) -> Self {
    Code.notSealed.error(
      "cannot publish '\(path)': \(reason); publish a sealed file, which 'kvdump seal' makes")
  }

  static func unsound(_ path: String, _ problem: String) -> Self {
    Code.damaged.error(
      "cannot publish '\(path)': it breaks the format: \(problem); 'kvdump verify' lists everything that "
        + "is wrong")
  }

  static func unnamed(_ folder: String) -> Self {
    Code.malformed.error(
      "cannot publish into '\(folder)': it has no dataset yet, and no name was given; name the dataset"
    )
  }

  static func badName(_ name: String) -> Self {
    Code.malformed.error(
      "cannot publish the dataset '\(visible(name))': expected a name of at most 64 letters, digits, "
        + "'-', '_' and '.', beginning with a letter or a digit; seal the store with such a name")
  }

  static func badMirror(_ address: String) -> Self {
    Code.malformed.error(
      "cannot publish the mirror '\(visible(address))': expected an http or https address that ends "
        + "with '/'; correct it")
  }

  static func tooManyKeys(limit: Int) -> Self {
    DatasetError(
      .badKey, "cannot make the key set: expected 1 to \(limit) different keys; name fewer")
  }

  static func lastKeySet(_ number: Int) -> Self {
    Code.badKey.error(
      "cannot make a key set after \(number): a chain has at most \(KeySet.numberLimit); publish into a new "
        + "folder, and ship its keys with the next version of the program")
  }

  static func outOfRange(_ thing: String, _ value: UInt64, limit: UInt64) -> Self {
    Code.malformed.error(
      "cannot publish \(thing) \(value): expected at most \(limit); seal the store again")
  }

  static func tooLarge(_ path: String, length: UInt64, limit: Int) -> Self {
    Code.malformed.error(
      "cannot read '\(path)': it has \(length) bytes, expected at most \(limit); check the path")
  }

  // MARK: The system

  static func system(_ code: Int32, _ action: String, _ path: String) -> Self {
    let reason = String(cString: strerror(code))
    switch code {
    case ENOSPC, EDQUOT:
      return DatasetError(.diskFull, "cannot \(action) '\(path)': \(reason); make room on the disk")
    case ENOENT:
      return DatasetError(.notFound, "cannot \(action) '\(path)': \(reason); check the path")
    default:
      return Code.inputOutput.error(
        "cannot \(action) '\(path)': \(reason) (errno \(code)); check the path and its permissions")
    }
  }

  /// Returns text from outside, shortened to 64 characters, with a question mark for each character
  /// that is not printable ASCII.
  static func visible(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(64).map { scalar in
      (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?"
    }
    return String(scalars)
  }
}
