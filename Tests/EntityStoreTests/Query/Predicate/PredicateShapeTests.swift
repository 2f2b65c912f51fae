import Foundation
import Testing

@testable import EntityStore
@testable import LodestoreFormat

/// The trees that predicates become: the parts that an index can answer are data.
@Suite struct PredicateShapeTests {
  private func sketch(_ predicate: Predicate<Ticket>) throws -> String {
    try ConditionTree(predicate).sketch
  }

  @Test func `Clauses keep the order of the author, with code only if necessary`() throws {
    let tree = try sketch(
      #Predicate {
        $0.count > 3 && $0.numbers.isEmpty && ($0.rating == nil || !($0.count % 2 == 0))
      })
    #expect(
      tree
        == "(count greater 3 & <$0.numbers.isEmpty> & (rating equal null | !<$0.count % … == …>))")
  }

  @Test func `Ids are the attribute _id, whatever other attribute has their type`() throws {
    let id = RecordID<Ticket>(rawValue: 7), ids: Set = [id],
      large = RecordID<Ticket>(rawValue: .max)
    #expect(try sketch(#Predicate { $0.id == id }) == "_id equal 7")
    #expect(try sketch(#Predicate { large != $0.id }) == "_id notEqual \(UInt64.max)")
    #expect(try sketch(#Predicate { $0.id > id }) == "_id greater 7")
    #expect(try sketch(#Predicate { ids.contains($0.id) }) == "_id in [7]")
    #expect(try sketch(#Predicate { $0.id.rawValue == 7 }) == "_id equal 7")
    #expect(try sketch(#Predicate { $0.owner == id }) == "<$0.<RecordID<Ticket>> == …>")
    #expect(try sketch(#Predicate { $0.copy.id == id }) == "<$0.<Ticket>.id == …>")
    #expect(try sketch(#Predicate { $0.parent == id }) == "parent equal 7")
    #expect(try sketch(#Predicate { $0.parent == nil }) == "parent equal null")
    #expect(try sketch(#Predicate { ids.contains($0.owner) }).hasPrefix("<"))
  }

  @Test func `Cases of enumerations are their raw values, under the attribute's name`() throws {
    let open = Ticket.Status.open, high = Ticket.Priority.high,
      both: [Ticket.Priority?] = [high, nil]
    let tag = Ticket.Tag(rawValue: "A")
    #expect(try sketch(#Predicate { $0.status == open }) == "state equal 'open'")
    #expect(try sketch(#Predicate { $0.priority != high }) == "priority notEqual 9")
    #expect(
      try sketch(#Predicate { both.contains($0.priority) })
        == "(priority in [9] | priority equal null)")
    #expect(try sketch(#Predicate { $0.status.rawValue == "open" }) == "state equal 'open'")
    #expect(
      try sketch(#Predicate { $0.status.rawValue.starts(with: "o") }) == "state beginsWith 'o'")
    #expect(try sketch(#Predicate { $0.status.label == "open" }) == "<$0.state.<String> == …>")
    #expect(try sketch(#Predicate { $0.tag == tag }) == "<$0.tag == …>")
    #expect(try sketch(#Predicate { $0.tag.rawValue == "A" }) == "<$0.tag.rawValue == …>")
  }

  @Test func `Optionals become tests for null before the expressions that they guard`() throws {
    #expect(
      try sketch(#Predicate { t in if let r = t.rating { r > 4 && t.count > 0 } else { false } })
        == "(rating notEqual null & rating greater 4 & count greater 0)")
    #expect(try sketch(#Predicate { ($0.rating ?? 0) > 4 }) == "rating greater 4")
    #expect(
      try sketch(#Predicate { ($0.rating ?? 5) > 4 }) == "(rating greater 4 | rating equal null)")
    // swift-format-ignore: NeverForceUnwrap
    let unwrapped = #Predicate<Ticket> { $0.rating != nil && $0.rating! > 4 }
    #expect(try sketch(unwrapped) == "(rating notEqual null & rating greater 4)")
    // swift-format-ignore: NeverForceUnwrap
    let unguarded = #Predicate<Ticket> { $0.count > 0 && $0.rating! > 4 }
    #expect(try sketch(unguarded) == "(count greater 0 & <$0.rating! > …>)")
  }

  @Test func `Ranges, lists and constant arithmetic are calculated in advance`() throws {
    let low = 2, list = [1, 2]
    #expect(try sketch(#Predicate { (low...low * 3).contains($0.count) }) == "count between [2, 6]")
    #expect(
      try sketch(#Predicate { (0..<9).contains($0.count) })
        == "(count greaterOrEqual 0 & count less 9)")
    #expect(try sketch(#Predicate { list.contains($0.count) }) == "count in [1, 2]")
    #expect(try sketch(#Predicate { $0.count > -low + 7 / low }) == "count greater 1")
  }

  @Test func `Code is printed as its author wrote it, without the constants`() throws {
    #expect(
      try sketch(#Predicate { ($0.count + 1) * $0.divisor / 2 > -$0.count - (1 - $0.divisor) })
        == "<($0.count + …) * $0.divisor / … > -$0.count - (… - $0.divisor)>")
    #expect(
      try sketch(#Predicate { ($0.count > 1) == ($0.numbers.isEmpty ? true : false) })
        == "<($0.count > …) == ($0.numbers.isEmpty ? true : false)>")
  }

  @Test func `A predicate has an equal condition with another variable of its type`() throws {
    let predicate = Predicate<Ticket> { ticket in
      PredicateExpressions.build_Equal(
        lhs: PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.count),
        rhs: PredicateExpressions.build_Arg(3))
    }
    #expect(try sketch(predicate) == "count equal 3")
  }

  @Test func `A variable of another closure is refused when the query is prepared`() throws {
    let elsewhere = PredicateExpressions.Variable<Ticket>()
    let predicate = Predicate<Ticket> { _ in
      PredicateExpressions.build_Equal(
        lhs: PredicateExpressions.build_KeyPath(root: elsewhere, keyPath: \.count),
        rhs: PredicateExpressions.build_Arg(3))
    }
    let error = try storeError(.invalidQuery) { try ConditionTree(predicate) }
    #expect(error.entity == "Ticket")
  }
}
