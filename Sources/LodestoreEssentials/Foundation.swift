// Exports FoundationEssentials, or Foundation on platforms without it, under one name.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
