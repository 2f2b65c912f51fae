import Fireballs
import Foundation
import Lodestore
import Testing

@Suite struct NearbyTests {
  private let chelyabinsk = Coordinate(latitude: 54.8, longitude: 61.1)

  @Test func `the map has what is within its radius, the nearest first`() throws {
    let fireballs = try FireballStore.preview()
    let near = try Nearby(fireballs, to: chelyabinsk, radius: 7_000_000)
    #expect(near.marks.map(\.fireball.impactEnergy) == [440, 49])
    #expect(near.marks.allSatisfy { $0.x * $0.x + $0.y * $0.y <= 1 })
    #expect(near.marks[0].distance == 0)
    // The Bering Sea is beyond the meridian 180.
    let alaska = Coordinate(latitude: 58, longitude: -176)
    let east = try Nearby(fireballs, to: alaska, radius: 1_000_000)
    #expect(east.marks.map(\.fireball.impactEnergy) == [49])
    #expect(east.marks.allSatisfy { $0.x < 0 })
  }

  @Test func `the text has half a block for each fireball`() throws {
    let near = try Nearby(FireballStore.preview(), to: chelyabinsk, radius: 7_000_000)
    let lines = near.lines(height: 9)
    #expect(lines.count == 9)
    #expect(lines.joined().count { "▀▄█".contains($0) } == 2)
    #expect(lines.joined().contains("·"))
  }

  @Test func `the drawing is well-formed and has a dot for each fireball`() throws {
    let near = try Nearby(FireballStore.preview(), to: chelyabinsk, radius: 7_000_000)
    let svg = near.svg(title: "Near Chelyabinsk")
    #expect(svg.ranges(of: "<title>").count == 2)
    #expect(svg.contains("2013-02-15, 440 kt, 0 km"))
    #expect(svg.hasPrefix("<svg xmlns=") && svg.hasSuffix("</svg>\n"))
    #expect(
      !(try Nearby(FireballStore.inMemory(), to: chelyabinsk, radius: 1).svg(title: "").isEmpty))
  }
}
