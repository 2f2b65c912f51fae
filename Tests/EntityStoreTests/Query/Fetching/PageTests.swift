import Foundation
import Testing

@testable import EntityStore

@Suite struct PageTests {
  @Test func `Consecutive pages form the whole result, in every direction`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(100, in: store)
      let orders: [[SortKey<Trial>]] = [
        [], [Trial.attributes.rating.ascending], [Trial.attributes.rating.descending],
        [Trial.attributes.kind.descending, Trial.attributes.share.ascending],
        [Trial.attributes.kind.ascending, Trial.attributes.share.ascending],
        [Trial.attributes.number.descending],
        [Trial.attributes.rating.ascending(nulls: .last), Trial.attributes.name.descending],
      ]
      try store.read { snapshot throws in
        for order in orders {
          for size in [1, 7, 50, 99, 100, 101] {
            let query = Trial.all.sorted(order)
            var found: [Trial] = []
            var token: ContinuationToken?
            var pages = 0
            repeat {
              let page = try snapshot.page(query.limit(size).continuing(after: token))
              #expect(page.items.count <= size && page.commitNumber == snapshot.commitNumber)
              found += page.items
              token = page.next
              pages += 1
            } while token != nil && pages < 200
            #expect(try found == snapshot.fetch(query))
          }
        }
        #expect(try snapshot.page(Trial.all).next == nil)
        #expect(try snapshot.page(Trial.all.limit(0)).next == nil)
      }
    }
  }

  @Test func `Pages of attributes equal those of whole records, with the same tokens`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(100, in: store)
      let orders: [[SortKey<Trial>]] = [
        [], [Trial.attributes.rating.descending], [Trial.attributes.name.ascending],
        [Trial.attributes.kind.descending, Trial.attributes.share.ascending],
      ]
      try store.read { snapshot throws in
        for order in orders {
          let query = Trial.where { $0.number > 3 }.sorted(order).limit(7)
          var token: ContinuationToken?
          var numbers: [Int] = []
          repeat {
            let next = query.continuing(after: token)
            let whole = try snapshot.page(next)
            let rows = try snapshot.page(next, \.note, \.number, \.name)
            #expect(rows.items.map(\.0) == whole.items.map(\.note))
            #expect(rows.items.map(\.1) == whole.items.map(\.number))
            #expect(rows.items.map(\.2) == whole.items.map(\.name))
            #expect(rows.next == whole.next && rows.commitNumber == snapshot.commitNumber)
            let names = try snapshot.page(next, \.name)
            #expect(names.items == whole.items.map(\.name) && names.next == whole.next)
            numbers += rows.items.map(\.1)
            token = rows.next
          } while token != nil && numbers.count <= 100
          #expect(numbers.sorted() == Array(4..<100))
        }
      }
    }
  }

  /// The order of the pages does not change, because nobody changes the attribute; commits happen
  /// between the pages.
  ///
  /// A record that is there all the time occurs exactly once.
  @Test func `Insertions and deletions between pages neither repeat nor lose other records`() throws
  {
    var random = SeededNumbers(salt: 81)
    try withSpecimens(count: 80, salt: 82) { store, records in
      var conditions = OracleConditions(salt: 83, values: valuesByAttribute(records))
      var serial = 10_000
      for _ in 0..<15 {
        var request = QueryRequest(condition: .constant(true))
        request.order = conditions.order()
        let staying = try store.core.read { core in
          try PlanRun(
            core.plan(request, for: try core.entity(named: "Specimen")), core: core
          ).ids()
        }
        var stayed = Set(staying)
        var seen: [UInt64] = []
        repeat {
          request.limit = 1 + random.below(30)
          let lie = PlanningLie.allCases[random.below(PlanningLie.allCases.count)]
          request.after = try store.core.read { core in
            let entity = try core.entity(named: "Specimen")
            let plan = try lie.plan(request, for: entity, core: core, &random)
            return try PlanRun(plan, core: core).forEachOfPage { id, _ in seen.append(id) }
          }
          try store.write { transaction in
            let gone = staying[random.below(staying.count)]
            if try transaction.delete(RecordID<Specimen>(rawValue: gone)) {
              stayed.remove(gone)
            }
            for _ in 0..<2 {
              serial += 1
              _ = try transaction.insert(Specimen.nasty(serial: serial, &random))
            }
          }
        } while request.after != nil && seen.count < 4_000
        let sketch = "\(request.order), \(SeededNumbers.replay)"
        #expect(Set(seen).count == seen.count, "repeated: \(sketch)")
        #expect(stayed.isSubset(of: seen), "lost: \(sketch)")
        #expect(seen.filter(stayed.contains) == staying.filter(stayed.contains), "\(sketch)")
      }
    }
  }

  @Test func `A token is text that survives coding`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20, in: store)
      let query = Trial.all.sorted(by: \.name.ascending).limit(8)
      let token = try #require(try store.read { try $0.page(query).next })
      let letters = token.text.allSatisfy {
        $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0))
      }
      #expect(letters && "\(token)" == token.text)
      let coded = try JSONEncoder().encode([token])
      let decoded = try JSONDecoder().decode([ContinuationToken].self, from: coded)
      #expect(decoded == [token] && ContinuationToken(token.text) == token)
      let rest = try store.read { try $0.fetch(query.continuing(after: decoded.first)) }
      #expect(rest.map(\.number) == Array(8..<16))
      #expect(
        try store.read { try $0.fetch(query.limit(100).continuing(after: token)) }.count == 12)
      #expect(try store.read { try $0.ids(query.continuing(after: token)) } == rest.map(\.id))
    }
  }

  @Test func `A token that is damaged, or of another query, is refused`() throws {
    try withTemporaryStore([Trial.self, Specimen.self]) { store in
      try Trial.make(20, in: store)
      let query = Trial.where { $0.number > 2 }.sorted(by: \.name.ascending).limit(5)
      let token = try #require(try store.read { try $0.page(query).next })
      try store.read { snapshot throws in
        let others = [
          query.where { $0.number > 3 }, query.sorted(by: \.name.descending),
          query.sorted { [$0.name.ascending(ignoring: .caseInsensitive)] }, query.sorted([]),
          query.sorted { [$0.name.ascending(nulls: .last)] },
        ]
        for other in others {
          let error = try storeError(.invalidQuery) {
            try snapshot.fetch(other.continuing(after: token))
          }
          #expect(error.message.contains("another condition or order"))
        }
        _ = try storeError(.invalidQuery) {
          try snapshot.fetch(Specimen.all.continuing(after: token))
        }
        // A change of any letter of the token is noticed, except for unused bits of the last Base64
        // letter.
        let letters = Array(token.text)
        for index in letters.indices.dropLast() {
          var changed = letters
          changed[index] = changed[index] == "A" ? "B" : "A"
          _ = try storeError(.invalidQuery) {
            try snapshot.fetch(query.continuing(after: ContinuationToken(String(changed))))
          }
        }
        for text in [
          "", "A", "AAAA", "\u{0}", "é", String(letters.dropLast(4)), token.text + "AAAA",
        ] {
          let error = try storeError(.invalidQuery) {
            try snapshot.fetch(query.continuing(after: ContinuationToken(text)))
          }
          #expect(error.message.contains("damaged"), "\(text): \(error.message)")
        }
        let long = try storeError(.invalidQuery) {
          try snapshot.fetch(
            query.continuing(after: ContinuationToken(String(repeating: "A", count: 2 << 20))))
        }
        #expect(long.message.contains("too long"))
      }
    }
  }

  @Test func `The page after the last record is empty, forwards and backwards`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(5, in: store)
      try store.read { snapshot throws in
        let orders: [[SortKey<Trial>]] = [
          [], [Trial.attributes.number.ascending], [Trial.attributes.number.descending],
          [Trial.attributes.note.descending],
        ]
        for order in orders {
          let query = Trial.all.sorted(order)
          let token = try snapshot.page(query.limit(5)).next
          #expect(token != nil)
          #expect(try snapshot.fetch(query.continuing(after: token)) == [])
        }
        // The token of the first record in the descending order of ids, after which no record
        // follows.
        let entity = try store.core.read { try $0.entity(Trial.self) }
        var request = QueryRequest()
        request.order = [SortTerm(ValuePath(attribute: "_id"), isDescending: true)]
        request.limit = 5
        try store.core.read { core in
          request.after = try PlanRun(core.plan(request, for: entity), core: core)
            .forEachOfPage { _, _ in }
          #expect(request.after != nil)
          #expect(try PlanRun(core.plan(request, for: entity), core: core).ids() == [])
          #expect(try PlanRun(core.plan(request, for: entity), core: core).count() == 0)
        }
      }
    }
  }
}
