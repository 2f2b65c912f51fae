import Fireballs
import Foundation
import Testing

@Suite struct EnergyByYearTests {
  @Test func `energies are summed by year, without a gap`() throws {
    let energies = try EnergyByYear(FireballStore.preview())
    #expect(energies.bars.map(\.year) == Array(2009...2018))
    #expect(energies.bars.map(\.energy) == [33, 0, 0, 0, 440, 0, 0, 0, 0, 49])
    #expect(energies.bars.map(\.count).reduce(0, +) == 3)
  }

  @Test func `the text has an axis and higher columns for more energy`() throws {
    let lines = try EnergyByYear(FireballStore.preview()).lines(height: 4)
    #expect(
      lines == [
        "  1000 ┤",
        "       │        ▂",
        "   100 ┤        █",
        "       │        █         ▃",
        "    10 ┤█       █         █",
        "       └────────────────────",
        "          2010      2015",
      ])
  }

  @Test func `the drawing is well-formed and has a bar for each year with fireballs`() throws {
    let svg = try EnergyByYear(FireballStore.preview()).svg()
    #expect(svg.ranges(of: "<title>").count == 3)
    #expect(svg.ranges(of: "<circle").count == 3)
    #expect(svg.contains("2013: 440 kt"))
    #expect(svg.hasPrefix("<svg xmlns=") && svg.hasSuffix("</svg>\n"))
    let tags = svg.ranges(of: "<").count - svg.ranges(of: "</").count
    #expect(tags == svg.ranges(of: "/>").count + svg.ranges(of: "</").count)
  }

  @Test func `an empty store has an empty plot`() throws {
    let energies = try EnergyByYear(FireballStore.inMemory())
    #expect(energies.bars.isEmpty)
    #expect(!energies.svg().isEmpty)
    #expect(!energies.lines().isEmpty)
  }
}
