"""Whether recall finds the evidence: conversations with labelled questions, asked through the real verbs."""
