import EntityStore
import LMDB
import LodestoreSystem

/// The catalogue of failures. Each message is "thing: reason; next step".
extension CommandFailure {
  static func unknownCommand(_ name: String, known: [String]) -> Self {
    .unknownName(
      name, code: "no-such-command", detail: "command", known: known,
      sentence: "\(quoted(name)): no such command", step: "see 'kvdump help'")
  }

  static func unknown(_ unknown: UnknownName, in store: String) -> Self {
    let owner = unknown.entity.map { "\($0) " } ?? ""
    let words =
      [unknown.kind == .tree ? "keys" : "schema", ShellWord.path(store)]
      + (unknown.entity.map { [ShellWord.quoted($0)] } ?? [])
    return .unknownName(
      unknown.name, code: "no-such-\(unknown.kind)", detail: unknown.kind.rawValue,
      known: unknown.known, meant: unknown.meant,
      sentence: "\(store): \(owner)has no \(unknown.kind) \(quoted(unknown.name))",
      step: "see 'kvdump \(words.joined(separator: " "))'")
  }

  /// A failure about the whole store at `path`.
  static func about(
    store path: String, code: String, _ reason: String, status: ExitStatus,
    details: [Detail] = []
  ) -> Self {
    CommandFailure(
      code: code, message: "\(path): \(reason)", status: status,
      details: [.text("store", path)] + details)
  }

  static func noStore(at path: String) -> Self {
    .about(store: path, code: "no-store", "no store there; check the path", status: .noInput)
  }

  static func notAStore(_ path: String, reason: String) -> Self {
    .about(
      store: path, code: "not-a-store",
      "not a store, \(reason); check the path, or restore the file from a copy",
      status: .damagedData)
  }

  static func otherEngine(_ path: String, _ format: PageFormat) -> Self {
    .about(
      store: path, code: "other-engine",
      "\(format.engine) made the file, and this kvdump runs \(PageFormat.engineVersion), which "
        + "cannot write it; 'kvdump convert \(ShellWord.path(path))' makes it a file of this LMDB",
      status: .damagedData)
  }

  static func damaged(_ path: String, reason: String) -> Self {
    .about(
      store: path, code: "damaged",
      "\(reason); 'kvdump verify \(ShellWord.path(path))' lists everything that is wrong",
      status: .damagedData)
  }

  /// - Parameter nextStep: The next step, for commands that can replace the file.
  static func outputExists(_ path: String, nextStep: String = "name a free path") -> Self {
    CommandFailure(
      code: "output-exists", message: "\(path): already exists; \(nextStep)",
      status: .cannotCreate, details: [.text("path", path)])
  }

  static func fileExists(_ path: String) -> Self {
    .outputExists(path, nextStep: "--force replaces it")
  }

  static func badArgument(_ argument: String, reason: String, nextStep: String) -> Self {
    CommandFailure(
      code: "bad-argument", message: "\(quoted(argument)): \(reason); \(nextStep)", status: .usage,
      details: [.text("argument", argument)])
  }

  /// A usage error found by the argument parser.
  ///
  /// `reason` is the parser's sentence.
  static func wrongUse(_ reason: String, command: String?) -> Self {
    let page = ["kvdump", command, "--help"].compactMap { $0 }.joined(separator: " ")
    // The parser ends its sentences with a full stop and may add a second line.
    var oneLine = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    oneLine.replace(". Did you mean", with: "; did you mean")
    while oneLine.last == "." { oneLine.removeLast() }
    oneLine = oneLine.prefix(1).lowercased() + oneLine.dropFirst()
    // "Did you mean" is already a next step.
    let joint = oneLine.last == "?" ? "" : ";"
    return CommandFailure(
      code: "usage", message: "\(oneLine)\(joint) see '\(page)'", status: .usage)
  }

  /// A system call on `thing` failed with the `errno` value `code`.
  package static func system(
    _ code: Int32, thing: String, creating: Bool = false, nextStep: String? = nil
  ) -> Self {
    let reason = String(cString: strerror(code))
    let thing = thing.isEmpty ? "an empty path" : thing
    let status = ExitStatus(errno: code, creating: creating)
    return CommandFailure(
      code: "system",
      message: "\(thing): \(reason); \(nextStep ?? defaultStep(after: code))", status: status,
      details: [.text("thing", thing), Detail(name: "errno", value: .integer(Int64(code)))])
  }

  static let outputClosed = CommandFailure(
    code: "output-closed", message: "standard output: closed by its reader; nothing to do",
    status: .brokenPipe)

  /// The failure for an error that no command translates.
  static func unexpected(_ error: any Error) -> Self {
    CommandFailure(
      code: "unexpected", message: "unexpected failure: \(error); please report it",
      status: .inputOutput)
  }

  /// The failure for a damaged record.
  ///
  /// `reason` is a clause about the record's bytes.
  static func damagedRecord(_ entity: String, _ id: UInt64, reason: String) -> Self {
    .damagedContent(
      "\(entity) \(id): \(reason)",
      [.text("entity", entity), Detail(name: "_id", value: .unsigned(id))])
  }

  static func damagedIndex(_ index: String, _ reason: String) -> Self {
    .damagedContent("index '\(index)': \(reason)", [.text("index", index)])
  }

  static func danglingIndexEntry(_ index: String, _ entity: String, _ id: UInt64) -> Self {
    .damagedContent("index '\(index)': leads to \(entity) \(id), which is not there")
  }

  /// The failure for a damaged pair.
  ///
  /// `key` is hexadecimal.
  static func damagedPair(of tree: String, key: String, reason: String) -> Self {
    .damagedContent("\(tree) \(key): \(reason)", [.text("tree", tree)])
  }

  /// A fault in the content of a store or of its copy.
  static func damagedContent(_ reason: String, _ details: [Detail] = []) -> Self {
    CommandFailure(
      code: "damaged", message: "\(reason); 'kvdump verify' lists everything that is wrong",
      status: .damagedData, details: details)
  }

  /// This failure, with the addition that no copy was made.
  var withoutCopy: Self {
    var failure = self
    failure.message += "; no copy was made"
    return failure
  }

  /// This failure, with the addition that other files were replaced before it.
  func afterReplacing(_ paths: [String]) -> Self {
    var failure = self
    let names = paths.joined(separator: ", ")
    let (verb, pronoun) = paths.count == 1 ? ("was", "it") : ("were", "them")
    failure.message += "; \(names) \(verb) replaced before; write \(pronoun) again"
    return failure
  }

  /// The failure for `text`, typed as a value of `attribute`, whose type requires `expectation`.
  ///
  /// Only the beginning of a long text is shown.
  static func badValue(_ text: String, of attribute: String, expectation: String) -> Self {
    badArgument(
      text.utf8.count > 64 ? String(text.prefix(60)) + "…" : text,
      reason: "'\(attribute)' takes \(expectation)", nextStep: "write the value so")
  }

  private static func quoted(_ name: String) -> String { "\"\(name)\"" }

  /// The failure for a name that is not among `known`: `sentence`, a suggestion and the next step.
  static func unknownName(
    _ name: String, code: String, detail: String, known: [String], meant: String? = nil,
    sentence: String, step: String
  ) -> Self {
    let nearest = meant ?? NearestName.of(name, among: known)
    let hint = nearest.map { "did you mean \(quoted($0))? " } ?? ""
    return CommandFailure(
      code: code, message: "\(sentence); \(hint)\(step)", status: .usage,
      details: [.text(detail, name)] + (nearest.map { [.text("didYouMean", $0)] } ?? []))
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
