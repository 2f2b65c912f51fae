import KVDumpDatasetCommands

runKVDumpDatasets()
