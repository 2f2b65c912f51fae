#if Macros
  import Testing

  @Suite struct PlaceExpansionTests {
    private func city(_ place: String) -> String {
      """
      @Entity struct City {
        \(place)
        var name: String
        var latitude: Double?
        var longitude: Double?
      }
      """
    }

    @Test func `a place index is in the schema, and conditions have areas and distances`() throws {
      let answer = try expand(
        city("#Place<City>([\\.latitude, \\.longitude], invalid: .leftOut)"))
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(
          "    placeIndexes: [PlaceIndex(.init(\\.latitude), .init(\\.longitude), "
            + "invalid: .leftOut)]"))
      #expect(answer.expanded.contains("func isWithin(_ box: BoundingBox)"))
      #expect(answer.expanded.contains("func isNear("))
      #expect(!(try expand(city(""))).expanded.contains("func isNear("))
    }

    @Test func `a place index needs two properties of the entity`() throws {
      for paths in [
        "[\\.latitude]", "[\\.latitude, \\.longitude, \\.name]", "[\\.latitude, \\.lng]",
      ] {
        let answer = try expand(city("#Place<City>(\(paths))"))
        #expect(!answer.errors.isEmpty, "\(paths)")
      }
    }
  }
#endif
