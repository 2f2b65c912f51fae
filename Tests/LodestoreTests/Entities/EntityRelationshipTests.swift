#if Macros
  import Lodestore
  import Testing

  @Entity struct Team: Equatable {
    #Unique<Team>([\.name])
    var name: String
    static let players = ToMany<Team, Player>()
    static let matches: ToMany<Team, Match> = .init(inverse: \.home, onDelete: .deny)
  }

  @Entity struct Player: Equatable {
    var name: String
    @Relationship var captain: Player.ID?
    static let teams = ToMany<Player, Team>(inverse: Team.players)
  }

  @Entity struct Match: Equatable {
    @Relationship(onDelete: .nullify) var home: Team.ID
    @Attribute(.unique) @Relationship var report: RecordID<Report>?
    static let limit = 10
  }

  @Entity struct Report: Equatable {
    var text: String
    static let match = ToMany<Report, Match>(inverse: \.report, onDelete: .cascade)
  }

  @Suite struct `Entities with relationships` {
    @Test func `properties declare relationships`() throws {
      let store = try Store.inMemory(entities: [Team.self, Player.self, Match.self, Report.self])
      let team = try store.write { tx throws in
        let team = try tx.insert(Team(name: "Ajax"))
        let captain = try tx.insert(Player(name: "Ann", captain: nil))
        let player = try tx.insert(Player(name: "Bob", captain: captain.id))
        try tx.add([captain.id, player.id], to: Team.players, of: team.id)
        let report = try tx.insert(Report(text: "1:0"))
        try tx.insert(Match(home: team.id, report: report.id))
        return team
      }
      let led = Player.where { $0.captain[\.name] == "Ann" }
      #expect(try store.fetch(led).map(\.name) == ["Bob"])
      let full = Team.where {
        $0.players.count == 2
        $0.matches.any { $0.report.satisfies { $0.text == "1:0" } }
      }
      #expect(try store.fetch(full) == [team])
      let players = try store.read { try $0.related(Player.teams, of: Player.ID(rawValue: 2)) }
      #expect(players == [team])
      let denied = #expect(throws: StoreError.self) { try store.delete(team) }
      #expect(denied?.code == .deleteDenied)
      try store.delete(Report.all)
      #expect(try store.count(Match.all) == 0)
      #expect(try store.delete(team))
    }

    @Test func `a relationship of one to one is unique`() throws {
      let store = try Store.inMemory(entities: [Team.self, Player.self, Match.self, Report.self])
      let error = #expect(throws: StoreError.self) {
        try store.write { tx throws in
          let team = try tx.insert(Team(name: "Ajax"))
          let report = try tx.insert(Report(text: "1:0"))
          try tx.insert(Match(home: team.id, report: report.id))
          try tx.insert(Match(home: team.id, report: report.id))
        }
      }
      #expect(error?.code == .uniqueViolation)
    }
  }
#endif
