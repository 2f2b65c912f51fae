import EntityStore
import LMDB
import LodestoreSystem

/// The catalogue of failures. Each message is "thing: reason; next step".
extension CommandFailure {
  static func unknownCommand(_ name: String, known: [String]) -> Self {
    .unknownName(
      name, code: "no-such-command", detail: "command", known: known,
      sentence: "\(quoted(name)): no such command", listedBy: "kvdump help")
  }

  static func noSuchEntity(_ name: String, in store: String, known: [String]) -> Self {
    .unknownName(
      name, code: "no-such-entity", detail: "entity", known: known,
      sentence: "\(store): has no entity \(quoted(name))",
      listedBy: "kvdump schema \(ShellWord.path(store))")
  }

  /// - Parameter known: further names that may be meant.
  static func noSuchAttribute(
    _ name: String, of entity: DynamicEntity, in store: String, known: [String] = []
  ) -> Self {
    .unknownName(
      name, code: "no-such-attribute", detail: "attribute",
      known: entity.description.declaredAttributes.map(\.name) + known,
      meant: entity.description.attribute(filledFrom: name)?.name,
      sentence: "\(store): \(entity.name) has no attribute \(quoted(name))",
      listedBy: "kvdump schema \(ShellWord.path(store)) \(ShellWord.quoted(entity.name))")
  }

  static func noSuchRelationship(
    _ name: String, of entity: String, in store: String, known: [String]
  ) -> Self {
    .unknownName(
      name, code: "no-such-relationship", detail: "relationship", known: known,
      sentence: "\(store): \(entity) has no relationship \(quoted(name))",
      listedBy: "kvdump schema \(ShellWord.path(store)) \(ShellWord.quoted(entity))")
  }

  static func noSuchIndex(
    _ name: String, of entity: String, in store: String, known: [String]
  ) -> Self {
    .unknownName(
      name, code: "no-such-index", detail: "index", known: known,
      sentence: "\(store): \(entity) has no index \(quoted(name))",
      listedBy: "kvdump schema \(ShellWord.path(store)) \(ShellWord.quoted(entity))")
  }

  static func noSuchTree(_ name: String, in store: String, known: [String]) -> Self {
    .unknownName(
      name, code: "no-such-tree", detail: "tree", known: known,
      sentence: "\(store): has no tree \(quoted(name))",
      listedBy: "kvdump keys \(ShellWord.path(store))")
  }

  static func noStore(at path: String) -> Self {
    CommandFailure(
      code: "no-store", message: "\(path): no store there; check the path", status: .noInput,
      details: [Detail(name: "store", value: .text(path))])
  }

  static func notAStore(_ path: String, reason: String) -> Self {
    CommandFailure(
      code: "not-a-store",
      message: "\(path): not a store, \(reason); check the path, or restore the file from a copy",
      status: .damagedData, details: [Detail(name: "store", value: .text(path))])
  }

  static func otherEngine(_ path: String, _ format: PageFormat) -> Self {
    CommandFailure(
      code: "other-engine",
      message:
        "\(path): \(format.engine) made the file, and this kvdump runs \(PageFormat.engineVersion), which "
        + "cannot write it; 'kvdump convert \(ShellWord.path(path))' makes it a file of this LMDB",
      status: .damagedData, details: [Detail(name: "store", value: .text(path))])
  }

  static func damaged(_ path: String, reason: String) -> Self {
    CommandFailure(
      code: "damaged",
      message:
        "\(path): \(reason); 'kvdump verify \(ShellWord.path(path))' lists everything that is wrong",
      status: .damagedData, details: [Detail(name: "store", value: .text(path))])
  }

  static func outputExists(_ path: String) -> Self {
    CommandFailure(
      code: "output-exists", message: "\(path): is there already; name a path that is free",
      status: .cannotCreate, details: [Detail(name: "path", value: .text(path))])
  }

  /// As ``outputExists(_:)``, for a command that can replace it.
  static func fileExists(_ path: String) -> Self {
    CommandFailure(
      code: "output-exists", message: "\(path): is there already; --force replaces it",
      status: .cannotCreate, details: [Detail(name: "path", value: .text(path))])
  }

  static func badArgument(_ argument: String, reason: String, nextStep: String) -> Self {
    CommandFailure(
      code: "bad-argument", message: "\(quoted(argument)): \(reason); \(nextStep)", status: .usage,
      details: [Detail(name: "argument", value: .text(argument))])
  }

  /// A wrong use that the argument parser found; `reason` is its sentence.
  static func wrongUse(_ reason: String, command: String?) -> Self {
    let page = ["kvdump", command, "--help"].compactMap { $0 }.joined(separator: " ")
    // The parser ends its sentences with a full stop and now and then adds a second line.
    var oneLine = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    oneLine.replace(". Did you mean", with: "; did you mean")
    while oneLine.last == "." { oneLine.removeLast() }
    oneLine = oneLine.prefix(1).lowercased() + oneLine.dropFirst()
    // A "did you mean" of the parser is a next step already.
    let joint = oneLine.last == "?" ? "" : ";"
    return CommandFailure(
      code: "usage", message: "\(oneLine)\(joint) see '\(page)'", status: .usage)
  }

