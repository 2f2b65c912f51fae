import ArgumentParser
import EntityStore

extension JSONConflict: ExpressibleByArgument {}

/// The values of `--strategy`.
extension ImportStrategy: ExpressibleByArgument {
  /// The strategies as arguments.
  public static var allValueStrings: [String] { allCases.map(\.argument) }

  var argument: String { self == .replaceMatching ? "replace-matching" : rawValue }

  /// The strategy of an argument.
  public init?(argument: String) {
    guard let strategy = Self.allCases.first(where: { $0.argument == argument }) else { return nil }
    self = strategy
  }
}

/// Options of `import` about stored records.
struct MergeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The attributes that records are matched by; without it, those of the entity's one unique "
        + "index.", valueName: "a,b"))
  var unique: NameList?

  @Flag(help: "Insert every record, matching none.")
  var insertOnly = false

  @Option(
    help: ArgumentHelp(
      "What becomes of stored records: upsert changes those that come and inserts the others; "
        + "replace-matching deletes those that come and differ, and inserts them with new ids; "
        + "mirror is upsert, and deletes at the end what did not come.", valueName: "how"))
  var strategy: ImportStrategy?

  @Flag(help: "Short for --strategy mirror.")
  var mirror = false

  @Flag(
    help: """
      A mirror deletes what did not come although records were rejected, which may have been just \
      those.
      """)
  var deleteDespiteRejects = false

  @Flag(help: "A mirror deletes all records when the files have none, which is refused without it.")
  var mirrorEmpty = false

  @Option(
    help: ArgumentHelp(
      "What to do about a record that is there already: replace all values, patch those that it "
        + "has, ignore or fail (reject) it.", valueName: "mode"))
  var onConflict: JSONConflict?

  func validate() throws {
    if mirror, let strategy, strategy != .mirror {
      throw ValidationError("--mirror: not together with --strategy \(strategy.argument)")
    }
    if insertOnly, unique != nil {
      throw ValidationError("--insert-only: not together with --unique, which matches records")
    }
    if insertOnly, chosen != .upsert {
      throw ValidationError(
        "--insert-only: not together with \(chosen.argument), which has to match records")
    }
    if chosen == .replaceMatching, let onConflict, onConflict != .replace {
      throw ValidationError(
        "--on-conflict: not \(onConflict.rawValue) together with replace-matching, which replaces")
    }
    if deleteDespiteRejects, chosen != .mirror {
      throw ValidationError("--delete-despite-rejects: only with --mirror, which deletes")
    }
    if mirrorEmpty, chosen != .mirror {
      throw ValidationError("--mirror-empty: only with --mirror, which deletes")
    }
  }

  var chosen: ImportStrategy { mirror ? .mirror : strategy ?? .upsert }
  var conflict: JSONConflict { onConflict ?? .replace }
}
