internal import EntityStore
internal import Foundation
internal import LodestoreJSON
internal import LodestoreWeb

extension DatasetError.Code {
  /// The origin gave no usable answer: no connection, a timeout, or an error status.
  public static let network = Self("network")
  /// The publisher offers a lower generation than one that the cache has held.
  public static let rolledBack = Self("rolledBack")
  /// The seal of a generation's file states another generation number, or a mirror offers other
  /// bytes under a number that the cache already knows.
  public static let mixedGenerations = Self("mixedGenerations")
  /// The dataset has no generation yet.
  public static let nothingHere = Self("nothingHere")
  /// The data is older than the program allows.
  public static let tooOld = Self("tooOld")
  /// A refresh was not tried, because the waiting time after earlier failures is not over yet.
  public static let waiting = Self("waiting")
  /// The program's entities do not fit the schema of a generation.
  public static let incompatibleSchema = Self("incompatibleSchema")
  /// The store of a generation cannot be opened, or is not a sound store.
  public static let unusableStore = Self("unusableStore")
  /// The importer of a service failed.
  public static let importFailed = Self("importFailed")
  /// The dataset has no origin to refresh from.
  public static let noOrigin = Self("noOrigin")
  /// The folder cannot be used: it belongs to another dataset, or to a later version of the
  /// library.
  public static let unsuitableFolder = Self("unsuitableFolder")
}

extension DatasetError {
  /// The side at fault, so that a program can say whom to ask.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Side: String, Sendable {
    /// The network or a server is at fault. A later attempt may succeed.
    case network
    /// The publisher or the service is at fault: its offer cannot be used.
    case publisher
    /// A signature or a key is at fault.
    case signature
    /// A file is at fault: its bytes are not the expected ones.
    case file
    /// This program or machine is at fault: its folder, its disk, its entities, or its request.
    case program
  }

  /// The side at fault.
  public var side: Side {
    switch code {
    case .network, .waiting: .network
    case .untrusted, .badKey: .signature
    case .damaged, .mixedGenerations, .unusableStore, .notSealed: .file
    case .malformed, .newerFormat, .otherDataset, .rolledBack, .notNewer, .importFailed: .publisher
    default: .program
    }
  }
}

// Messages about caches: cannot + verb + thing: the fact found; the next step.

extension DatasetError {
  static func nothingHere(_ name: String, _ reason: String) -> Self {
    Code.nothingHere.error(
      "cannot read the dataset '\(visible(name))': no generation is here\(reason); refresh it, install a "
        + "file, or bundle a seed")
  }

  static func tooOld(_ name: String, _ age: DatasetAge, limit: Duration, at date: Date) -> Self {
    Code.tooOld.error(
      "cannot use the dataset '\(visible(name))': \(age.words(at: date)), and the program refuses data "
        + "older than \(limit); refresh it, or allow an older age by refusesOlder(than:)")
  }

  static func badCacheName(_ name: String) -> Self {
    Code.unsuitableFolder.error(
      "cannot keep a dataset with the name '\(visible(name))': expected 1 to 64 letters, digits, '-', '_' and "
        + "'.', the first a letter or a digit; use another name")
  }

  static func otherFolder(_ path: String, found: String, expected: String) -> Self {
    Code.unsuitableFolder.error(
      "cannot use the folder '\(path)': it keeps the dataset '\(visible(found))', expected "
        + "'\(visible(expected))'; use another folder")
  }

  static func newerState(_ path: String) -> Self {
    Code.unsuitableFolder.error(
      "cannot read '\(path)': a newer version of the library has written it; update the program")
  }

  static func waiting(_ name: String, until date: Date, after failure: String?) -> Self {
    let reason = failure.map { " after '\($0)'" } ?? ""
    return Code.waiting.error(
      "cannot refresh the dataset '\(visible(name))' before \(ISO8601Text.text(date) ?? "later")"
        + "\(reason); wait, or refresh at once with 'now'")
  }

  static func busy(_ name: String, for limit: Duration) -> Self {
    Code.busy.error(
      "cannot refresh the dataset '\(visible(name))': another process refreshes it, longer than \(limit); "
        + "wait for it, or end it")
  }

  static func interrupted(_ name: String) -> Self {
    Code.busy.error(
      "cannot go on with the refresh of the dataset '\(visible(name))': a file is being installed; refresh "
        + "again")
  }

  static func noOrigin(_ name: String) -> Self {
    Code.noOrigin.error(
      "cannot refresh the dataset '\(visible(name))': it has no origin; give it one, or install a file"
    )
  }

  static func rolledBack(offered: UInt64, highest: UInt64, place: String) -> Self {
    Code.rolledBack.error(
      "cannot take generation \(offered) of '\(place)': generation \(highest) was here already; ask the "
        + "publisher whether the server has old files")
  }

