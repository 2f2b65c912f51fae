#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Every message about published files and keys, one function each. Wording: cannot + verb + thing: the
// fact found and the fact expected; the next step.

extension DatasetError {
  // MARK: Signed documents

  static func malformed(_ file: SignedFile, at path: String, found: String, expected: String)
    -> Self
  {
    let place = path.isEmpty ? "" : " at '\(path)'"
    return DatasetError(
      .malformed,
      "cannot read \(file.words): found \(found)\(place), expected \(expected); report it to the "
        + "publisher")
  }

  static func newerFormat(_ file: SignedFile, version: UInt64, known: UInt64) -> Self {
    DatasetError(
      .newerFormat,
      "cannot read \(file.words): it has version \(version), and this library knows versions up to "
        + "\(known); update the program")
  }

  static func unsigned(_ file: SignedFile, by trusted: String) -> Self {
    DatasetError(
      .untrusted,
      "cannot trust \(file.words): no signature is made by \(trusted); check the key, and that the "
        + "address is the publisher's")
  }

  static func wrongSignature(_ file: SignedFile, key: PublicKey) -> Self {
    DatasetError(
      .untrusted,
      "cannot trust \(file.words): the signature of key \(key.shortID) does not fit its bytes; fetch the "
        + "file again, and report it to the publisher")
  }

  static func replacedKeySet(found: Int, trusted: Int) -> Self {
    DatasetError(
      .untrusted,
      "cannot trust the manifest: it is signed under key set \(found), which key set \(trusted) has "
        + "replaced; use a newer manifest")
  }

  static func laterKeySet(found: Int, trusted: Int) -> Self {
    DatasetError(
      .untrusted,
      "cannot trust the manifest: it is signed under key set \(found), and the newest trusted one is "
        + "\(trusted); fetch keys/\(trusted + 1).json first")
  }

  static func wrongKeySet(found: UInt64, expected: Int) -> Self {
    DatasetError(
      .untrusted,
      "cannot trust the key set: found number \(found), expected \(expected); key sets follow one by one"
    )
  }

  static func otherDataset(_ file: SignedFile, found: String, expected: String) -> Self {
    DatasetError(
      .otherDataset,
      "cannot use \(file.words): it is of the dataset '\(found)', expected '\(expected)'; check the "
        + "address")
  }

  // MARK: Keys

  static func badTrustedKeys(_ text: String) -> Self {
    DatasetError(
      .badKey,
      "cannot read the trusted keys '\(visible(text))': expected the number of a key set, a colon and "
        + "public keys in Base64 with commas between them; print them by 'kvdump signing-keys show'"
    )
  }

  static func badKeyFile(_ path: String) -> Self {
    DatasetError(
      .badKey,
      "cannot read the signing key '\(path)': expected an Ed25519 private key as PEM, PKCS #8, without "
        + "a password; make one by 'kvdump signing-keys new'")
  }

  static var notBuilt: Self {
    DatasetError(
      .unsupported,
      "cannot use datasets: the package 'lodestore' was built without the trait 'Datasets', which "
        + "brings libzstd and Ed25519; enable it where the package is named")
  }

  // MARK: Contents

  static func damagedFrame(_ index: Int, of count: Int, because reason: String) -> Self {
    DatasetError(
      .damaged,
      "cannot unpack frame \(index + 1) of \(count): \(reason); fetch the file again from this frame"
    )
  }

  static func damagedFrames(found: UInt64, expected: UInt64) -> Self {
    DatasetError(
      .damaged,
      "cannot unpack the generation: it ends behind \(found) of \(expected) bytes, or has more; fetch "
        + "the rest")
  }

  static func damagedFile(_ file: String, because reason: String) -> Self {
    DatasetError(
      .damaged, "cannot use '\(file)': \(reason); fetch it again, and report it to the publisher")
  }

  static func damagedPatch(_ file: String, because reason: String) -> Self {
    DatasetError(
      .damaged, "cannot apply the patch '\(file)': \(reason); fetch the whole generation")
  }

  // MARK: The system

  static func system(_ code: Int32, _ action: String, _ path: String) -> Self {
    let reason = String(cString: strerror(code))
    switch code {
    case ENOSPC, EDQUOT:
      return DatasetError(
        .diskFull, "cannot \(action) '\(path)': \(reason); make room on the disk")
    case ENOENT:
      return DatasetError(.notFound, "cannot \(action) '\(path)': \(reason); check the path")
    default:
      return DatasetError(
        .inputOutput,
        "cannot \(action) '\(path)': \(reason) (errno \(code)); check the path and its "
          + "permissions")
    }
  }

  /// Returns text from outside, cut at 64 characters, with a question mark for each character that is
  /// not printable ASCII.
  static func visible(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(64).map { scalar in
      (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?"
    }
    return String(scalars)
  }
}
