echo "say $1 in $(pwd)"