  static func rewritten(_ generation: UInt64, place: String) -> Self {
    Code.mixedGenerations.error(
      "cannot take generation \(generation) of '\(place)': its digest is another than that of the "
        + "generation \(generation) that is here; ask the publisher for a new number")
  }

  static func otherSeal(_ code: Code, _ path: String, found: String, expected: String) -> Self {
    DatasetError(
      code,
      "cannot use '\(path)': its seal says \(visible(found)), expected \(visible(expected)); use the file that "
        + "belongs here")
  }

  static func notSealed(_ path: String) -> Self {
    DatasetError(
      .notSealed, "cannot use '\(path)': it is no sealed file; seal a store by 'kvdump seal'")
  }

  static func unsignedFile(_ path: String, missing name: String) -> Self {
    Code.untrusted.error(
      "cannot install '\(path)': the publisher's '\(name)' is not in its folder; put it there, or install "
        + "the file without a signature")
  }

  static func notNewerFile(_ generation: UInt64, highest: UInt64) -> Self {
    Code.notNewer.error(
      "cannot install generation \(generation): generation \(highest) was here already; use a file of a "
        + "newer generation")
  }

  static func refused(_ generation: UInt64, place: String) -> Self {
    Code.unusableStore.error(
      "cannot take generation \(generation) of '\(place)': its file was fetched before and is no sound "
        + "store; ask the publisher for a new generation")
  }

  static func unfit(_ generation: UInt64, place: String) -> Self {
    Code.incompatibleSchema.error(
      "cannot use generation \(generation) of '\(place)' with this program: it has the schema that the program's "
        + "entities did not fit before; update the program")
  }

  static func newerStore(_ manifest: DatasetManifest, place: String) -> Self {
    Code.incompatibleSchema.error(
      "cannot use generation \(manifest.generation) of '\(place)' with this program: its file needs version "
        + "\(manifest.formatVersion) of the format; update the program")
  }

  static func missingSeed(_ path: String) -> Self {
    DatasetError(.notFound, "cannot use the seed '\(path)': no file is there; check the path")
  }

  static func missingGeneration(_ path: String) -> Self {
    DatasetError(
      .notFound, "cannot use '\(path)': the file is gone; refresh the dataset to fetch it again")
  }

  /// The error of a store that cannot be opened.
  ///
  /// The file is at fault only if its bytes are damaged. Too many open files, too little memory or
  /// an unsuitable path show nothing about the file.
  static func unusable(_ path: String, _ error: StoreError) -> Self {
    switch error.code {
    case .incompatibleSchema, .newerFormat, .unknownEntity:
      Code.incompatibleSchema.error(
        "cannot use '\(path)' with this program: \(error.message); update the program", cause: error
      )
    case .damaged, .notAStore, .notSealed:
      DatasetError(
        .unusableStore, "cannot use '\(path)': \(error.message); fetch or install it again",
        cause: error)
    default:
      DatasetError(
        error.code == .diskFull ? .diskFull : .inputOutput,
        "cannot open '\(path)': \(error.message); try again", cause: error)
    }
  }

  static func unsealable(_ error: StoreError) -> Self {
    DatasetError(
      error.code == .diskFull ? .diskFull : error.code == .damaged ? .damaged : .inputOutput,
      "cannot seal what the import brought: \(error.message); "
        + (error.code == .diskFull ? "make room, and refresh again" : "refresh again"), cause: error
    )
  }

  /// The error of a request.
  ///
  /// A file longer than the signed length cannot be the signed file, so it counts as damaged.
  static func network(_ error: WebSourceError) -> Self {
    DatasetError(error.code == .pageTooLarge ? .damaged : .network, error.message, cause: error)
  }

  static func noManifestAnswer(_ place: String) -> Self {
    Code.network.error(
      "cannot read the manifest of '\(place)': the answer is another document, such as the page of a network "
        + "that wants a login; open a page in a browser, and check the address")
  }

  static func notYetFresh(_ name: String, after limit: Duration) -> Self {
    Code.network.error(
      "cannot refresh the dataset '\(visible(name))' within \(limit): it goes on in the background; read "
        + "again later")
  }

  static func slow(_ place: String, _ bytes: Int) -> Self {
    Code.network.error(
      "cannot fetch from '\(place)': it sends too slowly, \(bytes) bytes so far; try again later, or add a "
        + "mirror")
  }

  static func importFailed(_ error: any Error) -> Self {
    switch error {
    case let error as WebSourceError: network(error)
    case let error as DatasetError: error
    case let error as StoreError where error.code == .diskFull:
      DatasetError(
        .diskFull, "cannot keep what the service sends: \(error.message); make room on the disk",
        cause: error)
    default:
      DatasetError(
        .importFailed, "cannot refresh from the service: \(error); look at the importer",
        cause: error)
    }
  }
}
