import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct LinkOrderKeyTests {
  private func content(_ key: [UInt8]) -> LinkOrderKey.Content? {
    key._withBytes { LinkOrderKey.content($0) }
  }

  @Test func `positions of links go from 1 to the highest, and other numbers are refused`() {
    for position: UInt64 in [1, 1 << 62, LinkOrderKey.highestPosition] {
      #expect(
        content(LinkOrderKey.position(7, position)) == .position(owner: 7, position: position))
    }
    for position: UInt64 in [0, 1 << 63, .max] {
      #expect(content(LinkOrderKey.position(7, position)) == nil)
    }
    #expect(content(LinkOrderKey.link(7, .max)) == .link(owner: 7, other: .max))
  }
}
