import EntityStore
import Foundation
import Testing

/// Links are made and removed by the merge policy when an imported record meets a stored one.
@Suite struct `Links of merged records` {
  private func writers(_ store: Store) throws {
    try store.insert(["Ann", "Bob", "Cid"].map { Writer(name: $0) })
  }

  private func id(_ name: String, _ store: Store) throws -> Writer.ID? {
    try store.first(Writer.where { $0.name == name })?.id
  }

  // MARK: Policies

  private static let keeping: [MergePolicy<Volume>] = [
    .fillNulls, .replace.attribute(\.author, .fillNulls),
    .patch().attribute(\.author, .fillNulls), .newest(by: \.updatedAt),
    .replace.attribute(\.author, .newest(by: \.updatedAt)),
    .replace.attribute(\.author, .merge { stored, _ in stored }), .ignore,
    .merge { stored, incoming in
      var merged = incoming
      merged.author = stored.author
      return merged
    },
  ]

  @Test(arguments: keeping.indices, ["Bob", "Nobody"])
  func `links of merged records obey the policy as other attributes do`(policy: Int, name: String)
    async throws
  {
    try await withTemporaryStore(Volume.entities) { store in
      try writers(store)
      var stored = Volume(code: "a", updatedAt: Date(timeIntervalSince1970: 9))
      stored.author = try id("Ann", store)
      try await store.insert(stored)
      let page = #"[{"code": "a", "updatedAt": "1970-01-01T00:00:05Z", "author": "\#(name)"}]"#
      let report = try await store.importVolumes([page], Self.keeping[policy])
      #expect(report.rejected == 0 && report.links?.added ?? 0 == 0, "\(report)")
      #expect(report.links?.removed ?? 0 == 0, "\(report)")
      #expect(try store.volumes()[0].hasSuffix("author=Ann"))
    }
  }

