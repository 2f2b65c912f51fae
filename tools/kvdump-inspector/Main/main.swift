import KVDumpInspectorCommands

runKVDumpInspector()
