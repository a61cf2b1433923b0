"""What compaction costs and loses, measured on labelled conversations."""
