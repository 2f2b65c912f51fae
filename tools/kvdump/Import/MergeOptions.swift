import ArgumentParser
import EntityStore

extension DynamicMergePolicy: ExpressibleByArgument {}

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
    help: .value(
      "The attributes by which records are matched; without it, those of the entity's only unique "
        + "index.", "a,b"))
  var unique: NameList?

  @Flag(help: "Insert every record without matching.") var insertOnly = false

  @Option(
    help: .value(
      "The treatment of stored records: upsert updates matching records and inserts the others; "
        + "replace-matching deletes matching records that differ, and inserts them with new ids; "
        + "mirror is upsert, and at the end deletes stored records that the files lack.", "how"))
  var strategy: ImportStrategy?

  @Flag(help: "Short for --strategy mirror.") var mirror = false

  @Flag(
    help: """
      Let a mirror delete records that the files lack even if records were rejected, which may have \
      been the same ones.
      """)
  var deleteDespiteRejects = false

  @Flag(help: "Let a mirror delete all records if the files have none; otherwise this is refused.")
  var mirrorEmpty = false

  @Option(
    help: .value(
      "The treatment of a record that already exists: replace all values, patch those that the new "
        + "record has, ignore the new record, or fail (reject it).", "mode"))
  var onConflict: DynamicMergePolicy?

  /// Whether any of the options is given.
  var isGiven: Bool {
    unique != nil || insertOnly || strategy != nil || mirror || onConflict != nil
  }

  func validate() throws {
    if mirror, let strategy, strategy != .mirror {
      throw ValidationError("--mirror: not together with --strategy \(strategy.argument)")
    }
    try refuse(
      if: insertOnly && unique != nil,
      "--insert-only: not together with --unique, which matches records")
    try refuse(
      if: insertOnly && chosen != .upsert,
      "--insert-only: not together with \(chosen.argument), which has to match records")
    if chosen == .replaceMatching, let onConflict, onConflict != .replace {
      throw ValidationError(
        "--on-conflict: not \(onConflict.rawValue) together with replace-matching, which replaces")
    }
    try refuse(
      if: deleteDespiteRejects && chosen != .mirror,
      "--delete-despite-rejects: only with --mirror, which deletes")
    try refuse(
      if: mirrorEmpty && chosen != .mirror, "--mirror-empty: only with --mirror, which deletes")
  }

  var chosen: ImportStrategy { mirror ? .mirror : strategy ?? .upsert }
  var conflict: DynamicMergePolicy { onConflict ?? .replace }
}