  @Test func `a failing policy refuses changed links of merged records`() async throws {
    try await withTemporaryStore(Volume.entities) { store in
      try writers(store)
      var stored = Volume(code: "a")
      stored.author = try id("Ann", store)
      try await store.insert([stored, Volume(code: "b")])
      for name in ["Bob", "Nobody"] {
        let report = try await store.importVolumes(
          [#"[{"code": "a", "author": "\#(name)"}, {"code": "b"}]"#], .failIfDifferent)
        #expect(report.rejected == 1 && report.unchanged == 1, "\(report)")
        #expect(report.rejects.first?.attribute == "author")
      }
      // No writer has the name Dot. The import changes nothing, and reports the missing key both
      // times.
      for _ in 0..<2 {
        let report = try await store.importVolumes(
          [#"[{"code": "b", "author": "Dot"}]"#], .failIfDifferent)
        #expect(report.unchanged == 1 && report.links?.unresolved == 1, "\(report)")
      }
      #expect(try store.volumes() == ["a author=Ann", "b"])
    }
  }

  @Test func `links that are resolved at the end of the import obey the policy`() async throws {
    let later = #"[{"code": "z", "updatedAt": "1970-01-01T00:00:05Z"}]"#
    let page = #"[{"code": "a", "sequelOf": "z", "updatedAt": "1970-01-01T00:00:05Z"}]"#
    let wins: [(MergePolicy<Volume>, Bool)] = [
      (.replace, true), (.patch(), true), (.fillNulls, false), (.ignore, false),
      (.newest(by: \.updatedAt), false), (.replace.attribute(\.sequelOf, .fillNulls), false),
      (.merge { _, incoming in incoming }, true), (.merge { stored, _ in stored }, false),
    ]
    for (policy, isNew) in wins {
      for pages in [[page, later], [later, page]] {
        for limit in [1, 1000] {
          try await withTemporaryStore(Volume.entities) { store in
            let old = try await store.insert(Volume(code: "old"))
            var stored = Volume(code: "a", updatedAt: Date(timeIntervalSince1970: 9))
            stored.sequelOf = old.id
            try await store.insert(stored)
            let report = try await store.importVolumes(pages, policy, grouped: limit)
            #expect(report.rejected == 0)
            #expect(try store.volumes()[0].hasSuffix(isNew ? "sequelOf=z" : "sequelOf=old"))
          }
        }
      }
    }
  }

  // MARK: Absent members

  @Test(arguments: [MergePolicy<Volume>.replace, .patch()])
  func `links stay if the member is absent, and are removed if it is null`(
    policy: MergePolicy<Volume>
  ) async throws {
    try await withTemporaryStore(Volume.entities) { store in
      try writers(store)
      let first = #"[{"code": "a", "author": "Ann", "sequelOf": "a", "editors": ["Bob", "Cid"]}]"#
      _ = try await store.importVolumes([first], policy)
      let all = "author=Ann sequelOf=a editors=Bob+Cid"
      #expect(try store.volumes() == ["a \(all)"])
      let absent = try await store.importVolumes([#"[{"code": "a", "note": "n"}]"#], policy)
      #expect(absent.updated == 1 && absent.links?.removed ?? 0 == 0, "\(absent)")
      #expect(try store.volumes() == ["a note=n \(all)"])
      let null = try await store.importVolumes(
        [#"[{"code": "a", "note": "n", "author": null, "editors": null}]"#], policy)
      #expect(null.links?.removed == 3, "\(null)")
      #expect(try store.volumes() == ["a note=n sequelOf=a"])
    }
  }

  // MARK: Groups

  private static let sequences: [[String]] = [
    [#"[{"code": "d", "author": "Ann"}]"#, #"[{"code": "d", "note": "n"}]"#],
    [#"[{"code": "d", "sequelOf": "z"}]"#, #"[{"code": "d", "note": "n"}]"#, #"[{"code": "z"}]"#],
    [
      #"[{"code": "d", "sequelOf": "z"}]"#, #"[{"code": "d", "sequelOf": null}]"#,
      #"[{"code": "z", "sequelOf": "d"}]"#,
    ],
    [
      #"[{"code": "d", "editors": ["Ann", "Dot"]}]"#, #"[{"code": "d", "editors": ["Bob"]}]"#,
      #"[{"code": "d", "author": "Dot"}, {"code": "d", "author": "Cid"}]"#,
    ],
    [
      #"[{"code": "d", "partner": "z"}]"#, #"[{"code": "e", "partner": "z"}]"#,
      #"[{"code": "z", "partner": "d"}, {"code": "f", "partner": "d"}]"#,
    ],
  ]

  @Test(arguments: sequences.indices)
  func `links of merged records are equal however pages are grouped`(sequence: Int) async throws {
    let policies: [MergePolicy<Volume>] = [
      .replace, .patch(), .fillNulls, .ignore, .failIfDifferent, .newest(by: \.updatedAt),
      .merge { _, incoming in incoming },
    ]
    for policy in policies {
      var found: [[String]] = []
      var reports: [String] = []
      for limit in [1, 2, 1000] {
        try await withTemporaryStore(Volume.entities) { store in
          try writers(store)
          let report = try await store.importVolumes(
            Self.sequences[sequence], policy, grouped: limit)
          found.append(try store.volumes())
          reports.append("\(report)")
        }
      }
      #expect(Set(found).count == 1, "\(found)")
      #expect(Set(reports).count == 1, "\(reports)")
    }
  }

  // MARK: Records that links make

  @Test(arguments: [1, 1000])
  func `records that links make leave their content to a later page`(limit: Int) async throws {
    let policies: [MergePolicy<Volume>] = [
      .ignore, .failIfDifferent, .fillNulls, .newest(by: \.updatedAt), .replace, .patch(),
      .merge { stored, _ in stored },
    ]
    let pages = [
      [#"[{"code": "a", "sequelOf": "b"}, {"code": "b", "note": "n", "stars": 3}]"#],
      [#"[{"code": "a", "sequelOf": "b"}]"#, #"[{"code": "b", "note": "n", "stars": 3}]"#],
    ]
    for policy in policies {
      for pages in pages {
        try await withTemporaryStore(Volume.entities) { store in
          let report = try await store.importVolumes(
            pages, policy, grouped: limit, makesMissing: true)
          #expect(report.rejected == 0 && report.ignored == 0, "\(report)")
          #expect(try store.volumes() == ["a sequelOf=b", "b note=n stars=3"])
          // After a page has brought the record, it counts as an ordinary stored record.
          let again = try await store.importVolumes(
            [#"[{"code": "b", "note": "other"}]"#], .ignore, makesMissing: true)
          #expect(again.ignored == 1)
        }
      }
    }
  }

  // MARK: Refusals

  @Test(arguments: [false, true], [false, true])
  func `links that break a unique index or a rule reject only their record`(
    isKept: Bool, isPart: Bool
  ) async throws {
    let policy: MergePolicy<Volume> =
      isKept ? .fillNulls : isPart ? .patch() : .replace
    try await withTemporaryStore(Volume.entities) { store in
      try writers(store)
      let one = try await store.insert(Volume(code: "one"))
      var two = Volume(code: "two")
      two.partner = one.id
      var rated = Volume(code: "rated", stars: 7)
      rated.author = try id("Ann", store)
      try await store.insert([two, rated])
      let report = try await store.importVolumes(
        [
          """
          [{"code": "a", "partner": "one", "note": "lost"}, {"code": "b", "note": "kept"},
           {"code": "rated", "author": null, "note": "lost", "stars": 7},
           {"code": "c", "stars": 8, "author": "Bob"}, {"code": "d", "stars": 8, "author": "Dot"}]
          """
        ], policy)
      #expect(report.rejected == (isKept ? 2 : 3), "\(report)")
      #expect(report.rejects.map(\.record) == (isKept ? [1, 5] : [1, 3, 5]), "\(report)")
      #expect(
        try store.volumes() == [
          "b note=kept", "c stars=8 author=Bob", "one",
          "rated\(isKept ? " note=lost" : "") stars=7 author=Ann", "two partner=one",
        ])
    }
  }

  @Test(arguments: [MergePolicy<Volume>.replace, .patch()])
  func `records of a page exchange their links`(
    policy: MergePolicy<Volume>
  ) async throws {
    try await withTemporaryStore(Volume.entities) { store in
      _ = try await store.importVolumes(
        [#"[{"code": "a"}, {"code": "b"}, {"code": "c"}, {"code": "x"}, {"code": "y"}]"#], policy)
      // The pages have two new partners, a circle of three, a chain, and one record that does not
      // fit.
      let first = try await store.importVolumes(
        [
          #"[{"code": "m", "partner": "n"}, {"code": "n", "partner": "m"}]"#,
          #"[{"code": "a", "partner": "x"}, {"code": "b", "partner": "y"}, {"code": "c", "partner": "c"}]"#,
        ], policy)
      #expect(first.rejected == 0, "\(first)")
      let page = """
        [{"code": "m", "partner": "m"}, {"code": "n", "partner": "n"},
         {"code": "a", "partner": "y"}, {"code": "b", "partner": "c"}, {"code": "c", "partner": "x"},
         {"code": "p", "partner": "y"}]
        """
      let second = try await store.importVolumes([page], policy)
      #expect(second.rejects.map(\.record) == [6], "\(second)")
      #expect(
        try store.volumes() == [
          "a partner=y", "b partner=c", "c partner=x", "m partner=m", "n partner=n", "x", "y",
        ])
      let again = try await store.importVolumes([page], policy)
      #expect(again.updated == 0 && again.unchanged == 5 && again.links?.added ?? 0 == 0)
    }
  }

  @Test func `late links that break a unique index are rejected alone`() async throws {
    for policy in [MergePolicy<Volume>.replace, .patch()] {
      try await withTemporaryStore(Volume.entities) { store in
        let report = try await store.importVolumes(
          [
            #"[{"code": "a", "partner": "z"}, {"code": "b", "partner": "z"}, {"code": "c", "partner": "y"}]"#,
            #"[{"code": "z"}, {"code": "y"}]"#,
          ], policy)
        #expect(report.ending == .finished && report.rejected == 1, "\(report)")
        #expect(report.rejects.first?.record == 2 && report.rejects.first?.attribute == "partner")
        #expect(try store.volumes() == ["a partner=z", "b", "c partner=y", "y", "z"])
      }
    }
  }

  @Test func `links never lead to a refused record of their page`() async throws {
    try await withTemporaryStore(Volume.entities) { store in
      let report = try await store.importVolumes([
        """
        [{"code": "a", "sequelOf": "b"}, {"code": "b", "stars": 7, "sequelOf": "c"},
         {"code": "c", "sequelOf": "d"}, {"code": "d", "sequelOf": "a"}]
        """
      ])
      #expect(report.rejects.map(\.record) == [2], "\(report)")
      #expect(report.links?.unresolvedKeys.map(\.record) == [1], "\(report)")
      #expect(try store.volumes() == ["a", "c sequelOf=d", "d sequelOf=a"])
    }
  }
}