  /// A system call on `thing` failed with `errno` value `code`.
  package static func system(
    _ code: Int32, thing: String, creating: Bool = false, nextStep: String? = nil
  ) -> Self {
    let reason = String(cString: strerror(code))
    let thing = thing.isEmpty ? "an empty path" : thing
    let status = ExitStatus(errno: code, creating: creating)
    return CommandFailure(
      code: "system",
      message: "\(thing): \(reason); \(nextStep ?? defaultStep(after: code))", status: status,
      details: [
        Detail(name: "thing", value: .text(thing)),
        Detail(name: "errno", value: .integer(Int64(code))),
      ])
  }

  static let outputClosed = CommandFailure(
    code: "output-closed", message: "standard output: closed by its reader; nothing to do",
    status: .brokenPipe)

  /// An error of a type that no command translates.
  static func unexpected(_ error: any Error) -> Self {
    CommandFailure(
      code: "unexpected", message: "unexpected failure: \(error); please report it",
      status: .inputOutput)
  }

  /// `reason` is a clause about the record's bytes.
  static func damagedRecord(_ entity: String, _ id: UInt64, reason: String) -> Self {
    CommandFailure(
      code: "damaged",
      message: "\(entity) \(id): \(reason); 'kvdump verify' lists everything that is wrong",
      status: .damagedData,
      details: [
        Detail(name: "entity", value: .text(entity)), Detail(name: "_id", value: .unsigned(id)),
      ])
  }

  static func damagedIndex(_ index: String, _ reason: String) -> Self {
    CommandFailure(
      code: "damaged",
      message: "index '\(index)': \(reason); 'kvdump verify' lists everything that is wrong",
      status: .damagedData, details: [Detail(name: "index", value: .text(index))])
  }

  /// `key` is hexadecimal.
  static func damagedPair(of tree: String, key: String, reason: String) -> Self {
    CommandFailure(
      code: "damaged",
      message: "\(tree) \(key): \(reason); 'kvdump verify' lists everything that is wrong",
      status: .damagedData, details: [Detail(name: "tree", value: .text(tree))])
  }

  /// A fault that the verifier has found in a copy, and so is in the store.
  static func damagedCopy(reason: String) -> Self {
    CommandFailure(
      code: "damaged",
      message: "\(reason); 'kvdump verify' lists everything that is wrong", status: .damagedData)
  }

  /// The same failure of a copy that was not made.
  var withoutCopy: Self {
    var failure = self
    failure.message += "; no copy was made"
    return failure
  }

  /// The same failure of a command that had other files give way before.
  func afterReplacing(_ paths: [String]) -> Self {
    var failure = self
    let names = paths.joined(separator: ", ")
    let (verb, pronoun) = paths.count == 1 ? ("was", "it") : ("were", "them")
    failure.message += "; \(names) \(verb) replaced before; write \(pronoun) again"
    return failure
  }

  static func indexOfNothing(_ index: String, _ entity: String, _ id: UInt64) -> Self {
    CommandFailure(
      code: "damaged",
      message: "index '\(index)': leads to \(entity) \(id), which is not there; "
        + "'kvdump verify' lists everything that is wrong", status: .damagedData)
  }

  /// `text` was typed as the value of `attribute`, whose type takes `expectation`.
  ///
  /// A value may be long: its beginning says which it is.
  static func badValue(_ text: String, of attribute: String, expectation: String) -> Self {
    badArgument(
      text.utf8.count > 64 ? String(text.prefix(60)) + "…" : text,
      reason: "'\(attribute)' takes \(expectation)", nextStep: "write the value so")
  }

  private static func quoted(_ name: String) -> String { "\"\(name)\"" }

  private static func unknownName(
    _ name: String, code: String, detail: String, known: [String], meant: String? = nil,
    sentence: String, listedBy command: String
  ) -> Self {
    var details = [Detail(name: detail, value: .text(name))]
    var hint = ""
    if let nearest = meant ?? NearestName.of(name, among: known) {
      details.append(Detail(name: "didYouMean", value: .text(nearest)))
      hint = "did you mean \(quoted(nearest))? "
    }
    return CommandFailure(
      code: code, message: "\(sentence); \(hint)see '\(command)'", status: .usage, details: details)
  }

  private static func defaultStep(after code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "make room on the disk and try again"
    case EACCES, EPERM, EROFS: "check the permissions"
    case ENOENT, ENOTDIR: "check the path"
    case EAGAIN, EBUSY, ETXTBSY: "try again later"
    case EMFILE: "close some files of this process, or raise its limit, as with 'ulimit -n 256'"
    case ENFILE: "close some files on this machine"
    case ENOMEM:
      "free memory, or raise the limit of the address space, as with 'ulimit -v unlimited'"
    case ELOOP: "it is a symbolic link; give the path of the file that it leads to"
    default: "check the disk and the path"
    }
  }
}
