"""Each guard of a statement: with its line the promise holds, without it the bad thing happens."""
