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
        + "A path may lead to a related record, as author.name, or end in one value of many, as "
        + "books.@max.pages; an expression of format strings orders too. "
        + "Null is below every value. Without --sort, by _id.",
      valueName: "-a,b.c[cd]"))
  var sort: [SortKeys] = []

  /// The terms, checked against `entity`.
  func terms(of entity: DynamicEntity, _ snapshot: DynamicSnapshot) throws -> [SortTerm] {
    try sort.flatMap { try $0.terms(of: entity, snapshot) }
  }
}
