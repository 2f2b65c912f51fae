import Foundation
import Testing

@testable import EntityStore

/// Conditions that cannot be evaluated are refused before a record is read, with the position of
/// the fault.
@Suite struct BindErrorTests {
  struct Refusal: CustomTestStringConvertible, Sendable {
    let format: String
    let parts: [String]

    init(_ format: String, _ parts: String...) {
      self.format = format
      self.parts = parts
    }

    var testDescription: String { format }
  }

  static let refusals = [
    Refusal(
      "shares == 1", "'shares' is no attribute of Trial", "did you mean 'share'?",
      "line 1, column 1"),
    Refusal(
      "share == 1 AND\n  nmae == 'x'", "'nmae' is no attribute", "'name'", "line 2, column 3"),
    Refusal("zzzzzzzz == 1", "'zzzzzzzz' is no attribute", "number, share, kind"),
    Refusal("name.first == 'x'", "'name' is stored as", "has nothing inside", "line 1, column 1"),
    Refusal("share == 'x'", "'share' is stored as", "a string", "line 1, column 1"),
    Refusal("name > 3", "'name' is stored as", "an integer"),
    Refusal("name BETWEEN { 1, 2 }", "'name' is stored as", "an integer"),
    Refusal("share IN { 1, 'x' }", "'share' is stored as", "a string"),
    Refusal("share BEGINSWITH 'x'", "'share' is stored as", "BEGINSWITH"),
    Refusal("share LIKE 'x'", "'share' is stored as", "LIKE"),
    Refusal("name MATCHES '('", "the pattern in 'name MATCHES \"(\"' is refused"),
    Refusal("name MATCHES '(a)\\\\1'", "is refused"),
    Refusal("json.n MATCHES '['", "the pattern in 'json.n MATCHES \"[\"' is refused"),
    Refusal("name LIKE 'AF%'", "'%' is no wildcard of LIKE: write * for any characters"),
    Refusal("name.length > 3", "'name' is stored as", "has nothing inside"),
    Refusal("share == $x", "$x has no value"),
    Refusal("SUBQUERY(json, $x, $y == 1).@count > 0", "$y has no value"),
    Refusal("share BETWEEN { 1 }", "list of two"),
    Refusal("share == { 1, 2 }", "compared with a list"),
    Refusal("name + 1 == 'x'", "compares a number with a string"),
    Refusal("lowercase:(name) == 3", "compares a string with a number"),
    Refusal("rating == CAST('AA==', 'data')", "'rating' is stored as", "data"),
  ]

  @Test(arguments: refusals)
  func `Incomparable values are refused with their position and a remedy`(refusal: Refusal) throws {
    try withTemporaryStore([Trial.self]) { store in
      // A record whose reading would fail is not reached, because no record has to be read.
      try store.read { snapshot throws in
        let error = try storeError(.invalidQuery) {
          try snapshot.fetch(Trial.where(format: refusal.format))
        }
        for part in refusal.parts {
          #expect(error.message.contains(part), "\(error.message)")
        }
        #expect(!error.message.contains("'x'") || refusal.format.contains("+"), "\(error.message)")
      }
    }
  }

  @Test func `A raw value without a case is refused with the nearest case, on either side`()
    throws
  {
    try withTemporaryStore([AllTypes.self]) { store in
      try store.read { snapshot throws in
        let refusals = [
          ("stage == 'drft'", #"'stage' is compared with "drft", which"#),
          ("stage == 'drft'", #"no case of Stage; did you mean "draft"?"#),
          ("'drft' != stage", #"did you mean "draft"?"#),
          ("stage IN {'draft', 'zzzzzz'}", #""zzzzzz", which is the raw value of no case"#),
          ("stage IN {'draft', 'zzzzzz'}", #"there are "draft", "released""#),
        ]
        for (format, part) in refusals {
          let error = try storeError(.invalidQuery) {
            try snapshot.count(AllTypes.where(format: format))
          }
          #expect(error.message.contains(part), "\(error.message)")
        }
        #expect(try snapshot.count(AllTypes.where(format: "'draft' == stage")) == 0)
      }
    }
  }

  @Test func `Negative limits and offsets are refused`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(3, in: store)
      try store.read { snapshot throws in
        let limit = try storeError(.invalidQuery) { try snapshot.fetch(Trial.all.limit(-1)) }
        #expect(limit.message.contains("the limit is -1"))
        let offset = try storeError(.invalidQuery) { try snapshot.count(Trial.all.offset(-7)) }
        #expect(offset.message.contains("the offset is -7"))
        #expect(try snapshot.fetch(Trial.all.limit(0)) == [])
        #expect(try snapshot.fetch(Trial.all.limit(.max).offset(.max)) == [])
        #expect(try snapshot.count(Trial.all.limit(.max).offset(1)) == 2)
      }
    }
  }

  @Test func `An order by a document is refused, and by a computed value accepted`() throws {
    try withTemporaryStore([Specimen.self]) { store in
      try store.read { snapshot throws in
        let computed = Specimen.all.sorted { [$0.label.lowercased().ascending] }
        #expect(try snapshot.count(computed) == 0)
        #expect(try snapshot.explain(computed).description.contains("sorted by lowercase:(label)"))
        let document = try storeError(.invalidQuery) {
          try snapshot.fetch(Specimen.all.sorted(by: \.place.descending))
        }
        #expect(document.message.contains("document"))
      }
    }
  }

  @Test func `Variables take the values that are passed with the format string`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20, in: store)
      try store.read { snapshot throws in
        let condition = try Condition<Trial>(
          format: "number == $N OR number == %@", arguments: [7], variables: ["N": 3])
        #expect(try snapshot.fetch(Trial.where(condition)).map(\.number) == [3, 7])
      }
    }
  }
}
