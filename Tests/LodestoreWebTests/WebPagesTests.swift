import Testing

@testable import LodestoreWeb
