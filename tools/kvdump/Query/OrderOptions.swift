import ArgumentParser
import EntityStore

/// The order in which records are taken.
struct OrderOptions: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: .value(
      "The order: paths separated by commas, with a leading '-' for descending.",
      discussion:
        "[c] after a path ignores case, [d] accents, and [cd] both. A path may lead to a related "
        + "record, as in author.name, or end in an aggregate, as in books.@max.pages; an "
        + "expression of format strings is allowed too. Null is below every value. The default "
        + "order is by _id.",
      "-a,b.c[cd]"))
  var sort: [SortKeys] = []

  /// The terms, checked against `entity`.
  func terms(of entity: DynamicEntity, _ snapshot: DynamicSnapshot) throws -> [SortTerm] {
    try sort.flatMap { try $0.terms(of: entity, snapshot) }
  }
}
