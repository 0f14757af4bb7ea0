// The room's first file: replaced by what is built here.
