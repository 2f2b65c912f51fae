// JSONValue and the JSON errors are part of the store's interface, so one import provides both.
@_exported public import LodestoreJSON
