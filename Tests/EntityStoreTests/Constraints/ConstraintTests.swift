import EntityStore
import Foundation
import Testing

/// The cases of ``MergePolicy``, for a stored review and a new one.
enum ReviewMode: String, CaseIterable, Sendable {
  case fail, ignore, replace, patch, patchSome, merge

  var conflict: MergePolicy<Review> {
    switch self {
    case .fail: .fail
    case .ignore: .ignore
    case .replace: .replace
    case .patch: .patch()
    case .patchSome:
      .patch([\.stars, \.count, \.ratio, \.score, \.price, \.day, \.link, \.seal, \.note])
    case .merge: .merge { _, incoming in incoming }
    }
  }

  /// Whether a stored review takes the values of a review with the same key.
  var changesStored: Bool { self != .fail && self != .ignore }
}

@Suite struct `Constraints of attributes` {
  private func reviews(_ store: Store) throws -> [Review] {
    try store.read { try $0.fetch(Review.all) }
  }

  /// Expects a write with `body` to throw, and compares the error with the case.
  private func expectRefusal(
    _ refused: Review.Case, recordID: UInt64? = nil, _ store: Store,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    let error = try storeError(.invalidValue, sourceLocation: sourceLocation) {
      try store.write { (tx) throws in try body(&tx) }
    }
    let rule = try #require(refused.rule)
    #expect(error.entity == "Review" && error.attribute == refused.attribute)
    #expect(error.recordID == recordID, "\(error)", sourceLocation: sourceLocation)
    #expect(
      error.message.contains(": '\(refused.attribute)' must \(rule)"), "\(error)",
      sourceLocation: sourceLocation)
    #expect(error.debugDescription.hasPrefix("invalidValue: \(error.message) ["))
  }

  @Test(arguments: ReviewMode.allCases)
  func `every insert accepts values at the edges and refuses values beyond`(mode: ReviewMode) throws
  {
    try withTemporaryStore([Review.self]) { store in
      for allowed in Review.allowed {
        try store.write { tx in
          try tx.insert(allowed.review, onConflict: mode.conflict)
          try tx.delete(Review.all)
          try tx.insert([allowed.review], onConflict: mode.conflict)
          try tx.delete(Review.all)
        }
      }
      for refused in Review.refused {
        try expectRefusal(refused, store) { tx in
          try tx.insert(refused.review, onConflict: mode.conflict)
        }
        try expectRefusal(refused, store) { tx in
          try tx.insert(
            [Review(slug: "good"), refused.review], onConflict: mode.conflict)
        }
        // The two records have one key, so they are written one after the other, not as a batch.
        try expectRefusal(refused, store) { tx in
          try tx.insert(
            [refused.review, refused.review], onConflict: mode.conflict)
        }
      }
      #expect(try reviews(store) == [])
    }
  }

  @Test(arguments: ReviewMode.allCases.filter(\.changesStored))
  func `a stored record accepts values at the edges and no value beyond`(mode: ReviewMode) throws {
    try withTemporaryStore([Review.self]) { store in
      var stored = Review()
      stored.id = try store.write { [stored] in try $0.insert(stored).id }
      for allowed in Review.allowed where allowed.review.slug == stored.slug {
        try store.write { tx in
          try tx.insert(allowed.review, onConflict: mode.conflict)
          try tx.insert(Review(), onConflict: mode.conflict)
          try tx.insert([allowed.review], onConflict: mode.conflict)
          try tx.insert([Review()], onConflict: mode.conflict)
        }
      }
      for refused in Review.refused where refused.review.slug == stored.slug {
        try expectRefusal(refused, recordID: 1, store) { tx in
          try tx.insert(refused.review, onConflict: mode.conflict)
        }
        try expectRefusal(refused, recordID: 1, store) { tx in
          try tx.insert([refused.review], onConflict: mode.conflict)
        }
        try expectRefusal(refused, recordID: 1, store) { tx in
          try tx.insert(
            [refused.review, refused.review], onConflict: mode.conflict)
        }
      }
      #expect(try reviews(store) == [stored])
    }
  }

  @Test func `an update accepts values at the edges and refuses values beyond`() throws {
    try withTemporaryStore([Review.self]) { store in
      let id = try store.write { try $0.insert(Review()).id }
      for allowed in Review.allowed {
        var review = allowed.review
        review.id = id
        try store.write { _ = try $0.update(review) }
        #expect(try reviews(store) == [review])
      }
      let before = try reviews(store)
      for refused in Review.refused {
        var review = refused.review
        review.id = id
        try expectRefusal(refused, recordID: 1, store) { try $0.update(review) }
      }
      #expect(try reviews(store) == before)
    }
  }

  @Test func `an update by condition refuses values beyond the edges, in slots and in texts`()
    throws
  {
    try withTemporaryStore([Review.self]) { store in
      let slugs = (0..<100).map { "r\($0)" }
      try store.write { tx in
        _ = try tx.insert(slugs.map { Review(slug: $0, stars: 4) })
      }
      let count = try store.write { tx in
        try tx.update(Review.all) {
          $0.stars.add(1); $0.score = 9.5; $0.seal = Data([1, 2]); $0.note = "n"
        }
      }
      #expect(count == 100)
      let before = try reviews(store)
      let updates: [((inout AttributeUpdates<Review>) -> Void, String, String)] = [
        ({ $0.stars.add(1) }, "stars", "be at most 5"),
        ({ $0.stars = -1 }, "stars", "be at least 0"),
        ({ $0.score = .nan }, "score", "be a number"),
        ({ $0.slug = "" }, "slug", "have at least 1 Unicode scalar"),
        ({ $0.slug = $0.note }, "slug", "have at least 1 Unicode scalar"),
        ({ $0.seal = Data([1]) }, "seal", "have at least 2 bytes"),
        ({ $0.link = URL(string: "http://a.b/cd") }, "link", "have at most 12 Unicode scalars"),
        ({ $0.price = Decimal(100) }, "price", "be at most 99"),
      ]
      for (update, attribute, rule) in updates {
        let refused = Review.Case(\.note, "", attribute, rule)
        try expectRefusal(refused, recordID: 8, store) { tx in
          try tx.update(Review.where { $0.slug == "r7" }) { $0.note = "" }
          try tx.update(Review.where { $0.slug == "r7" }, update)
        }
      }
      let beyond: [(inout AttributeUpdates<Review>) -> Void] = [
        { $0.stars.add(1) }, { $0.score = 10 },
      ]
      for update in beyond {
        // A closure that catches the error continues with the state before the call.
        try store.write { tx in
          let thrown = #expect(throws: StoreError.self) {
            () throws in try tx.update(Review.all, update)
          }
          #expect(thrown?.code == .invalidValue)
        }
      }
      #expect(try reviews(store) == before)
      let nulled = try store.write { tx in
        try tx.update(Review.all) {
          $0.score = nil; $0.seal = nil; $0.stars = 0
        }
      }
      #expect(nulled == 100)
    }
  }

  @Test func `a transaction continues after a refused insert, without a trace of it`() throws {
    try withTemporaryStore([Review.self]) { store in
      try store.write { tx in
        try tx.insert(Review(slug: "one"))
        let bad = Review(slug: "bad", stars: 6)
        for mode in ReviewMode.allCases {
          for count in 0...1 {
            let thrown = #expect(throws: StoreError.self) { () throws in
              if count == 0 {
                try tx.insert(bad, onConflict: mode.conflict)
              } else {
                try tx.insert(
                  [bad], onConflict: mode.conflict)
              }
            }
            #expect(thrown?.code == .invalidValue && thrown?.recordID == nil)
          }
        }
        // In modes other than `fail`, the valid records of the batch are stored.
        _ = #expect(throws: StoreError.self) { () throws in
          try tx.insert(
            [Review(slug: "two"), bad, Review(slug: "three")], onConflict: .replace)
        }
        _ = #expect(throws: StoreError.self) { () throws in
          try tx.insert([Review(slug: "four"), bad])
        }
      }
      let found = try reviews(store)
      #expect(found.map(\.slug) == ["one", "two", "three"])
      #expect(found.map(\.id.rawValue) == [1, 2, 3])
    }
  }

  @Test func `constraints check the result of a merge, not the incoming record`() throws {
    try withTemporaryStore([Review.self]) { store in
      try store.write { tx in _ = try tx.insert(Review(slug: "a", stars: 3)) }
      let sum = MergePolicy<Review>.merge { stored, incoming in
        var merged = stored
        merged.stars += incoming.stars
        return merged
      }
      // The merged stars are 1, which is allowed. The incoming -2 alone could not be stored.
      try store.write { tx in
        _ = try tx.insert(Review(slug: "a", stars: -2), onConflict: sum)
        _ = try tx.insert([Review(slug: "a", stars: 4)], onConflict: sum)
      }
      #expect(try reviews(store).map(\.stars) == [5])
      try expectRefusal(Review.Case(\.stars, 6, "stars", "be at most 5"), recordID: 1, store) {
        try $0.insert([Review(slug: "a", stars: 1)], onConflict: sum)
      }
    }
  }

  @Test func `drafts and dictionaries are checked, and patches in their given attributes`() throws {
    try withTemporaryStore([Review.self]) { store in
      let row: [String: any AttributeValue] = [
        "slug": "a", "stars": 2, "count": UInt64(1), "ratio": Float(0), "note": "",
      ]
      try store.write { tx in _ = try tx.insert(Review.self, dictionaries: [row]) }
      let refused = Review.Case(\.stars, 7, "stars", "be at most 5")
      try expectRefusal(refused, store) { tx in
        try tx.insert(
          Review.self, dictionaries: [row.merging(["slug": "b", "stars": 7]) { $1 }])
      }
      try expectRefusal(refused, recordID: 1, store) { tx in
        try tx.insert(
          Review.self, dictionaries: [["slug": "a", "stars": 7]], onConflict: .patch())
      }
      try store.write { tx in
        _ = try tx.insert(
          Review.self, dictionaries: [["slug": "a", "stars": 5]], onConflict: .patch())
      }
      #expect(try reviews(store).map(\.stars) == [5])
    }
  }

  @Test func `an error shows the value only in its debug description`() throws {
    try withTemporaryStore([Review.self]) { store in
      let secret = String(repeating: "SECRET", count: 100)
      let error = try storeError(.invalidValue) {
        try store.write { (tx) throws in try tx.insert(Review(slug: secret)) }
      }
      #expect(!error.message.contains("SECRET") && error.debugDescription.contains("[SECRET"))
      #expect(error.debugDescription.utf8.count < error.message.utf8.count + 100)
    }
  }
}
