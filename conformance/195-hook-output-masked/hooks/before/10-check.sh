printf hun
printf "ter2 is no good\n"
exit 3
