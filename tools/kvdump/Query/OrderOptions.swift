import ArgumentParser
import EntityStore

/// The order in which records are taken.
struct OrderOptions: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The order: paths with commas between them, '-' in front for descending.",
      discussion:
        "[c] behind a path compares without case, [d] without accents, [cd] without both. "
        + "Null is below every value. Without --sort, by _id.",
      valueName: "-a,b.c[cd]"))
  var sort: [SortKeys] = []

  /// The terms, checked against `entity`.
  func terms(of entity: DynamicEntity, in store: String) throws -> [SortTerm] {
    try sort.flatMap { try $0.terms(of: entity, in: store) }
  }
}
