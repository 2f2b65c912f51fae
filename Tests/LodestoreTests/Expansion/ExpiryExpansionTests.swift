#if Macros
  import Testing

  @Suite struct ExpiryExpansionTests {
    private func offer(_ expiry: String) -> String {
      """
      @Entity struct Offer {
        \(expiry)
        var code: String
        var price: Int
        var validUntil: Date?
      }
      """
    }

    @Test func `an expiry is in the schema, and the memberwise initializer stays in use`() throws {
      let answer = try expand(offer("#Expires<Offer>([\\.validUntil])"))
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("    expires: [\\.validUntil])"))
      let plain = try expand(offer(""))
      #expect(
        answer.expanded.contains("static func read(from")
          == plain.expanded.contains("static func read(from")
      )
    }

    @Test func `an expiry by an attribute without a date is refused`() throws {
      try expectRefusal(
        of: offer("#Expires<Offer>([\\.price])"), at: "[\\.price]",
        "cannot have records expire by 'price': its type is Int; name a Date or a Date?")
    }

    @Test func `an expiry by two attributes is refused`() throws {
      try expectRefusal(
        of: offer("#Expires<Offer>([\\.validUntil, \\.price])"), at: "[\\.validUntil",
        "cannot have records expire by more or fewer attributes than one; name one, as "
          + "[\\.validUntil]")
    }

    @Test func `a second expiry is refused`() throws {
      try expectRefusal(
        of: offer("#Expires<Offer>([\\.validUntil]); #Expires<Offer>([\\.validUntil, \\.code])"),
        at: "#Expires<Offer>([\\.validUntil, ",
        "cannot have records expire by two attributes; remove one #Expires")
    }

    @Test func `an expiry by an unknown attribute names the nearest one`() throws {
      try expectRefusal(
        of: offer("#Expires<Offer>([\\.validUntill])"), at: "\\.validUntill",
        "cannot index 'validUntill': 'Offer' has no stored property of that name; did you mean "
          + "'validUntil'?",
        fixes: [("replace it by 'validUntil'", offer("#Expires<Offer>([\\.validUntil])"))])
    }
  }
#endif
