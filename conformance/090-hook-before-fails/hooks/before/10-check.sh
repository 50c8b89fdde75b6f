echo tool is missing >&2; exit 3
