// The part of Foundation that the example needs, so that no other file has to choose between its
// variants.
#if canImport(FoundationEssentials)
  @_exported import FoundationEssentials
#else
  @_exported import Foundation
#endif
