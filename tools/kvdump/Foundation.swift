// The part of Foundation that this module and its importers need, so that no other file has to
// choose between its variants.
#if canImport(FoundationEssentials)
  @_exported import FoundationEssentials
#else
  @_exported import Foundation
#endif
